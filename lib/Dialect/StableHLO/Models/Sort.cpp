//===- Sort.cpp - The expansion of sort -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparator, a function of scalars, is evaluated on the tensor of all
// pairs (Sorting.h). The order is always stable.
//
// Tests: test/EndToEnd/sorting.test, test/Import/StableHLO/expand-sort.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Sorting.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
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

namespace {
/// Writes a function of scalars on tensors of one shape.
struct OnTensors {
  OpBuilder &b;
  ArrayRef<int64_t> shape;
  IRMapping mapping;

  Value spread(Value scalar) {
    Type element = getElementTypeOrSelf(scalar.getType());
    return broadcastInDim(b, scalar.getLoc(), scalar,
                          RankedTensorType::get(shape, element), {});
  }

  /// Constants stay scalars, and so do values from outside: both are repeated.
  LogicalResult write(Operation &op) {
    if (isa<ConstantOp>(op)) {
      Operation *copy = b.clone(op);
      mapping.map(op.getResult(0), spread(copy->getResult(0)));
      return success();
    }
    if (!isElementwise(op))
      return emitRefusal(&op, rt::ErrorKind::unsupported)
             << "expected element-wise ops in the comparator of a sort, got "
                "another";
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, spread(operand));
    Operation *copy = b.clone(op, mapping);
    for (Value result : copy->getResults())
      result.setType(
          RankedTensorType::get(shape, getElementTypeOrSelf(result.getType())));
    return success();
  }
};

struct SortExpansion
    : graph::ExpansionOpInterface::ExternalModel<SortExpansion, SortOp> {
  LogicalResult expand(Operation *op, OpBuilder &b,
                       SmallVectorImpl<Value> &results) const {
    auto sort = cast<SortOp>(op);
    auto type = cast<RankedTensorType>(sort.getInputs().front().getType());
    int64_t dim = sort.getSortedDim(), size = type.getDimSize(dim);
    if (size <= 1) {
      results.append(op->operand_begin(), op->operand_end());
      return success();
    }
    if (failed(verifyComparisons(op, type, dim)))
      return failure();
    SmallVector<Value> keys(sort.getInputs());
    auto isBefore = [&](ArrayRef<Value> x, ArrayRef<Value> y) {
      return compareBy(sort.getComparator().front(), b, x, y);
    };
    FailureOr<Value> order =
        buildOrder(b, op->getLoc(), keys, dim, size, isBefore);
    if (failed(order))
      return failure();
    for (Value input : sort.getInputs())
      results.push_back(gatherAlong(b, op->getLoc(), input, *order, dim));
    return success();
  }

private:
  static FailureOr<Value> compareBy(Block &comparator, OpBuilder &b,
                                    ArrayRef<Value> x, ArrayRef<Value> y) {
    OnTensors code{
        b, cast<RankedTensorType>(x.front().getType()).getShape(), {}};
    for (auto [i, argument] : llvm::enumerate(comparator.getArguments()))
      code.mapping.map(argument, i % 2 ? y[i / 2] : x[i / 2]);
    for (Operation &op : comparator.without_terminator())
      if (failed(code.write(op)))
        return failure();
    Value result = comparator.getTerminator()->getOperand(0);
    return code.mapping.contains(result) ? code.mapping.lookup(result)
                                         : code.spread(result);
  }
};
} // namespace

void stablehlo::registerSortModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    SortOp::attachInterface<SortExpansion>(*context);
  });
}
