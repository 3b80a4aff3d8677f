//===- CloseRegions.cpp - Bodies that use no value from outside -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   add(p, maximum(e, c))  ->  add(p, e)   of elements maximum(x, broadcast c)
//   p * s + e              ->  the same with s as a second accumulator, which
//                              every step hands on
//
// Constants are cloned into the body first. What a step computes of its element
// and of outer values alone does not depend on the order of the steps, so it is
// computed before, for all elements: often one known operation is left, which
// can be split and derived. Outer values that meet the accumulator are refused
// in a scatter, whose kernel has one buffer.
//
// Test: test/Transforms/Training/close-regions.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/RegionConstants.h"
#include "llmc/Dialect/Graph/IR/Combination.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace llmc {
#define GEN_PASS_DEF_CLOSEREGIONSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

static llvm::SetVector<Value> getCaptured(Region &region) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  return captured;
}

//===----------------------------------------------------------------------===//
// What depends on elements
//===----------------------------------------------------------------------===//

namespace {
/// The body of a reduction or scatter of one input: what its step computes of
/// the element alone moves in front of `op`.
class ElementPart {
public:
  ElementPart(Operation *op, Region &body, OpOperand &elements)
      : op(op), block(body.front()), accumulator(block.getArgument(0)),
        element(block.getArgument(1)), elements(elements) {
    for (Value value : getCaptured(body))
      captured.insert(value);
  }

  void hoist();

private:
  void collect();
  bool isApart(Operation &each) const;
  Value findBoundary() const;
  bool isRestPlain(Value boundary) const;
  Value computeAll(Value boundary);

  Operation *op;
  Block &block;
  Value accumulator, element;
  OpOperand &elements;
  llvm::SetVector<Value> captured;
  /// Ops that depend on the element or on outer values, not on the accumulator;
  /// the constants among all ops.
  llvm::SetVector<Operation *> apart;
  llvm::DenseSet<Value> constants;
};
} // namespace

bool ElementPart::isApart(Operation &each) const {
  bool isScalar = llvm::all_of(each.getOperandTypes(), isScalarTensor) &&
                  llvm::all_of(each.getResultTypes(), isScalarTensor);
  return isScalar && isPure(&each) && each.hasTrait<ElementwiseShape>() &&
         llvm::all_of(each.getOperands(), [&](Value operand) {
           return operand == element || captured.contains(operand) ||
                  constants.contains(operand) ||
                  apart.contains(operand.getDefiningOp());
         });
}

void ElementPart::collect() {
  for (Operation &each : block.without_terminator()) {
    bool isConstant = isPure(&each) && each.getNumRegions() == 0 &&
                      llvm::all_of(each.getOperands(), [&](Value operand) {
                        return constants.contains(operand);
                      });
    if (isConstant)
      constants.insert_range(each.getResults());
    else if (isApart(each))
      apart.insert(&each);
  }
}

/// The one value of this part that the rest uses; null when there are several.
Value ElementPart::findBoundary() const {
  Value boundary;
  for (Operation &each : block) {
    if (apart.contains(&each))
      continue;
    for (Value operand : each.getOperands()) {
      if (operand == element || captured.contains(operand))
        return {};
      if (!apart.contains(operand.getDefiningOp()))
        continue;
      if (boundary && boundary != operand)
        return {};
      boundary = operand;
    }
  }
  return boundary;
}

/// Whether the rest hands `boundary` on, or is one op of it and the
/// accumulator.
bool ElementPart::isRestPlain(Value boundary) const {
  Value result = block.getTerminator()->getOperand(0);
  if (result == boundary)
    return true;
  Operation *last = result.getDefiningOp();
  return last && last->getBlock() == &block && last->getNumOperands() == 2 &&
         llvm::is_contained(last->getOperands(), accumulator) &&
         llvm::is_contained(last->getOperands(), boundary);
}

/// The part for all elements at once.
Value ElementPart::computeAll(Value boundary) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value all = elements.get();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(all.getType()).getShape();
  auto typeOf = [&](Value scalar) {
    return RankedTensorType::get(shape, getElementTypeOrSelf(scalar.getType()));
  };
  IRMapping mapping, scalars;
  mapping.map(element, all);
  for (Operation *each : apart) {
    for (Value operand : each->getOperands()) {
      if (mapping.contains(operand))
        continue;
      Value scalar = captured.contains(operand)
                         ? operand
                         : cloneConstant(builder, operand, scalars);
      mapping.map(operand, stablehlo::broadcastInDim(builder, loc, scalar,
                                                     typeOf(operand), {}));
    }
    Operation *copy = builder.clone(*each, mapping);
    for (Value result : copy->getResults())
      result.setType(typeOf(result));
  }
  return mapping.lookup(boundary);
}

void ElementPart::hoist() {
  collect();
  Value boundary = findBoundary();
  if (!boundary || boundary.getType() != element.getType() ||
      !isRestPlain(boundary))
    return;
  elements.set(computeAll(boundary));
  boundary.replaceAllUsesWith(element);
  for (Operation &each : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&each))
      each.erase();
}

static void hoistElementPart(graph::CombinationOpInterface op) {
  graph::Combination combination = op.getCombination();
  if (combination.elements.size() == 1)
    ElementPart(op, *combination.body, combination.elements.front()).hoist();
}

//===----------------------------------------------------------------------===//
// What is left
//===----------------------------------------------------------------------===//

static LogicalResult closeOp(Operation *op) {
  for (Region &region : op->getRegions())
    if (!region.empty())
      takeInConstants(region);
  auto combining = dyn_cast<graph::CombinationOpInterface>(op);
  if (combining)
    hoistElementPart(combining);
  for (Region &region : op->getRegions()) {
    llvm::SetVector<Value> captured = getCaptured(region);
    if (captured.empty())
      continue;
    OpBuilder builder(op);
    Operation *closed = nullptr;
    if (combining && llvm::all_of(captured, [](Value value) {
          return isScalarTensor(value.getType());
        }))
      closed = combining.buildClosed(builder, captured.getArrayRef());
    if (!closed)
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected a body that combines its arguments and constants, "
                "got "
                "one that combines the accumulated value with a value computed "
                "outside, which is not supported";
    op->replaceAllUsesWith(
        closed->getResults().take_front(op->getNumResults()));
    op->erase();
    return success();
  }
  return success();
}

namespace {
struct CloseRegionsPass : llmc::impl::CloseRegionsPassBase<CloseRegionsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) {
        if (op != function && op->getNumRegions() > 0 &&
            !op->hasTrait<OpTrait::IsIsolatedFromAbove>())
          ops.push_back(op);
      });
      for (Operation *op : ops)
        if (failed(closeOp(op)))
          return signalPassFailure();
    }
  }
};
} // namespace
