//===- LibraryCalls.cpp - What libraries are called for -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.contract %x, %w plus %a batch [] x [] contracting [1] x [0]
//   a: x   b: w   c: a, added to   indices: m, n, k with row-major strides
//   dist.contract %x, %w bias %b batch [] x [] contracting [1] x [0]
//   a: x   b: w   bias: b, along n   c: the result
//
// A product that is written transposed has its sides in the other order.
//
// Tested by test/Dialect/Dist/Models/LibraryCallsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "SumCallModel.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

/// Batch, m and n in the order of the result's dims, then k; at least one.
static std::vector<rt::ContractionIndex> getIndices(ContractOp op) {
  using Kind = rt::ContractionIndexKind;
  RankedTensorType left = op.getLhs().getType(), right = op.getRhs().getType();
  SmallVector<int64_t> a = getStrides(left), b = getStrides(right),
                       c = getStrides(op.getResult().getType());
  std::vector<rt::ContractionIndex> indices;
  size_t at = 0;
  for (auto [l, r] : llvm::zip(op.getLhsBatch(), op.getRhsBatch()))
    indices.push_back({Kind::batch, left.getDimSize(l), a[l], b[r], c[at++]});
  for (auto [d, size] : llvm::enumerate(left.getShape()))
    if (!llvm::is_contained(op.getLhsBatch(), int64_t(d)) &&
        !llvm::is_contained(op.getLhsContracting(), int64_t(d)))
      indices.push_back({Kind::m, size, a[d], 0, c[at++]});
  for (auto [d, size] : llvm::enumerate(right.getShape()))
    if (!llvm::is_contained(op.getRhsBatch(), int64_t(d)) &&
        !llvm::is_contained(op.getRhsContracting(), int64_t(d)))
      indices.push_back({Kind::n, size, 0, b[d], c[at++]});
  for (auto [l, r] : llvm::zip(op.getLhsContracting(), op.getRhsContracting()))
    indices.push_back({Kind::k, left.getDimSize(l), a[l], b[r], 0});
  if (op.getBias()) {
    int64_t stride = 1;
    for (rt::ContractionIndex &index : llvm::reverse(indices))
      if (index.kind == Kind::n) {
        index.strideBias = stride;
        stride *= index.size;
      }
  }
  if (indices.empty())
    indices.push_back({Kind::m, 1, 0, 0, 0});
  return indices;
}

static void swapSides(ContractOp op) {
  Value left = op.getLhs(), right = op.getRhs();
  SmallVector<int64_t> leftBatch(op.getLhsBatch()),
      leftContracting(op.getLhsContracting());
  op.getLhsMutable().assign(right);
  op.getRhsMutable().assign(left);
  op.setLhsBatch(op.getRhsBatch());
  op.setLhsContracting(op.getRhsContracting());
  op.setRhsBatch(leftBatch);
  op.setRhsContracting(leftContracting);
}

namespace {
struct ContractModel : SumCallModel<ContractModel, ContractOp> {
  FailureOr<rt::LibraryDescriptor> getDescriptor(Operation *of) const {
    auto op = cast<ContractOp>(of);
    rt::ContractionShape shape;
    if (failed(describe(op, shape)))
      return failure();
    shape.indices = getIndices(op);
    return rt::LibraryDescriptor(std::move(shape));
  }
  /// The order of several free dims is the result's: they stay where they are.
  bool readPermuted(Operation *of, unsigned operand,
                    ArrayRef<int64_t> permutation) const {
    auto op = cast<ContractOp>(of);
    if (operand > 1)
      return false;
    bool isLeft = operand == 0;
    SmallVector<int64_t> batch(isLeft ? op.getLhsBatch() : op.getRhsBatch());
    SmallVector<int64_t> contracting(isLeft ? op.getLhsContracting()
                                            : op.getRhsContracting());
    if (permutation.size() > batch.size() + contracting.size() + 1)
      return false;
    for (SmallVector<int64_t> *dims : {&batch, &contracting})
      for (int64_t &dim : *dims)
        dim = permutation[dim];
    if (isLeft) {
      op.setLhsBatch(batch);
      op.setLhsContracting(contracting);
    } else {
      op.setRhsBatch(batch);
      op.setRhsContracting(contracting);
    }
    return true;
  }
  /// Batch dims in any order, and the sides' own dims before or after each
  /// other.
  bool writePermuted(Operation *of, ArrayRef<int64_t> permutation) const {
    auto op = cast<ContractOp>(of);
    RankedTensorType type = op.getResult().getType();
    auto numBatch = static_cast<int64_t>(op.getLhsBatch().size()),
         numLeft = type.getRank() - numBatch - op.getNumRightDims();
    ArrayRef<int64_t> batch = permutation.take_front(numBatch),
                      own = permutation.drop_front(numBatch);
    auto isBatch = [&](int64_t dim) { return dim < numBatch; };
    bool isKept = llvm::is_sorted(own);
    SmallVector<int64_t> turned(own);
    std::rotate(turned.begin(), turned.end() - numLeft, turned.end());
    if (!llvm::all_of(batch, isBatch) ||
        (!isKept && !llvm::is_sorted(turned)) || op.getAccumulator() ||
        op.getBias())
      return false;
    op.setLhsBatch(applyPermutation(op.getLhsBatch(), batch));
    op.setRhsBatch(applyPermutation(op.getRhsBatch(), batch));
    if (!isKept)
      swapSides(op);
    op.getResult().setType(
        type.clone(applyPermutation(type.getShape(), permutation)));
    return true;
  }
  SmallVector<int64_t> getInnerOrder(Operation *of, unsigned operand) const {
    auto op = cast<ContractOp>(of);
    if (operand > 1)
      return {};
    ArrayRef<int64_t> batch = operand ? op.getRhsBatch() : op.getLhsBatch();
    ArrayRef<int64_t> contracting =
        operand ? op.getRhsContracting() : op.getLhsContracting();
    auto type = cast<RankedTensorType>(of->getOperand(operand).getType());
    SmallVector<int64_t> order(batch);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(batch, dim) &&
          !llvm::is_contained(contracting, dim))
        order.push_back(dim);
    llvm::append_range(order, contracting);
    return order;
  }
  void readInnerOrder(Operation *of, unsigned operand, Value copy) const {
    auto op = cast<ContractOp>(of);
    auto rank = cast<RankedTensorType>(copy.getType()).getRank();
    auto dims = [](int64_t low, int64_t high) {
      return llvm::to_vector(llvm::seq<int64_t>(low, high));
    };
    auto numBatch = static_cast<int64_t>(op.getLhsBatch().size());
    auto numTerms = static_cast<int64_t>(op.getLhsContracting().size());
    of->setOperand(operand, copy);
    if (operand) {
      op.setRhsBatch(dims(0, numBatch));
      op.setRhsContracting(dims(rank - numTerms, rank));
    } else {
      op.setLhsBatch(dims(0, numBatch));
      op.setLhsContracting(dims(rank - numTerms, rank));
    }
  }
  /// A vector along the right side's dims is what libraries add for nothing.
  /// The sums are not rounded before: where they are wider than the result, its
  /// bits would be others.
  bool addBias(Operation *of, Value bias, ArrayRef<int64_t> dims) const {
    auto op = cast<ContractOp>(of);
    RankedTensorType result = op.getResult().getType();
    if (!takesBias(op, bias))
      return false;
    SmallVector<int64_t> right;
    for (int64_t dim = result.getRank() - op.getNumRightDims();
         dim < result.getRank(); ++dim)
      if (result.getDimSize(dim) != 1)
        right.push_back(dim);
    if (ArrayRef(right) != dims)
      return false;
    op.getBiasMutable().assign(bias);
    return true;
  }
};
} // namespace

void dist::registerLibraryCallModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    ContractOp::attachInterface<ContractModel>(*context);
  });
}
