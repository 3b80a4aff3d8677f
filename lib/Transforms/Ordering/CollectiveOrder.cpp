//===- CollectiveOrder.cpp - Collectives as instructions ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members meet by name. Over the pipeline axis the members run programs of
// their own, so these collectives need names that their programs share, and
// only the stages whose programs have the name take part.
//
// Test: test/Transforms/Ordering/order-collectives.mlir
//===----------------------------------------------------------------------===//

#include "CollectiveOrder.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;

namespace llmc::ordering {

plan::ExprAttr getCoordinates(ArrayAttr axes, dist::MeshOp mesh) {
  MLIRContext *context = axes.getContext();
  using plan::ExprAttr, plan::ExprOp;
  ExprAttr number = ExprAttr::getConstant(context, 0);
  for (auto axis : axes.getAsRange<StringAttr>()) {
    int64_t size = mesh.getAxes().getSize(axis.getValue());
    number = ExprAttr::getBinary(ExprOp::Mul, number,
                                 ExprAttr::getConstant(context, size));
    number = ExprAttr::getBinary(
        ExprOp::Add, number, ExprAttr::getCoordinate(context, axis.getValue()));
  }
  return number;
}

/// The number of the one member; of the pipeline axis only `stages` count.
static FailureOr<plan::ExprAttr> getPeer(dist::CollectiveInterface op,
                                         const dist::Exchange &shape,
                                         dist::MeshOp mesh,
                                         ArrayRef<int64_t> stages) {
  if (shape.to)
    return getCoordinates(shape.to, mesh);
  if (shape.member.empty())
    return plan::ExprAttr();
  int64_t number = 0;
  for (auto [axis, coordinate] :
       llvm::zip(op.getAxes().getAsRange<StringAttr>(), shape.member)) {
    int64_t size = mesh.getAxes().getSize(axis.getValue()), at = coordinate;
    if (!stages.empty() && axis.getValue() == mesh.getPipeline()) {
      const auto *found = llvm::find(stages, coordinate);
      if (found == stages.end())
        return op.emitOpError() << "expected stage " << coordinate
                                << " among those that have the collective";
      size = static_cast<int64_t>(stages.size());
      at = found - stages.begin();
    }
    number = number * size + at;
  }
  return plan::ExprAttr::getConstant(op.getContext(), number);
}

LogicalResult emitCollective(OpBuilder &builder,
                             const CollectiveRequest &request) {
  dist::CollectiveInterface op = request.op;
  dist::MeshOp mesh = request.streams.getMesh();
  MLIRContext *context = builder.getContext();
  FlatSymbolRefAttr symbol = op.getSymbolAttr();
  bool overStages =
      mesh.getPipeline() &&
      llvm::is_contained(op.getAxes(),
                         builder.getStringAttr(*mesh.getPipeline()));
  if (overStages && !symbol)
    return op.emitOpError() << "expected a name, which all stages share";
  ArrayRef<int64_t> stages;
  if (overStages)
    stages = request.members.find(symbol.getValue())->second;
  if (overStages && static_cast<int64_t>(stages.size()) ==
                        mesh.getAxes().getSize(*mesh.getPipeline()))
    stages = {};
  if (!symbol)
    symbol = FlatSymbolRefAttr::get(context, request.name);
  dist::Exchange shape = op.getExchange();
  plan::ReductionKindAttr reduction;
  if (std::optional<ReductionKind> kind = op.getReductionKind())
    reduction = plan::ReductionKindAttr::get(context, *kind);
  FailureOr<plan::ExprAttr> peer = getPeer(op, shape, mesh, stages);
  if (failed(peer))
    return failure();
  plan::CollectiveOp::create(
      builder, op.getLoc(), request.streams.getCollective(op.getAxes()), symbol,
      plan::CollectiveKindAttr::get(context, op.getCollectiveKind()), reduction,
      op.getAxes(),
      stages.empty() ? DenseI64ArrayAttr()
                     : builder.getDenseI64ArrayAttr(stages),
      builder.getI64IntegerAttr(shape.dim),
      builder.getI64IntegerAttr(shape.concatDim), *peer, request.inputs,
      request.outputs, plan::OperandAttr());
  return success();
}

} // namespace llmc::ordering
