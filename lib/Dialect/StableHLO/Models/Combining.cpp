//===- Combining.cpp - Bodies of reduce and scatter -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Combining.h. Test: test/Dialect/StableHLO/Models/ReductionTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Combining.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

Reduction stablehlo::toReduction(ReduceKind kind, Type element) {
  bool isBool = element.isInteger(1);
  switch (kind) {
  case ReduceKind::Add:
    return isBool ? Reduction::Or : Reduction::Sum;
  case ReduceKind::Mul:
    return isBool ? Reduction::And : Reduction::Product;
  case ReduceKind::Max:
    return isBool ? Reduction::Or : Reduction::Max;
  case ReduceKind::Min:
    return isBool ? Reduction::And : Reduction::Min;
  case ReduceKind::And:
    return Reduction::And;
  case ReduceKind::Or:
    return Reduction::Or;
  }
  return Reduction::Sum;
}

static bool isNeutralFloat(const APFloat &value, ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Add:
    return value.isZero();
  case ReduceKind::Mul:
    return value.isExactlyValue(1.0);
  case ReduceKind::Max:
    return value.isNegInfinity();
  case ReduceKind::Min:
    return value.isPosInfinity();
  default:
    return false;
  }
}

static bool isNeutralInt(const APInt &value, bool isUnsigned, ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Add:
  case ReduceKind::Or:
    return value.isZero();
  case ReduceKind::Mul:
    return value.isOne();
  case ReduceKind::Max:
    return isUnsigned ? value.isZero() : value.isMinSignedValue();
  case ReduceKind::Min:
    return isUnsigned ? value.isAllOnes() : value.isMaxSignedValue();
  case ReduceKind::And:
    return value.isAllOnes();
  }
  return false;
}

bool stablehlo::isNeutral(Value value, ReduceKind kind) {
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return false;
  Type element = elements.getElementType();
  if (isa<FloatType>(element))
    return isNeutralFloat(elements.getSplatValue<APFloat>(), kind);
  return isNeutralInt(elements.getSplatValue<APInt>(),
                      element.isUnsignedInteger() || element.isInteger(1),
                      kind);
}

/// What phase 1 promises: kernels have no code for values from outside.
static LogicalResult verifyClosed(Operation &op,
                                  const DenseMap<Value, Value> &scalars) {
  for (Value operand : op.getOperands())
    if (!scalars.contains(operand))
      return op.emitOpError()
             << "expected a body that uses no value from outside in a kernel, "
                "got one (llmc-close-regions takes them in)";
  return success();
}

SmallVector<Value> stablehlo::emitScalarBody(Region &body, OpBuilder &builder,
                                             Location loc,
                                             ValueRange arguments) {
  DenseMap<Value, Value> scalars;
  Block &block = body.front();
  for (auto [argument, scalar] : llvm::zip(block.getArguments(), arguments))
    scalars[argument] = scalar;
  for (Operation &op : block.without_terminator()) {
    auto kernel = dyn_cast<KernelOpInterface>(&op);
    if (!kernel || (kernel.getKernelForm() != KernelForm::Element &&
                    kernel.getKernelForm() != KernelForm::Alias)) {
      emitMissingAnswer(&op, Answer::Kernel);
      return {};
    }
    if (failed(verifyClosed(op, scalars)))
      return {};
    auto source = [&](unsigned operand, ValueRange) {
      return scalars.lookup(op.getOperand(operand));
    };
    for (OpResult result : op.getResults()) {
      Value scalar = kernel.emitElement(builder, loc, result.getResultNumber(),
                                        ValueRange(), source);
      if (!scalar)
        return {};
      scalars[result] = scalar;
    }
  }
  if (failed(verifyClosed(*block.getTerminator(), scalars)))
    return {};
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return scalars.lookup(value); });
}
