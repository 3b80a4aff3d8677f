//===- SharedLibraries.cpp - Libraries of a GPU that a machine may have ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No header of CUDA is needed: a name, and a function that tells the version.
//
//===----------------------------------------------------------------------===//

#include "SharedLibraries.h"

#include <fmt/format.h>

#include <cstdint>
#include <dlfcn.h>
#include <initializer_list>

namespace llmc::rt::doctor {

namespace {

/// A version as printed, and its major number; "" where it cannot be told.
struct Version {
  std::string text;
  int64_t major = 0;
};

Version makeVersion(int64_t number, int64_t unit, int64_t step) {
  return number > 0 ? Version{printVersion(number, unit, step), number / unit}
                    : Version{};
}

template <typename Function> Function *find(void *module, const char *name) {
  return reinterpret_cast<Function *>(::dlsym(module, name));
}

/// By a function that returns it.
int64_t ask(void *module, const char *name) {
  auto *get = find<size_t()>(module, name);
  return get ? static_cast<int64_t>(get()) : 0;
}

/// By a function that stores it, and returns 0.
int64_t askInto(void *module, const char *name) {
  auto *get = find<int(int *)>(module, name);
  int version = 0;
  return get && get(&version) == 0 ? version : 0;
}

Version driverVersion(void *module) {
  return makeVersion(askInto(module, "cuDriverGetVersion") / 10, 100, 1);
}
Version cublasVersion(void *module) {
  return makeVersion(ask(module, "cublasLtGetVersion"), 10000, 100);
}
Version cudnnVersion(void *module) {
  return makeVersion(ask(module, "cudnnGetVersion"), 10000, 100);
}
Version ncclVersion(void *module) {
  return makeVersion(askInto(module, "ncclGetVersion"), 10000, 100);
}
Version linkerVersion(void *module) {
  auto *get = find<int(unsigned *, unsigned *)>(module, "nvJitLinkVersion");
  unsigned major = 0, minor = 0;
  return get && get(&major, &minor) == 0
             ? Version{fmt::format("{}.{}", major, minor), major}
             : Version{};
}

struct Library {
  const char *name;
  std::initializer_list<const char *> files;
  Version (*version)(void *module);
  int64_t least; ///< Major version.
  const char *purpose, *hint;
};

const Library libraries[] = {
    {"cuda-driver",
     {"libcuda.so.1"},
     driverVersion,
     12,
     "GPUs of this machine",
     "install the driver of the GPU"},
    {"cublaslt",
     {"libcublasLt.so.13", "libcublasLt.so.12"},
     cublasVersion,
     12,
     "products on GPUs",
     "install the CUDA toolkit"},
    {"cudnn",
     {"libcudnn.so.9"},
     cudnnVersion,
     9,
     "convolutions of plans for GPUs with +cudnn",
     "install cuDNN 9"},
    {"nccl",
     {"libnccl.so.2"},
     ncclVersion,
     2,
     "collectives between GPUs",
     "install NCCL 2"},
    {"nvjitlink",
     {"libnvJitLink.so.13", "libnvJitLink.so.12"},
     linkerVersion,
     12,
     "kernels for the GPU that is there",
     "install the CUDA toolkit"},
};

void *openFirst(std::initializer_list<const char *> files) {
  void *module = nullptr;
  for (const char *file : files) {
    module = module ? module : ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  }
  return module;
}

Finding examine(const Library &library, void *module) {
  Finding finding;
  finding.name = library.name;
  finding.wanted = fmt::format("{} or later", library.least);
  finding.purpose = library.purpose;
  finding.hint = library.hint;
  if (module) {
    Version version = library.version(module);
    finding.found = version.text.empty() ? "of unknown version" : version.text;
    finding.fits = version.major >= library.least;
  }
  return finding;
}

/// The GPUs, by the driver's own functions.
Finding examineDevices(void *driver) {
  Finding finding{"gpus",
                  "",
                  "",
                  "devices of plans of the target cuda",
                  "this machine has none that the driver shows",
                  false};
  auto *init = driver ? find<int(unsigned)>(driver, "cuInit") : nullptr;
  auto *getCount =
      driver ? find<int(int *)>(driver, "cuDeviceGetCount") : nullptr;
  auto *getDevice =
      driver ? find<int(int *, int)>(driver, "cuDeviceGet") : nullptr;
  auto *getName =
      driver ? find<int(char *, int, int)>(driver, "cuDeviceGetName") : nullptr;
  int count = 0, device = 0;
  char name[256] = "";
  if (init && getCount && getDevice && getName && init(0) == 0 &&
      getCount(&count) == 0 && count > 0 && getDevice(&device, 0) == 0 &&
      getName(name, sizeof(name), device) == 0) {
    finding.found = fmt::format("{} x {}", count, name);
    finding.fits = true;
  }
  return finding;
}

} // namespace

void examineLibraries(std::vector<Finding> &findings) {
  void *driver = openFirst(libraries[0].files);
  for (const Library &library : libraries) {
    bool isDriver = &library == libraries;
    findings.push_back(
        examine(library, isDriver ? driver : openFirst(library.files)));
    if (isDriver) {
      findings.push_back(examineDevices(driver));
    }
  }
}

} // namespace llmc::rt::doctor
