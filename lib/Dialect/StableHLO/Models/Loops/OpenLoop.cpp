//===- OpenLoop.cpp - A loop that the run ends ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OpenLoop.h.
//
// Tests: test/Import/StableHLO/open-loops.mlir, test/EndToEnd/while.test
//===----------------------------------------------------------------------===//

#include "OpenLoop.h"
#include "CountedLoop.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {
/// Builds what `keepOpenLoop` does.
class OpenKeeper {
public:
  OpenKeeper(WhileOp loop, OpBuilder &builder)
      : loop(loop), builder(builder), loc(loop.getLoc()),
        attr(dist::LoopAttr::get(builder.getContext(), makeLoopName(loop), 0,
                                 /*reversed=*/false, /*conditional=*/true,
                                 /*in=*/dist::LoopAttr())) {}

  void build(SmallVectorImpl<Value> &results);

private:
  SmallVector<Value> cloneRegion(Region &region, ValueRange arguments,
                                 const IRMapping &captured);
  Value askCondition(ValueRange values, const IRMapping &captured);
  Value enter(Value value, dist::EnterKind kind, int64_t number = -1) {
    return dist::EnterOp::create(builder, loc, value, kind, attr, number);
  }
  IRMapping enterCaptured();
  bool isInvariant(unsigned number) {
    Block &body = loop.getBody().front();
    return body.getTerminator()->getOperand(number) == body.getArgument(number);
  }

  WhileOp loop;
  OpBuilder &builder;
  Location loc;
  dist::LoopAttr attr;
};
} // namespace

/// What both regions read from around the loop, where that is no constant.
IRMapping OpenKeeper::enterCaptured() {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(loop->getRegions(), values);
  IRMapping mapping;
  for (Value value : values) {
    Operation *def = value.getDefiningOp();
    if (!def || !def->hasTrait<OpTrait::ConstantLike>())
      mapping.map(value, enter(value, dist::EnterKind::Same));
  }
  return mapping;
}

/// What the region returns of `arguments`.
SmallVector<Value> OpenKeeper::cloneRegion(Region &region, ValueRange arguments,
                                           const IRMapping &captured) {
  IRMapping mapping = captured;
  Block &block = region.front();
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

Value OpenKeeper::askCondition(ValueRange values, const IRMapping &captured) {
  Value flag = cloneRegion(loop.getCond(), values, captured).front();
  return stablehlo::reshape(builder, loc, flag, {});
}

void OpenKeeper::build(SmallVectorImpl<Value> &results) {
  using dist::EnterKind;
  Value start = askCondition(loop->getOperands(), IRMapping());
  Value condition = enter(start, EnterKind::Carry, dist::LoopAttr::kCondition);
  IRMapping captured = enterCaptured();
  SmallVector<Value> values;
  for (auto [i, operand] : llvm::enumerate(loop->getOperands()))
    values.push_back(
        isInvariant(i)
            ? enter(operand, EnterKind::Same)
            : enter(operand, EnterKind::Carry,
                    static_cast<int64_t>(i) + dist::LoopAttr::kCondition + 1));
  SmallVector<Value> next = cloneRegion(loop.getBody(), values, captured);
  dist::NextOp::create(builder, loc, condition, askCondition(next, captured));
  for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
    if (isInvariant(i)) {
      results.push_back(operand);
      continue;
    }
    Value last = dist::NextOp::create(builder, loc, values[i], next[i]);
    results.push_back(
        dist::LeaveOp::create(builder, loc, last, dist::LeaveKind::Last, attr));
  }
}

StringRef stablehlo::whyNotOpen(WhileOp loop) {
  if (findTrips(loop))
    return "it stands in a loop that stays one";
  return "";
}

void stablehlo::keepOpenLoop(WhileOp loop, OpBuilder &builder,
                             SmallVectorImpl<Value> &results) {
  OpenKeeper(loop, builder).build(results);
}
