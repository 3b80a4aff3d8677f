//===- HostCopies.h - What a program copies from and to the host *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data is copied by the first program of a microbatch that reads it, metrics
// and outputs after the program that makes them, sums that are fetched after
// the update.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_HOSTCOPIES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_HOSTCOPIES_H

#include "../Frames/FetchedParts.h"
#include "PlanStreams.h"

namespace llmc::ordering {

/// A copy from or to the host.
struct HostCopy {
  plan::HostEnd end;
  StringRef name;
  plan::OperandAttr place;
};

void emitHostCopy(OpBuilder &builder, Location loc, const PlanStreams &streams,
                  const HostCopy &copy);

/// The copies around a program's own instructions.
struct HostCopies {
  SmallVector<HostCopy> before, after;
};

/// Of a program by position in the list.
FailureOr<HostCopies> listHostCopies(const Timeline &timeline,
                                     const TimelinePlaces &places,
                                     mlir::SymbolTableCollection &tables,
                                     int32_t program);

/// What the host gets of the slot: of an output, and of a sum that is fetched;
/// nothing of others.
FailureOr<SmallVector<FetchedPart>>
listFetched(const Timeline &timeline, const TimelinePlaces &places,
            mlir::SymbolTableCollection &tables, dist::PortAttr slot);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_HOSTCOPIES_H
