//===- CudaBackend.cpp - The target "cuda" --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan may ask of GPUs, and the world that runs it. Nothing of CUDA is
// loaded before a world is made: a machine without a GPU compiles plans for
// one, and says what it lacks when it is to run them.
// Tested by test/Runtime/Backends/Cuda/CudaBackendTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CudaWorld.h"
#include "Libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace llmc::rt {

namespace {

class CudaBackend final : public Backend {
public:
  std::string_view target() const override { return "cuda"; }
  Result<std::string> codeTarget() const override;
  std::string machine() const override;
  /// An image names its architecture, so objects rely on nothing else.
  std::vector<std::string> features() const override { return {}; }
  Result<uint64_t> libraryWorkspace(const LibraryShape &shape) const override;
  std::vector<LibraryForm>
  libraryForms(const LibraryShape &shape) const override;
  Result<std::unique_ptr<World>>
  makeWorld(const WorldOptions &options) const override;
};

/// The newest of what kernels are compiled for that the first GPU runs.
Result<std::string> CudaBackend::codeTarget() const {
  LLMC_TRY_ASSIGN(const cuda::Driver *driver, cuda::Driver::get());
  LLMC_TRY_ASSIGN(int capability, cuda::capabilityOf(*driver, 0));
  for (int architecture : {90, 80}) {
    if (capability >= architecture) {
      return fmt::format("cuda:sm_{}", architecture);
    }
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected a GPU of compute capability 8.0 or "
                               "later, got {}.{}",
                               capability / 10, capability % 10));
}

/// "NVIDIA H100 80GB HBM3, driver 13000, cuBLASLt 130100", as far as it is
/// there.
std::string CudaBackend::machine() const {
  Result<const cuda::Driver *> driver = cuda::Driver::get();
  if (!driver.ok()) {
    return "cuda without a GPU";
  }
  char name[256] = "";
  int version = 0;
  CUdevice device = 0;
  (void)(*driver)->cuDriverGetVersion(&version);
  if ((*driver)->cuDeviceGet(&device, 0) == CUDA_SUCCESS) {
    (void)(*driver)->cuDeviceGetName(name, sizeof(name), device);
  }
  std::string text = fmt::format("{}, driver {}", name, version);
  Result<const cuda::Cublas *> cublas = cuda::Cublas::get();
  return cublas.ok() ? fmt::format("{}, cuBLASLt {}", text,
                                   (*cublas)->cublasLtGetVersion())
                     : text;
}

Result<uint64_t>
CudaBackend::libraryWorkspace(const LibraryShape &shape) const {
  LLMC_TRY(cuda::planLibrary(shape).status());
  return cuda::workspaceOf(shape);
}

/// Which of them the library has is known where a device makes one ready.
std::vector<LibraryForm>
CudaBackend::libraryForms(const LibraryShape &shape) const {
  std::vector<LibraryForm> forms = {{0, "the heuristic's first"}};
  if (!std::holds_alternative<ContractionShape>(shape.descriptor)) {
    return forms;
  }
  for (uint32_t number = 1; number < cuda::mostAlgorithms; ++number) {
    forms.push_back(
        {number, fmt::format("the heuristic's no. {}", number + 1)});
  }
  return forms;
}

Status checkOptions(const WorldOptions &options, int processes) {
  if (options.devices < 1 || options.devices % processes != 0) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected a plan for a multiple of {} devices, "
                    "the number of processes, got {}",
                    processes, options.devices));
  }
  if (options.threadsPerDevice != 1) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected a plan for 1 thread on each GPU, "
                                 "got {}",
                                 options.threadsPerDevice));
  }
  if (options.shuffleSeed) {
    return makeError(ErrorKind::mismatch,
                     "expected no seed for the order of tasks, which GPUs "
                     "choose themselves");
  }
  return Status::success();
}

/// Which GPU is the first of this process. Processes of one machine take one
/// block each, unless the driver shows each process its own.
Result<int> firstOrdinal(const WorldOptions &options, int perProcess,
                         int visible) {
  int before = 0, here = 1;
  if (options.transport) {
    char name[256] = "";
    (void)gethostname(name, sizeof(name) - 1);
    LLMC_TRY_ASSIGN(auto names, gatherBytes(*options.transport, name));
    here = static_cast<int>(std::count(names.begin(), names.end(), name));
    before = static_cast<int>(std::count(
        names.begin(), names.begin() + options.transport->process(), name));
  }
  if (visible >= perProcess * here) {
    return perProcess * before;
  }
  if (visible == perProcess) {
    return 0;
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected {} GPUs for {} processes on this "
                               "machine, or {} that the driver shows to each, "
                               "got {}",
                               perProcess * here, here, perProcess, visible))
      .withHint("set CUDA_VISIBLE_DEVICES, or use a smaller mesh");
}

bool capturesSteps() {
  const char *text = std::getenv("LLMC_CUDA_GRAPHS");
  return !text || std::strcmp(text, "0") != 0;
}

Result<std::unique_ptr<World>>
CudaBackend::makeWorld(const WorldOptions &options) const {
  int processes = options.transport ? options.transport->size() : 1;
  LLMC_TRY(checkOptions(options, processes));
  LLMC_TRY_ASSIGN(const cuda::Driver *driver, cuda::Driver::get());
  int visible = 0;
  LLMC_TRY(
      driver->check(driver->cuDeviceGetCount(&visible), "cuDeviceGetCount"));
  int64_t perProcess = options.devices / processes;
  if (perProcess > visible) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected {} GPUs for this process, got {}",
                                 perProcess, visible))
        .withHint("use a smaller mesh, or more processes on other machines");
  }
  LLMC_TRY_ASSIGN(int first,
                  firstOrdinal(options, static_cast<int>(perProcess), visible));
  auto world =
      std::make_unique<cuda::CudaWorld>(*driver, options, capturesSteps());
  LLMC_TRY(world->open(first));
  return std::unique_ptr<World>(std::move(world));
}

BackendRegistration registration(std::make_unique<CudaBackend>());

} // namespace

} // namespace llmc::rt
