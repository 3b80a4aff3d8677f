//===- Communicator.h - Collectives and transfers in a group --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A communicator is one member's handle on a group of devices: those that
// agree in every mesh coordinate outside the group's axes. Equivalent to
// MPI_Comm_split and ncclCommSplit.
//
//   this interface      NCCL
//   collective          ncclGroupStart; ncclAllReduce … for each buffer;
//                       ncclGroupEnd
//   abort               ncclCommAbort
//
// Members issue the same collectives in the same order. Every enqueue returns
// at once. The contract of a reduction is stronger than NCCL's: operands are
// combined in rank order in the accumulate type, and all members receive the
// same bits, whatever the backend's timing.
//
// Tested by the conformance suite in test/Runtime/Comm, which any backend can
// instantiate.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_COMMUNICATOR_H
#define LLMC_RUNTIME_COMM_COMMUNICATOR_H

#include "llmc/Runtime/Base/CollectiveKind.h"
#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/ReductionKind.h"
#include "llmc/Runtime/Base/Tied.h"
#include "llmc/Runtime/Device/Device.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt {

/// The static half of one buffer, in elements. Its shapes for each kind stand
/// in CollectiveKind.h.
///
/// Buffers may coincide in three ways: out is in (allReduce, broadcast,
/// reduce), in is the member's own part of out (allGather), out is the member's
/// own part of in (reduceScatter).
struct CollectiveBuffer {
  uint64_t outer = 1;
  uint64_t count = 0;
  uint64_t outerOut = 1; ///< Where parts are split and joined.

  auto tied() const { return std::tie(outer, count, outerOut); }
};

/// What counts count, of a collective that takes them.
struct CollectiveRows {
  uint64_t elements = 0;    ///< Of one row.
  uint64_t in = 0, out = 0; ///< For each outer index.
  uint64_t slices = 0;      ///< To all members together.

  auto tied() const { return std::tie(elements, in, out, slices); }
};

/// The static half of a collective; made at load, kept by the caller for as
/// long as the world lives. All members pass equal ones: the backend compares
/// them, and a difference is an error that shows both.
struct Collective {
  CollectiveKind kind = CollectiveKind::allReduce;
  ReductionKind reduction = ReductionKind::sum;
  DType type = DType::f32;
  DType accumulate = DType::f32;
  std::vector<CollectiveBuffer> buffers;
  int root = 0;
  std::vector<int> sources; ///< permute: for each member, whose value it gets.
  CollectiveRows rows;      ///< raggedAllToAll.
  std::string symbol;       ///< What members are matched by.

  auto tied() const {
    return std::tie(kind, reduction, type, accumulate, buffers, root, sources,
                    rows, symbol);
  }
};

LLMC_COMPARE_TIED(CollectiveBuffer)
LLMC_COMPARE_TIED(CollectiveRows)
LLMC_COMPARE_TIED(Collective)

/// What a member brings, as errors show it: "all_reduce 'c' f32 [1, 4; 1] ...".
std::string signature(const Collective &collective);

class Communicator;

/// One side of a point-to-point transfer to the other member of a group of two;
/// equivalent to ncclSend, ncclRecv. Transfers of one direction meet in the
/// order of issue.
struct TransferPart {
  bool send = false;
  Communicator *communicator = nullptr;
  void *buffer = nullptr;
  uint64_t bytes = 0;
};

/// What a group moved since it was made: one count for each collective that
/// completed, payload bytes read from one member; of one that takes counts the
/// bytes that went from members to others, all together.
struct CommunicatorCounts {
  std::array<uint64_t, numCollectiveKinds> collectives{};
  std::array<uint64_t, numCollectiveKinds> bytes{};
  /// Of these, those whose buffers have one element: loss, count, norm.
  std::array<uint64_t, numCollectiveKinds> scalars{};
  std::array<uint64_t, numCollectiveKinds> scalarBytes{};
  uint64_t transfers = 0;
  uint64_t transferBytes = 0;
};

class Communicator {
public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// `ins[i]`, `outs[i]` belong to `collective.buffers[i]`; behind the inputs
  /// stand the counts, if it takes them. The pointers are copied into the
  /// queue.
  virtual void collective(Stream &, const Collective &, const void *const *ins,
                          void *const *outs, const Origin &) = 0;
  /// Ends every present and later operation of the group with `reason`.
  virtual void abort(const Status &reason) = 0;
  virtual CommunicatorCounts counts() const = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_COMMUNICATOR_H
