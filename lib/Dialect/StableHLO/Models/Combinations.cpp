//===- Combinations.cpp - What reduce and scatter combine -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both start from a value: a scalar for each result of a reduction, the operand
// itself of a scatter. A maximum or minimum of a scatter counts its operand
// twice without harm, and a scatter that assigns has no neutral element.
//
// Tests: test/Transforms/Training/normalize.mlir, close-regions.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Combination.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

/// With the function that `body` is, where there is one result.
static Combination makeCombination(Region &body,
                                   MutableArrayRef<OpOperand> starts,
                                   MutableArrayRef<OpOperand> elements) {
  Combination made{&body, starts, elements};
  if (starts.size() == 1)
    made.kind = reduceKindOf(body);
  return made;
}

namespace {
struct ReduceCombination
    : CombinationOpInterface::ExternalModel<ReduceCombination, ReduceOp> {
  Combination getCombination(Operation *op) const {
    auto reduce = cast<ReduceOp>(op);
    MutableArrayRef<OpOperand> operands = op->getOpOperands();
    size_t count = reduce.getInputs().size();
    Combination made =
        makeCombination(reduce.getBody(), operands.drop_front(count),
                        operands.take_front(count));
    made.needsNeutralStart = true;
    return made;
  }

  Operation *buildClosed(Operation *op, OpBuilder &builder,
                         ValueRange scalars) const;
};

struct ScatterCombination
    : CombinationOpInterface::ExternalModel<ScatterCombination, ScatterOp> {
  Combination getCombination(Operation *op) const {
    auto scatter = cast<ScatterOp>(op);
    MutableArrayRef<OpOperand> operands = op->getOpOperands();
    size_t count = scatter.getInputs().size();
    Combination made =
        makeCombination(scatter.getUpdateComputation(),
                        operands.take_front(count), operands.take_back(count));
    made.needsNeutralStart = made.kind && !isIdempotent(*made.kind);
    return made;
  }
};
} // namespace

/// Lets each step of the body hand `scalars` on, as accumulators after the
/// `count` it has.
static void handOn(Region &body, unsigned count, ValueRange scalars) {
  Block &block = body.front();
  SmallVector<Value> returned(block.getTerminator()->getOperands());
  for (auto [i, value] : llvm::enumerate(scalars)) {
    Value inside =
        block.insertArgument(count + i, value.getType(), value.getLoc());
    replaceAllUsesInRegionWith(value, inside, body);
    returned.push_back(inside);
  }
  for (Value value : scalars)
    block.addArgument(value.getType(), value.getLoc());
  block.getTerminator()->setOperands(returned);
}

Operation *ReduceCombination::buildClosed(Operation *op, OpBuilder &builder,
                                          ValueRange scalars) const {
  auto reduce = cast<ReduceOp>(op);
  SmallVector<Value> inputs(reduce.getInputs()), inits(reduce.getInitValues());
  SmallVector<Type> types(op->getResultTypes());
  handOn(reduce.getBody(), inputs.size(), scalars);
  RankedTensorType elements = typeOf(inputs[0]);
  auto result = cast<RankedTensorType>(types[0]);
  for (Value scalar : scalars) {
    Type element = typeOf(scalar).getElementType();
    inits.push_back(scalar);
    inputs.push_back(broadcastInDim(builder, op->getLoc(), scalar,
                                    elements.clone(element), {}));
    types.push_back(result.clone(element));
  }
  auto closed = ReduceOp::create(builder, op->getLoc(), types, inputs, inits,
                                 reduce.getDimensionsAttr());
  closed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  closed.getBody().takeBody(reduce.getBody());
  return closed;
}

void stablehlo::registerCombinations(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ReduceOp::attachInterface<ReduceCombination>(*context);
    ScatterOp::attachInterface<ScatterCombination>(*context);
  });
}
