//===- Nccl.h - NCCL, as far as it is used --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL is often not installed where llmc is built, so the few functions that
// are called are declared here. Numbers are those of NCCL's documentation,
// which keeps them from version 2.18 on: that is the first with ncclCommSplit.
//
// https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_NCCL_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_NCCL_H

#include "SymbolTable.h"

#include <climits>
#include <cstddef>
#include <cuda.h>
#include <string_view>

namespace llmc::rt::cuda {

/// ncclComm_t.
using NcclComm = struct NcclCommTag *;

/// ncclUniqueId: names a job; made by one process, passed by value.
struct NcclId {
  char bytes[128];
};

/// ncclResult_t.
enum class NcclResult : int {
  success = 0,
  unhandledCudaError = 1,
  systemError = 2,
  internalError = 3,
  invalidArgument = 4,
  invalidUsage = 5,
  remoteError = 6,
  inProgress = 7,
};

/// ncclDataType_t.
enum class NcclType : int {
  i8 = 0,
  u8 = 1,
  i32 = 2,
  u32 = 3,
  i64 = 4,
  u64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
};

/// ncclRedOp_t.
enum class NcclReduction : int { sum = 0, product = 1, max = 2, min = 3 };

/// ncclConfig_t of version 2.18: later libraries read as much as `size` says
/// and take their defaults for the rest.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = INT_MIN;
  int clusterSize = INT_MIN;
  int minBlocks = INT_MIN;
  int maxBlocks = INT_MIN;
  const char *network = nullptr;
  int sharesResources = INT_MIN;
};

/// Of ncclCommSplit: a rank that is in no part.
constexpr int ncclNoColor = -1;

struct Nccl {
  NcclResult (*ncclGetVersion)(int *version) = nullptr;
  NcclResult (*ncclGetUniqueId)(NcclId *id) = nullptr;
  NcclResult (*ncclCommInitRankConfig)(NcclComm *comm, int size, NcclId id,
                                       int rank, NcclConfig *config) = nullptr;
  NcclResult (*ncclCommSplit)(NcclComm comm, int color, int key, NcclComm *made,
                              NcclConfig *config) = nullptr;
  NcclResult (*ncclCommDestroy)(NcclComm comm) = nullptr;
  NcclResult (*ncclCommAbort)(NcclComm comm) = nullptr;
  NcclResult (*ncclCommGetAsyncError)(NcclComm comm,
                                      NcclResult *error) = nullptr;
  const char *(*ncclGetErrorString)(NcclResult result) = nullptr;
  const char *(*ncclGetLastError)(NcclComm comm) = nullptr;
  NcclResult (*ncclGroupStart)() = nullptr;
  NcclResult (*ncclGroupEnd)() = nullptr;
  NcclResult (*ncclAllReduce)(const void *from, void *to, size_t count,
                              NcclType type, NcclReduction reduction,
                              NcclComm comm, CUstream stream) = nullptr;
  NcclResult (*ncclReduce)(const void *from, void *to, size_t count,
                           NcclType type, NcclReduction reduction, int root,
                           NcclComm comm, CUstream stream) = nullptr;
  NcclResult (*ncclBroadcast)(const void *from, void *to, size_t count,
                              NcclType type, int root, NcclComm comm,
                              CUstream stream) = nullptr;
  NcclResult (*ncclAllGather)(const void *from, void *to, size_t count,
                              NcclType type, NcclComm comm,
                              CUstream stream) = nullptr;
  NcclResult (*ncclReduceScatter)(const void *from, void *to, size_t count,
                                  NcclType type, NcclReduction reduction,
                                  NcclComm comm, CUstream stream) = nullptr;
  NcclResult (*ncclSend)(const void *from, size_t count, NcclType type,
                         int peer, NcclComm comm, CUstream stream) = nullptr;
  NcclResult (*ncclRecv)(void *to, size_t count, NcclType type, int peer,
                         NcclComm comm, CUstream stream) = nullptr;

  /// Loads libnccl.so.2, once for the process. Error (15): it is not there,
  /// lacks a symbol, or is older than 2.18.
  static Result<const Nccl *> get();

  /// `what` failed: "<what>: <text> (<last error of the library>)". A call
  /// that is in progress has not failed. The kind is 10 where another process
  /// is gone, else 15 for a wrong use and 70.
  Status check(NcclResult result, std::string_view what) const;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_NCCL_H
