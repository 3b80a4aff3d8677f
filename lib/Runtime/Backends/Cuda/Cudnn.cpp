//===- Cudnn.cpp - cuDNN, as far as it is used ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"

#include <fmt/format.h>

namespace llmc::rt::cuda {

constexpr size_t leastCudnn = 90000;
constexpr const char *cudnnHint = "install cuDNN 9.0 or later, or compile the "
                                  "plan without '+cudnn'";

/// By the thousands of cudnnStatus_t, which are categories.
static ErrorKind kindOf(CudnnStatus status) {
  constexpr CudnnStatus versions = 1000, unsupported = 3000, internal = 4000,
                        onHost = 4003, onDevice = 4004;
  if (status == onHost || status == onDevice) {
    return ErrorKind::outOfMemory;
  }
  bool isLacking = (status > versions && status < 2 * versions) ||
                   (status >= unsupported && status < internal);
  return isLacking ? ErrorKind::mismatch : ErrorKind::internal;
}

Status Cudnn::check(CudnnStatus status, std::string_view what) const {
  if (status == 0) {
    return Status::success();
  }
  const char *text = cudnnGetErrorString(status);
  char last[512] = "";
  cudnnGetLastErrorString(last, sizeof(last));
  std::string detail = last;
  // One line.
  detail = detail.substr(0, detail.find('\n'));
  return makeError(kindOf(status),
                   fmt::format("{}: {} ({})", what, text ? text : "no text",
                               detail.empty() ? "no detail" : detail));
}

static Status load(Cudnn &table) {
#define LLMC_CUDNN_ROW(name) {#name, reinterpret_cast<void **>(&table.name)}
  LLMC_TRY(loadSymbols(
      {"libcudnn.so.9"},
      {LLMC_CUDNN_ROW(cudnnGetVersion), LLMC_CUDNN_ROW(cudnnGetErrorString),
       LLMC_CUDNN_ROW(cudnnGetLastErrorString), LLMC_CUDNN_ROW(cudnnCreate),
       LLMC_CUDNN_ROW(cudnnDestroy), LLMC_CUDNN_ROW(cudnnSetStream),
       LLMC_CUDNN_ROW(cudnnBackendCreateDescriptor),
       LLMC_CUDNN_ROW(cudnnBackendDestroyDescriptor),
       LLMC_CUDNN_ROW(cudnnBackendFinalize),
       LLMC_CUDNN_ROW(cudnnBackendSetAttribute),
       LLMC_CUDNN_ROW(cudnnBackendGetAttribute),
       LLMC_CUDNN_ROW(cudnnBackendExecute)},
      cudnnHint));
#undef LLMC_CUDNN_ROW
  size_t version = table.cudnnGetVersion();
  if (version < leastCudnn) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected cuDNN {} or later, got {}",
                                 leastCudnn, version))
        .withHint(cudnnHint);
  }
  return Status::success();
}

Result<const Cudnn *> Cudnn::get() {
  static Cudnn cudnn;
  static const Status status = load(cudnn);
  if (!status.ok()) {
    return status;
  }
  return static_cast<const Cudnn *>(&cudnn);
}

Result<CudnnObject> CudnnObject::make(const Cudnn &cudnn, CudnnKind kind) {
  CudnnObject made;
  made.cudnn = &cudnn;
  LLMC_TRY(
      cudnn.check(cudnn.cudnnBackendCreateDescriptor(kind, &made.descriptor),
                  "cudnnBackendCreateDescriptor"));
  return made;
}

Status CudnnObject::set(CudnnAttribute name, CudnnType type, int64_t count,
                        const void *elements) {
  return cudnn->check(
      cudnn->cudnnBackendSetAttribute(descriptor, name, type, count, elements),
      "cudnnBackendSetAttribute");
}

Status CudnnObject::finalize() {
  return cudnn->check(cudnn->cudnnBackendFinalize(descriptor),
                      "cudnnBackendFinalize");
}

} // namespace llmc::rt::cuda
