//===- Sort.cpp - The expansion of sort -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comparator that orders by keys becomes an argsort of these, which the
// functions of scalars give element by element. Any other one is evaluated on
// the tensor of all pairs (Sorting.h). The order is always stable.
//
// Tests: test/EndToEnd/sorting.test, test/Import/StableHLO/expand-sort.mlir
//===----------------------------------------------------------------------===//

#include "Comparator.h"
#include "ScalarFunction.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/NN/IR/NN.h"
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
    int64_t dim = sort.getSortedDim();
    if (type.getDimSize(dim) <= 1) {
      results.append(op->operand_begin(), op->operand_end());
      return success();
    }
    if (failed(verifyElementwise(sort.getComparator())))
      return failure();
    SmallVector<ComparatorKey> keys = readComparator(sort.getComparator());
    FailureOr<Value> order =
        keys.empty() ? orderByPairs(sort, b) : orderByKeys(sort, b, keys);
    if (failed(order))
      return failure();
    for (Value input : sort.getInputs())
      results.push_back(gatherAlong(b, op->getLoc(), input, *order, dim));
    return success();
  }

private:
  static Value orderByKeys(SortOp sort, OpBuilder &b,
                           ArrayRef<ComparatorKey> keys) {
    auto type = cast<RankedTensorType>(sort.getInputs().front().getType());
    SmallVector<Value> pairs, wanted;
    for (Value input : sort.getInputs())
      pairs.append({input, input});
    SmallVector<bool> descending;
    for (const ComparatorKey &key : keys) {
      wanted.push_back(key.value);
      descending.push_back(key.isDescending);
    }
    SmallVector<Value> values = applyElementwise(
        sort.getComparator(), b, type.getShape(), pairs, wanted);
    for (auto [key, value] : llvm::zip_equal(keys, values))
      if (key.isOfNumbers)
        value = buildNumberKey(b, sort.getLoc(), value);
    for (Value &value : values)
      value = buildOrderKey(b, sort.getLoc(), value);
    int64_t dim = sort.getSortedDim();
    return nn::ArgsortOp::create(b, sort.getLoc(), values, dim,
                                 type.getDimSize(dim), descending);
  }

  static FailureOr<Value> orderByPairs(SortOp sort, OpBuilder &b) {
    auto type = cast<RankedTensorType>(sort.getInputs().front().getType());
    int64_t dim = sort.getSortedDim();
    if (failed(verifyComparisons(sort, type, dim)))
      return failure();
    SmallVector<Value> inputs(sort.getInputs());
    auto isBefore = [&](ArrayRef<Value> x,
                        ArrayRef<Value> y) -> FailureOr<Value> {
      return compareBy(sort.getComparator(), b, x, y);
    };
    return buildOrder(b, sort.getLoc(), inputs, dim, type.getDimSize(dim),
                      isBefore);
  }

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
    context->loadDialect<nn::NNDialect>();
    SortOp::attachInterface<SortExpansion>(*context);
  });
}
