//===- FetchedParts.h - Tensors that the host gets from a slot --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot is fetched as one tensor, as a box of one (the sum of a part of a
// state), or as several boxes of one (parts that share a buffer):
//
//   <gradient @W.1>  ->  <"grad.W.1", part_of = "grad.W", origin = [0, 4]>
//   <gradient @W, boxes = [@W.0 ..., @W.1 ...]>  ->  two such, each from its
//   place in the buffer
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_FETCHEDPARTS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_FETCHEDPARTS_H

#include "../Timelines.h"

namespace llmc::ordering {

struct FetchedSlot {
  /// As programs sum it, before what reduces it.
  dist::PortAttr slot;
  const PlacedSlot &placed;
  /// Of the argument or result that is fetched, with its layout; may be null.
  dist::PortAttr port;
  mlir::DenseI64ArrayAttr stages;
  bool eachMicrobatch = false;
};

struct FetchedPart {
  plan::FetchAttr fetch;
  plan::OperandAttr place;
};

/// The type on all devices together, without padding. Without a layout that is
/// the device's own.
FailureOr<mlir::RankedTensorType>
getWholeType(Operation *user, mlir::SymbolTableCollection &tables,
             mlir::RankedTensorType local, dist::PortAttr port);

FailureOr<SmallVector<FetchedPart>>
listFetchedParts(Operation *user, mlir::SymbolTableCollection &tables,
                 const FetchedSlot &slot);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_FETCHEDPARTS_H
