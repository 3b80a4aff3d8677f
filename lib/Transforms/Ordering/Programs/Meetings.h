//===- Meetings.h - Where the programs of a timeline meet -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of several stages meet in transfers and in collectives over stages.
// Messages from one stage to another share a stream at each end where both ends
// see them in one order; else each transfer has streams of its own. With sends
// that wait for their receivers another order would be a deadlock.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_MEETINGS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_MEETINGS_H

#include "../Timelines.h"
#include "PlanStreams.h"
#include "llvm/ADT/StringMap.h"

namespace llmc::ordering {

/// The stages between which a transfer goes, and the streams of its ends.
struct TransferEnds {
  int64_t from = 0, to = 0;
  mlir::FlatSymbolRefAttr sends, receives;
};

/// What the programs of a timeline have to agree on.
struct Meetings {
  llvm::StringMap<TransferEnds> transfers;
  /// The stages whose programs have a named collective, in increasing order.
  llvm::StringMap<SmallVector<int64_t>> members;
};

FailureOr<Meetings> findMeetings(const Timeline &timeline,
                                 PlanStreams &streams);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_MEETINGS_H
