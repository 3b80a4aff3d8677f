//===- GroupedDims.cpp - Dims of products of groups -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GroupedDims.h. Tests: test/Dialect/{Dist,NN}/invalid-grouped-dot.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Support/GroupedDims.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace llmc;

static SmallVector<int64_t> without(int64_t rank,
                                    ArrayRef<ArrayRef<int64_t>> lists) {
  SmallVector<int64_t> rest;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (llvm::none_of(lists, [=](ArrayRef<int64_t> list) {
          return llvm::is_contained(list, dim);
        }))
      rest.push_back(dim);
  return rest;
}

SmallVector<int64_t> GroupedDims::getLhsFree(int64_t rank) const {
  return without(rank, {lhsBatch, lhsContracting});
}

SmallVector<int64_t> GroupedDims::getRhsFree(int64_t rank) const {
  SmallVector<int64_t> ofGroups;
  if (groups)
    ofGroups.push_back(*groups);
  return without(rank, {rhsBatch, rhsContracting, ofGroups});
}

/// Dims of one side are in range, and none is named twice.
static LogicalResult verifySide(Operation *op, StringRef side,
                                ArrayRef<int64_t> dims, RankedTensorType type) {
  SmallVector<int64_t> seen;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= type.getRank() || llvm::is_contained(seen, dim))
      return op->emitOpError() << "expected distinct dims of the " << side
                               << " side " << type << ", got " << dim;
    seen.push_back(dim);
  }
  return success();
}

static LogicalResult verifyPairs(Operation *op, StringRef kind,
                                 ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
                                 const GroupedTypes &types) {
  if (lhs.size() != rhs.size())
    return op->emitOpError()
           << "expected as many " << kind << " dims of both sides, got "
           << lhs.size() << " and " << rhs.size();
  for (auto [l, r] : llvm::zip(lhs, rhs))
    if (types.lhs.getDimSize(l) != types.rhs.getDimSize(r))
      return op->emitOpError()
             << "expected " << kind << " dims of equal sizes, got " << l
             << " of " << types.lhs << " and " << r << " of " << types.rhs;
  return success();
}

static LogicalResult verifySides(Operation *op, const GroupedDims &dims,
                                 const GroupedTypes &types) {
  SmallVector<int64_t> left(dims.lhsBatch), right(dims.rhsBatch);
  llvm::append_range(left, dims.lhsContracting);
  llvm::append_range(right, dims.rhsContracting);
  if (dims.groups)
    right.push_back(*dims.groups);
  if (failed(verifySide(op, "left", left, types.lhs)) ||
      failed(verifySide(op, "right", right, types.rhs)) ||
      failed(verifySide(op, "left", dims.rows, types.lhs)) ||
      failed(verifyPairs(op, "batch", dims.lhsBatch, dims.rhsBatch, types)) ||
      failed(verifyPairs(op, "contracting", dims.lhsContracting,
                         dims.rhsContracting, types)))
    return failure();
  if (llvm::is_contained(dims.lhsBatch, dims.rows))
    return op->emitOpError()
           << "expected rows that are no batch, got dim " << dims.rows;
  if (dims.contractsRows() == dims.groups.has_value())
    return op->emitOpError()
           << "expected a dim of groups of the right side, or rows that are "
              "contracted, got "
           << (dims.groups ? "both" : "neither");
  return success();
}

/// Lists of the sizes and first groups: of all batches, or of each.
static LogicalResult verifyLists(Operation *op, const GroupedDims &dims,
                                 const GroupedTypes &types) {
  SmallVector<int64_t> batch = llvm::map_to_vector(
      dims.lhsBatch, [&](int64_t d) { return types.lhs.getDimSize(d); });
  RankedTensorType sizes = types.sizes;
  bool isOwn = !batch.empty() && sizes.getRank() != 1;
  ArrayRef<int64_t> expected = isOwn ? ArrayRef(batch) : ArrayRef<int64_t>();
  if (sizes.getRank() == 0 || sizes.getShape().drop_back() != expected)
    return op->emitOpError()
           << "expected sizes of all groups, for all batches together or for "
              "each, got "
           << sizes;
  Type element = sizes.getElementType();
  if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    return op->emitOpError() << "expected sizes of i32 or i64, got " << sizes;
  if (types.first && (types.first.getShape() != ArrayRef(batch) ||
                      types.first.getElementType() != element))
    return op->emitOpError() << "expected a first group of each batch, of "
                             << element << ", got " << types.first;
  return success();
}

/// As many matrices of groups as the result has.
static LogicalResult verifyResult(Operation *op, const GroupedDims &dims,
                                  const GroupedTypes &types) {
  RankedTensorType result = types.result;
  SmallVector<int64_t> shape;
  for (int64_t dim : dims.lhsBatch)
    shape.push_back(types.lhs.getDimSize(dim));
  int64_t batch = shape.size();
  if (dims.contractsRows())
    shape.push_back(batch < result.getRank() ? result.getDimSize(batch) : 0);
  for (int64_t dim : dims.getLhsFree(types.lhs.getRank()))
    shape.push_back(types.lhs.getDimSize(dim));
  for (int64_t dim : dims.getRhsFree(types.rhs.getRank()))
    shape.push_back(types.rhs.getDimSize(dim));
  if (result.getShape() == ArrayRef(shape))
    return success();
  return op->emitOpError() << "expected a result of "
                           << RankedTensorType::get(shape,
                                                    result.getElementType())
                           << ", got " << result;
}

LogicalResult llmc::verifyGroupedDot(Operation *op, const GroupedDims &dims,
                                     const GroupedTypes &types) {
  if (failed(verifySides(op, dims, types)) ||
      failed(verifyLists(op, dims, types)) ||
      failed(verifyResult(op, dims, types)))
    return failure();
  bool isFloat = isa<FloatType>(types.result.getElementType());
  for (RankedTensorType side : {types.lhs, types.rhs})
    if (isa<FloatType>(side.getElementType()) != isFloat)
      return op->emitOpError()
             << "expected floats in all tensors or in none, got " << side
             << " and " << types.result;
  int64_t matrices = dims.groups
                         ? types.rhs.getDimSize(*dims.groups)
                         : types.result.getDimSize(dims.lhsBatch.size());
  if (types.first || matrices == types.sizes.getShape().back())
    return success();
  return op->emitOpError() << "expected a size for each of the " << matrices
                           << " groups, got " << types.sizes;
}
