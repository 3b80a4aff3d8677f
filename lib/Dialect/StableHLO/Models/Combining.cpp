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

ReductionKind stablehlo::canonicalKind(ReductionKind kind, Type element) {
  if (!element.isInteger(1))
    return kind;
  bool isAny = kind == ReductionKind::sum || kind == ReductionKind::max ||
               kind == ReductionKind::bitOr;
  return isAny ? ReductionKind::bitOr : ReductionKind::bitAnd;
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
    auto source = [&](unsigned operand, ValueRange = {}) {
      return scalars.lookup(op.getOperand(operand));
    };
    bool isAlias = kernel.getKernelForm() == KernelForm::Alias;
    for (OpResult result : op.getResults()) {
      unsigned number = result.getResultNumber();
      Value scalar = isAlias ? source(kernel.getAliasedOperand(number))
                             : kernel.emitElement(builder, loc, number,
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
