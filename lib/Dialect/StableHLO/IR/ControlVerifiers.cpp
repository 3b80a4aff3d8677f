//===- ControlVerifiers.cpp - Verifiers of loops, branches, calls ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a region takes and returns is compared in shape and element type.
// Test: test/Dialect/StableHLO/invalid-control-flow.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// `types`, which are the op's `what`, are those that are expected.
static LogicalResult verifyTypes(Operation *op, const Twine &what,
                                 TypeRange types, TypeRange expected) {
  if (types.size() != expected.size())
    return op->emitOpError("expected ")
           << expected.size() << (expected.size() == 1 ? " type" : " types")
           << " of " << what << ", got " << types.size();
  for (auto [i, type] : llvm::enumerate(types))
    if (!haveSameShape(type, expected[i]) ||
        !haveSameElement(type, expected[i]))
      return op->emitOpError("expected type #")
             << i << " of " << what << " to be " << expected[i] << ", got "
             << type;
  return success();
}

/// What a region returns.
static LogicalResult verifyReturn(Operation *op, const Twine &what,
                                  Region &region, TypeRange expected) {
  Block &block = region.front();
  auto end = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!end)
    return op->emitOpError("expected ")
           << what << " to end in 'stablehlo.return'";
  return verifyTypes(op, "the results of " + what, end.getResults().getTypes(),
                     expected);
}

LogicalResult WhileOp::verify() {
  TypeRange types = getOperandTypes();
  Type flag = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyTypes(*this, "the results", getResultTypes(), types)) ||
      failed(verifyTypes(*this, "the arguments of the condition",
                         getCond().getArgumentTypes(), types)) ||
      failed(verifyTypes(*this, "the arguments of the body",
                         getBody().getArgumentTypes(), types)) ||
      failed(verifyReturn(*this, "the condition", getCond(), flag)))
    return failure();
  return verifyReturn(*this, "the body", getBody(), types);
}

static LogicalResult verifyBranch(Operation *op, const Twine &what,
                                  Region &region) {
  if (failed(verifyTypes(op, "the arguments of " + what,
                         region.getArgumentTypes(), {})))
    return failure();
  return verifyReturn(op, what, region, op->getResultTypes());
}

LogicalResult CaseOp::verify() {
  if (!getIndex().getType().getElementType().isSignlessInteger(32))
    return emitOpError("expected an index of i32, got ")
           << getIndex().getType();
  if (getBranches().empty())
    return emitOpError("expected at least 1 branch, got 0");
  for (auto [i, branch] : llvm::enumerate(getBranches()))
    if (failed(verifyBranch(*this, "branch #" + Twine(i), branch)))
      return failure();
  return success();
}

LogicalResult IfOp::verify() {
  if (!isScalarTensor(getPred().getType()))
    return emitOpError("expected a scalar as predicate, got ")
           << getPred().getType();
  if (failed(verifyBranch(*this, "the true branch", getTrueBranch())))
    return failure();
  return verifyBranch(*this, "the false branch", getFalseBranch());
}

LogicalResult CompositeOp::verify() {
  auto [space, rest] = getName().split('.');
  if (space.empty() || rest.empty())
    return emitOpError("expected a name with a namespace, such as 'my.gelu', "
                       "got '")
           << getName() << "'";
  return success();
}

LogicalResult
CompositeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto function = symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getDecompositionAttr());
  if (!function)
    return emitOpError("expected a function as decomposition, got ")
           << getDecompositionAttr();
  if (failed(verifyTypes(*this, "the arguments of the decomposition",
                         function.getArgumentTypes(), getOperandTypes())))
    return failure();
  return verifyTypes(*this, "the results of the decomposition",
                     function.getResultTypes(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

LogicalResult TupleOp::verify() {
  if (TypeRange(getValues()) == getType().getTypes())
    return success();
  return emitOpError("expected the tuple of the values' types, got ")
         << getType();
}

LogicalResult GetTupleElementOp::verify() {
  TupleType tuple = getOperand().getType();
  int64_t index = static_cast<int32_t>(getIndex()), size = tuple.size();
  if (index < 0 || index >= size)
    return emitOpError("expected 'index' in [0, ")
           << size << "), got " << index;
  if (tuple.getType(index) != getType())
    return emitOpError("expected a result of ")
           << tuple.getType(index) << ", got " << getType();
  return success();
}
