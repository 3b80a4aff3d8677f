//===- Kernels.cpp - Compiled kernels on a GPU ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/ImageChoiceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "ImageChoice.h"
#include "llmc/Runtime/Plan/Format/KernelAbi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <dlfcn.h>

namespace llmc::rt::cuda {

/// Shared memory that every kernel may have; more is asked for.
constexpr int usualSharedBytes = 48 << 10;

Result<uint32_t> blocksOf(const KernelShape &shape) {
  int64_t blocks =
      shape.rows / shape.rowsPerBlock + (shape.rows % shape.rowsPerBlock > 0);
  blocks = std::max<int64_t>(blocks, 1);
  if (blocks > INT32_MAX) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected at most {} blocks of kernel '{}', "
                                 "got {}",
                                 INT32_MAX, shape.name, blocks));
  }
  return static_cast<uint32_t>(blocks);
}

KernelObjects::~KernelObjects() {
  for (auto &[path, handle] : handles) {
    dlclose(handle);
  }
}

Result<const void *> KernelObjects::open(const std::string &path) {
  auto found = handles.find(path);
  if (found == handles.end()) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      return makeError(
                 ErrorKind::mismatch,
                 fmt::format("kernel object cannot be loaded: {}", dlerror()))
          .at(path);
    }
    found = handles.emplace(path, handle).first;
  }
  return static_cast<const void *>(dlsym(found->second, LLMC_MANIFEST_SYMBOL));
}

Modules::~Modules() {
  for (auto &[data, module] : modules) {
    driver.cuModuleUnload(module);
  }
}

/// PTX is compiled here, and what the compiler says is part of an error.
static Result<CUmodule> loadPtx(const Driver &driver, const std::string &text,
                                const std::string &what) {
  std::array<char, 2048> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUmodule module = nullptr;
  Status status = driver.check(
      driver.cuModuleLoadDataEx(&module, text.c_str(), 2, options, values),
      what);
  if (!status.ok() && log[0]) {
    return makeError(status.kind(),
                     fmt::format("{}: {}", status.message(), log.data()));
  }
  if (!status.ok()) {
    return status;
  }
  return module;
}

Result<CUmodule> Modules::load(const KernelImageView &image,
                               const std::string &name) {
  auto found = modules.find(image.data.data());
  if (found != modules.end()) {
    return found->second;
  }
  std::string what =
      fmt::format("expected {} {} of kernel '{}' to load", nameOf(image.format),
                  image.architecture, name);
  CUmodule module = nullptr;
  if (image.format == KernelFormat::ptx) {
    LLMC_TRY_ASSIGN(module, loadPtx(driver, std::string(image.data), what));
  } else {
    LLMC_TRY(driver.check(driver.cuModuleLoadData(&module, image.data.data()),
                          what));
  }
  modules.emplace(image.data.data(), module);
  return module;
}

Status Modules::fit(CUfunction function, const KernelShape &shape) const {
  int threads = 0, most = 0;
  LLMC_TRY(driver.check(
      driver.cuFuncGetAttribute(
          &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
      "cuFuncGetAttribute"));
  if (shape.threadsPerBlock == 0 ||
      shape.threadsPerBlock > static_cast<uint32_t>(threads)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected 1 to {} threads in a block of "
                                 "kernel '{}', got {}",
                                 threads, shape.name, shape.threadsPerBlock));
  }
  if (shape.sharedBytes <= usualSharedBytes) {
    return Status::success();
  }
  LLMC_TRY(driver.check(
      driver.cuDeviceGetAttribute(
          &most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device),
      "cuDeviceGetAttribute"));
  if (shape.sharedBytes > static_cast<uint32_t>(most)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected at most {} bytes of shared memory "
                                 "in a block of kernel '{}', got {}",
                                 most, shape.name, shape.sharedBytes));
  }
  return driver.check(
      driver.cuFuncSetAttribute(function,
                                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(shape.sharedBytes)),
      fmt::format("expected {} bytes of shared memory for "
                  "kernel '{}'",
                  shape.sharedBytes, shape.name));
}

Result<CudaKernel> Modules::make(const KernelShape &shape) {
  LLMC_TRY_ASSIGN(const KernelImageView *image, chooseImage(shape, capability));
  LLMC_TRY_ASSIGN(uint32_t blocks, blocksOf(shape));
  LLMC_TRY_ASSIGN(CUmodule module, load(*image, shape.name));
  CUfunction function = nullptr;
  LLMC_TRY(driver.check(
      driver.cuModuleGetFunction(&function, module, image->symbol.c_str()),
      fmt::format("expected function '{}' of kernel '{}'", image->symbol,
                  shape.name)));
  LLMC_TRY(fit(function, shape));
  return CudaKernel(function, shape, blocks);
}

} // namespace llmc::rt::cuda
