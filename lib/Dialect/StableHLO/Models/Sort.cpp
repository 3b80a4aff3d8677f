//===- Sort.cpp - The expansion of sort -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparator, a function of scalars, is evaluated on the tensor of all
// pairs (Sorting.h). The order is always stable.
//
// Tests: test/EndToEnd/sorting.test, test/Import/StableHLO/expand-sort.mlir
//===----------------------------------------------------------------------===//

#include "ScalarFunction.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Sorting.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {
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
    if (failed(verifyComparisons(op, type, dim)) ||
        failed(verifyElementwise(sort.getComparator())))
      return failure();
    SmallVector<Value> keys(sort.getInputs());
    auto isBefore = [&](ArrayRef<Value> x,
                        ArrayRef<Value> y) -> FailureOr<Value> {
      return compareBy(sort.getComparator(), b, x, y);
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
  static Value compareBy(Region &comparator, OpBuilder &b, ArrayRef<Value> x,
                         ArrayRef<Value> y) {
    SmallVector<Value> pairs;
    for (auto [first, second] : llvm::zip_equal(x, y))
      pairs.append({first, second});
    auto shape = cast<RankedTensorType>(x.front().getType()).getShape();
    return applyElementwise(comparator, b, shape, pairs).front();
  }
};
} // namespace

void stablehlo::registerSortModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    SortOp::attachInterface<SortExpansion>(*context);
  });
}
