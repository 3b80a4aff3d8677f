//===- CollectiveOrder.h - Collectives as instructions ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %y = dist.all_reduce @c0 %x over ["pipe", "data"] sum
//   plan.collective on @X.pipe.data @c0 all_reduce reduction sum
//       axes(["pipe", "data"]) inputs([<@x>]) outputs([<@y>])
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_COLLECTIVEORDER_H
#define LLMC_LIB_TRANSFORMS_ORDERING_COLLECTIVEORDER_H

#include "PlanStreams.h"
#include "llvm/ADT/StringMap.h"

namespace llmc::ordering {

/// The number of the device by its coordinates, the first axis the major one.
plan::ExprAttr getCoordinates(mlir::ArrayAttr axes, dist::MeshOp mesh);

struct CollectiveRequest {
  dist::CollectiveInterface op;
  mlir::ArrayAttr inputs, outputs;
  /// Null where it takes none.
  plan::OperandAttr counts;
  PlanStreams &streams;
  /// The stages that have a named collective.
  const llvm::StringMap<SmallVector<int64_t>> &members;
  /// For a collective without one.
  std::string name;
};

LogicalResult emitCollective(OpBuilder &builder,
                             const CollectiveRequest &request);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_COLLECTIVEORDER_H
