//===- OlderForms.cpp - Ops that newer ones have replaced -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dot %x, %w              ->  dot_general, contracting_dims = [1] x [0]
//   broadcast %x, sizes     ->  broadcast_in_dim to the last dimensions
//   map(%x) (p) { tanh p }  ->  tanh %x
//
// Test: test/Import/StableHLO/expand-forms.mlir
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Reduction/ScalarFunction.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
struct DotExpansion : ExpansionOpInterface::ExternalModel<DotExpansion, DotOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<DotOp>(of);
    int64_t contracted = op.getLhs().getType().getRank() - 1;
    Value product = dotGeneral(
        builder, op.getLoc(), op.getLhs(), op.getRhs(),
        dotDims(builder.getContext(), {}, {}, contracted, int64_t(0)),
        op.getType().getElementType());
    if (ArrayAttr precisions = op.getPrecisionConfigAttr();
        precisions && !precisions.empty())
      product.getDefiningOp<DotGeneralOp>().setPrecisionConfigAttr(precisions);
    results.push_back(product);
    return success();
  }
};

struct BroadcastExpansion
    : ExpansionOpInterface::ExternalModel<BroadcastExpansion, BroadcastOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<BroadcastOp>(of);
    int64_t added = op.getBroadcastSizes().size();
    auto dims =
        llvm::to_vector(llvm::seq<int64_t>(added, op.getType().getRank()));
    results.push_back(broadcastInDim(builder, op.getLoc(), op.getOperand(),
                                     op.getType(), dims));
    return success();
  }
};

struct MapExpansion : ExpansionOpInterface::ExternalModel<MapExpansion, MapOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<MapOp>(of);
    if (failed(verifyElementwise(op.getComputation())))
      return failure();
    results =
        applyElementwise(op.getComputation(), builder, op.getType().getShape(),
                         SmallVector<Value>(op.getInputs()));
    return success();
  }
};
} // namespace

void stablehlo::registerOlderForms(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    DotOp::attachInterface<DotExpansion>(*context);
    BroadcastOp::attachInterface<BroadcastExpansion>(*context);
    MapOp::attachInterface<MapExpansion>(*context);
  });
}
