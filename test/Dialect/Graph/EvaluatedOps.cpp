//===- EvaluatedOps.cpp - Ops with the values around them -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EvaluatedOps.h.
//
//===----------------------------------------------------------------------===//

#include "EvaluatedOps.h"
#include "llmc/Interpreter/Interpreter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

bool test::isTable(Operation *op) {
  mlir::DenseElementsAttr elements;
  return mlir::matchPattern(op, mlir::m_Constant(&elements)) &&
         !elements.isSplat();
}

FailureOr<std::vector<EvaluatedOp>> test::evaluateOps(func::FuncOp function,
                                                      uint64_t seed) {
  llvm::DenseMap<Value, HostTensor> values;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    values[function.getArgument(i)] = drawArgument(function, i, seed);
  Interpreter interpreter;
  std::vector<EvaluatedOp> ops;
  for (Operation &op : function.front().without_terminator()) {
    EvaluatedOp evaluated{&op, {}, {}};
    for (Value operand : op.getOperands())
      evaluated.operands.push_back(values.lookup(operand));
    if (failed(
            interpreter.evaluateOp(&op, evaluated.operands, evaluated.results)))
      return failure();
    for (auto [result, value] :
         llvm::zip_equal(op.getResults(), evaluated.results))
      values[result] = value;
    ops.push_back(std::move(evaluated));
  }
  return ops;
}
