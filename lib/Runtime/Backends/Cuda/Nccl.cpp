//===- Nccl.cpp - NCCL, as far as it is used ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/SymbolTableTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Nccl.h"

#include <fmt/format.h>

namespace llmc::rt::cuda {

/// Of 2.18.0, as ncclGetVersion counts.
constexpr int leastNccl = 21800;

static ErrorKind kindOf(NcclResult result) {
  switch (result) {
  case NcclResult::remoteError:
  case NcclResult::systemError:
    return ErrorKind::peerLost;
  case NcclResult::invalidArgument:
  case NcclResult::invalidUsage:
    return ErrorKind::mismatch;
  default:
    return ErrorKind::internal;
  }
}

Status Nccl::check(NcclResult result, std::string_view what) const {
  if (result == NcclResult::success || result == NcclResult::inProgress) {
    return Status::success();
  }
  const char *text = ncclGetErrorString(result);
  const char *last = ncclGetLastError(nullptr);
  return makeError(kindOf(result),
                   fmt::format("{}: {} ({})", what, text ? text : "no text",
                               last && *last ? last : "no detail"));
}

static Status load(Nccl &table) {
#define LLMC_NCCL_ROW(name) {#name, reinterpret_cast<void **>(&table.name)}
  LLMC_TRY(loadSymbols(
      {"libnccl.so.2"},
      {LLMC_NCCL_ROW(ncclGetVersion), LLMC_NCCL_ROW(ncclGetUniqueId),
       LLMC_NCCL_ROW(ncclCommInitRankConfig), LLMC_NCCL_ROW(ncclCommSplit),
       LLMC_NCCL_ROW(ncclCommDestroy), LLMC_NCCL_ROW(ncclCommAbort),
       LLMC_NCCL_ROW(ncclCommGetAsyncError), LLMC_NCCL_ROW(ncclGetErrorString),
       LLMC_NCCL_ROW(ncclGetLastError), LLMC_NCCL_ROW(ncclGroupStart),
       LLMC_NCCL_ROW(ncclGroupEnd), LLMC_NCCL_ROW(ncclAllReduce),
       LLMC_NCCL_ROW(ncclReduce), LLMC_NCCL_ROW(ncclBroadcast),
       LLMC_NCCL_ROW(ncclAllGather), LLMC_NCCL_ROW(ncclReduceScatter),
       LLMC_NCCL_ROW(ncclSend), LLMC_NCCL_ROW(ncclRecv)},
      "install NCCL 2.18 or later"));
#undef LLMC_NCCL_ROW
  int version = 0;
  LLMC_TRY(table.check(table.ncclGetVersion(&version), "ncclGetVersion"));
  if (version < leastNccl) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected NCCL {} or later, got {}", leastNccl,
                                 version))
        .withHint("install NCCL 2.18 or later");
  }
  return Status::success();
}

Result<const Nccl *> Nccl::get() {
  static Nccl nccl;
  static const Status status = load(nccl);
  if (!status.ok()) {
    return status;
  }
  return static_cast<const Nccl *>(&nccl);
}

} // namespace llmc::rt::cuda
