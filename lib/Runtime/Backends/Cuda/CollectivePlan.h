//===- CollectivePlan.h - Collectives as NCCL takes them ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL's buffers are rows of elements: parts of members lie one after the
// other. Where the dim along which parts lie is not the outermost
// (CollectiveKind.h), a copy on the same stream packs them into staging before
// the call, or unpacks them after it.
//
//   allGather [4, 3, 5] of 3 members   ncclAllGather of 20 into staging,
//                                      then 3 copies of 4 rows of 5
//
// What NCCL does not promise: the order in which members are added up. All
// members that get a value get the same bits, which is what `Communicator` asks
// for, but they are not those of rank order.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_COLLECTIVEPLAN_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_COLLECTIVEPLAN_H

#include "Nccl.h"
#include "llmc/Runtime/Comm/RowCounts.h"

#include <cstdint>
#include <vector>

namespace llmc::rt::cuda {

/// Where a call reads or writes, and the byte in it.
struct CollectivePlace {
  enum class Memory : uint8_t { in, out, staging };
  Memory memory = Memory::in;
  uint64_t offset = 0;
};

/// A strided copy before or after the calls.
struct CollectiveCopy {
  size_t buffer = 0;
  CollectivePlace to, from;
  CopyBox box;
};

/// A function of NCCL on one buffer; all of a plan are one group.
struct CollectiveCall {
  enum class Function : uint8_t {
    allReduce,
    reduce,
    broadcast,
    allGather,
    reduceScatter,
    send,
    receive,
  };
  Function function = Function::allReduce;
  size_t buffer = 0;
  CollectivePlace to, from;
  uint64_t count = 0; ///< Elements; of one part where there are parts.
  NcclType type = NcclType::i8;
  NcclReduction reduction = NcclReduction::sum;
  int peer = 0; ///< Root, or other end.
};

/// What one member does.
struct CollectivePlan {
  std::vector<CollectiveCopy> before;
  std::vector<CollectiveCall> calls;
  std::vector<CollectiveCopy> after;
  /// Outputs that become zero: buffer, bytes.
  std::vector<std::pair<size_t, uint64_t>> zeros;
  uint64_t stagingBytes = 0;
  /// Where the run says what moves: the lists of one member, in bytes. The
  /// calls gather them of all members into staging; what moves rows is planned
  /// from them.
  uint64_t countBytes = 0;

  bool meetsOthers() const { return !calls.empty(); }
};

/// Error (15) with the reason for what NCCL does not have: bitwise reductions
/// of integers, types that it cannot add up, an accumulate type that is not
/// its own. A group of one has all kinds, since nothing is combined.
Result<CollectivePlan> planCollective(const Collective &collective, int rank,
                                      int size);

/// What member `rank` does with its rows, in groups of calls that follow each
/// other, where `checkRowCounts` has found nothing in the lists.
std::vector<CollectivePlan> planRows(const Collective &collective, int rank,
                                     int size, const RowLists &lists);

/// Bytes that a member passes in, and whether every buffer has one element.
uint64_t payloadBytes(const Collective &collective, int members);
bool isScalar(const Collective &collective, int members);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_COLLECTIVEPLAN_H
