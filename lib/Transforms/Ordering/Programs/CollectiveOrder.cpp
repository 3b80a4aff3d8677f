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

/// `from` at the member's number: a rotation, or each number where it stands.
/// The sum is limited, so that its bounds are seen to be those of members.
static plan::ExprAttr getSource(plan::ExprAttr member, ArrayRef<int64_t> from) {
  using plan::ExprAttr, plan::ExprOp;
  MLIRContext *context = member.getContext();
  auto constant = [&](int64_t value) {
    return ExprAttr::getConstant(context, value);
  };
  int64_t members = from.size();
  auto isRotated = [&](auto entry) {
    return entry.value() ==
           (static_cast<int64_t>(entry.index()) + from.front()) % members;
  };
  if (llvm::all_of(llvm::enumerate(from), isRotated))
    return ExprAttr::getBinary(
        ExprOp::Mod,
        ExprAttr::getBinary(ExprOp::Add, member, constant(from.front())),
        constant(members));
  SmallVector<ExprAttr> terms;
  for (auto [number, source] : llvm::enumerate(from))
    if (source != 0)
      terms.push_back(ExprAttr::getBinary(
          ExprOp::Mul, constant(source),
          ExprAttr::getBinary(ExprOp::Equal, member, constant(number))));
  // As a tree, since expressions nest to a certain depth only.
  for (; terms.size() > 1; terms.resize((terms.size() + 1) / 2))
    for (size_t i = 0; i < terms.size() / 2; ++i)
      terms[i] = ExprAttr::getBinary(ExprOp::Add, terms[i],
                                     terms[terms.size() - 1 - i]);
  return ExprAttr::getBinary(ExprOp::Min, terms.front(), constant(members - 1));
}

/// The number of the one member; of the pipeline axis only `stages` count.
static FailureOr<plan::ExprAttr> getPeer(dist::CollectiveInterface op,
                                         const dist::Exchange &shape,
                                         dist::MeshOp mesh,
                                         ArrayRef<int64_t> stages) {
  if (shape.to)
    return getCoordinates(shape.to, mesh);
  if (!shape.from.empty())
    return getSource(getCoordinates(op.getAxes(), mesh), shape.from);
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
      request.outputs, request.counts);
  return success();
}

} // namespace llmc::ordering
