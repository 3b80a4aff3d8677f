//===- Cublas.cpp - cuBLASLt, as far as it is used ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cublas.h"

#include <fmt/format.h>

namespace llmc::rt::cuda {

static ErrorKind kindOf(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_ALLOC_FAILED:
    return ErrorKind::outOfMemory;
  case CUBLAS_STATUS_NOT_SUPPORTED:
  case CUBLAS_STATUS_ARCH_MISMATCH:
    return ErrorKind::mismatch;
  default:
    return ErrorKind::internal;
  }
}

Status Cublas::check(cublasStatus_t status, std::string_view what) const {
  if (status == CUBLAS_STATUS_SUCCESS) {
    return Status::success();
  }
  const char *name = cublasLtGetStatusName(status);
  const char *text = cublasLtGetStatusString(status);
  return makeError(kindOf(status), fmt::format("{}: {} ({})", what,
                                               name ? name : "unknown status",
                                               text ? text : "no text"));
}

static Status load(Cublas &table) {
  return loadSymbols({"libcublasLt.so.13", "libcublasLt.so.12"},
                     {LLMC_CUDA_CUBLAS(LLMC_CUDA_ROW)},
                     "install cuBLAS of CUDA 12 or later");
}

Result<const Cublas *> Cublas::get() {
  static Cublas cublas;
  static const Status status = load(cublas);
  if (!status.ok()) {
    return status;
  }
  return static_cast<const Cublas *>(&cublas);
}

} // namespace llmc::rt::cuda
