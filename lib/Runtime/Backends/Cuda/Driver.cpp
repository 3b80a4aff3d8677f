//===- Driver.cpp - The CUDA driver API, as far as it is used -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/SymbolTableTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <fmt/format.h>

namespace llmc::rt::cuda {

static ErrorKind kindOf(CUresult result) {
  switch (result) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return ErrorKind::outOfMemory;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_NOT_FOUND:
  case CUDA_ERROR_NOT_SUPPORTED:
    return ErrorKind::mismatch;
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
    return ErrorKind::rerunElsewhere;
  default:
    return ErrorKind::internal;
  }
}

Status Driver::check(CUresult result, std::string_view what) const {
  if (result == CUDA_SUCCESS) {
    return Status::success();
  }
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) {
    name = "an unknown error";
  }
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text) {
    text = "no text";
  }
  return makeError(kindOf(result),
                   fmt::format("{}: {} ({}, number {})", what, name, text,
                               static_cast<int>(result)));
}

/// What cuda.h calls by a newer name, with the same parameters: drivers before
/// 12.8 have the older one.
static const char *nameBefore(std::string_view name) {
  return name == "cuEventElapsedTime_v2" ? "cuEventElapsedTime" : nullptr;
}

static Status load(Driver &table) {
  std::vector<SymbolRow> rows = {LLMC_CUDA_DRIVER(LLMC_CUDA_ROW)};
  for (SymbolRow &row : rows) {
    row.before = nameBefore(row.name);
  }
  LLMC_TRY(
      loadSymbols({"libcuda.so.1"}, rows, "install the driver of the GPU"));
  return table.check(table.cuInit(0), "expected a GPU and its driver, got");
}

Result<const Driver *> Driver::get() {
  static Driver driver;
  static const Status status = load(driver);
  if (!status.ok()) {
    return status;
  }
  return static_cast<const Driver *>(&driver);
}

Result<int> capabilityOf(const Driver &driver, int ordinal) {
  CUdevice device = 0;
  int major = 0, minor = 0;
  LLMC_TRY(driver.check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet"));
  LLMC_TRY(driver.check(
      driver.cuDeviceGetAttribute(
          &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
      "cuDeviceGetAttribute"));
  LLMC_TRY(driver.check(
      driver.cuDeviceGetAttribute(
          &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
      "cuDeviceGetAttribute"));
  return 10 * major + minor;
}

} // namespace llmc::rt::cuda
