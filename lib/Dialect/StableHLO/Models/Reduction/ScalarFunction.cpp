//===- ScalarFunction.cpp - Functions of scalars on tensors ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ScalarFunction.h.
//
// Tests: test/Import/StableHLO/{expand-sort,expand-windows}.mlir
//===----------------------------------------------------------------------===//

#include "ScalarFunction.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/GraphTensor.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// An op on scalars that does the same on the elements of tensors.
static bool isElementwise(Operation &op) {
  return op.hasTrait<ElementwiseShape>() || isa<SelectOp, ClampOp>(op);
}

/// Moves the element of a scalar into another scalar.
static bool isCopy(Operation &op) {
  return isa<ReshapeOp, BroadcastInDimOp>(op) &&
         isScalarTensor(op.getOperand(0).getType()) &&
         isScalarTensor(op.getResult(0).getType());
}

LogicalResult stablehlo::verifyElementwise(Region &body) {
  for (Operation &op : body.front().without_terminator())
    if (!isa<ConstantOp>(op) && !isElementwise(op) && !isCopy(op))
      return emitRefusal(&op, rt::ErrorKind::unsupported)
             << "expected element-wise ops in the body of '"
             << body.getParentOp()->getName() << "', got another";
  return success();
}

namespace {
/// Writes a function of scalars on tensors of one shape.
struct OnTensors {
  OpBuilder &b;
  ArrayRef<int64_t> shape;
  IRMapping mapping;

  Value spread(Value scalar) {
    if (shape.empty())
      return scalar;
    Type element = getElementTypeOrSelf(scalar.getType());
    return broadcastInDim(b, scalar.getLoc(), scalar,
                          RankedTensorType::get(shape, element), {});
  }

  /// A value from outside where nothing stands for it yet.
  Value lookUp(Value scalar) {
    if (!mapping.contains(scalar))
      mapping.map(scalar, spread(scalar));
    return mapping.lookup(scalar);
  }

  void write(Operation &op) {
    if (isa<ConstantOp>(op)) {
      Operation *copy = b.clone(op);
      mapping.map(op.getResult(0), spread(copy->getResult(0)));
      return;
    }
    for (Value operand : op.getOperands())
      lookUp(operand);
    if (isCopy(op)) {
      mapping.map(op.getResult(0), lookUp(op.getOperand(0)));
      return;
    }
    Operation *copy = b.clone(op, mapping);
    for (Value result : copy->getResults())
      result.setType(
          RankedTensorType::get(shape, getElementTypeOrSelf(result.getType())));
  }
};
} // namespace

/// The ops of `body` that `wanted` are made of.
static DenseSet<Operation *> getMakers(Region &body, ValueRange wanted) {
  DenseSet<Operation *> makers;
  SmallVector<Value> worklist(wanted);
  while (!worklist.empty()) {
    Operation *maker = worklist.pop_back_val().getDefiningOp();
    if (maker && maker->getParentRegion() == &body &&
        makers.insert(maker).second)
      llvm::append_range(worklist, maker->getOperands());
  }
  return makers;
}

SmallVector<Value> stablehlo::applyElementwise(Region &body, OpBuilder &b,
                                               ArrayRef<int64_t> shape,
                                               ArrayRef<Value> arguments,
                                               ValueRange wanted) {
  OnTensors code{b, shape, {}};
  Block &block = body.front();
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    code.mapping.map(argument, value);
  DenseSet<Operation *> makers = getMakers(body, wanted);
  for (Operation &op : block.without_terminator())
    if (makers.contains(&op))
      code.write(op);
  return llvm::map_to_vector(wanted,
                             [&](Value value) { return code.lookUp(value); });
}

SmallVector<Value> stablehlo::applyElementwise(Region &body, OpBuilder &b,
                                               ArrayRef<int64_t> shape,
                                               ArrayRef<Value> arguments) {
  return applyElementwise(body, b, shape, arguments,
                          body.front().getTerminator()->getOperands());
}
