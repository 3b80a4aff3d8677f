//===- IndexingVerifiers.cpp - Verifiers of run-time indexing -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gather and scatter share one picture. The indices tensor, without its index
// vector dimension, gives the *positions*; each position addresses a *window*
// of the operand, some of whose dimensions (collapsed or batching) have size 1
// and are dropped from the other tensor (gather's result, scatter's updates):
//
//   other dims = positions, with the kept window dims put in at `windowDims`
//
// so that both are verified by one function with two vocabularies.
// Test: test/Dialect/StableHLO/invalid-indexing.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

namespace {
/// A named list of dimensions of the attribute.
struct DimList {
  StringRef name;
  ArrayRef<int64_t> dims;
};

/// Dimension numbers of gather or scatter in one vocabulary.
struct IndexingDims {
  DimList window;         ///< of the other tensor: kept window dimensions
  DimList dropped;        ///< of the operand: window dimensions of size 1
  DimList operandBatch;   ///< of the operand: one for each of the next
  DimList positionsBatch; ///< of the indices
  DimList map;            ///< index vector entry -> operand dimension
  int64_t vectorDim;      ///< of the indices; their rank: an implicit 1
};
} // namespace

static LogicalResult verifySorted(Operation *op, DimList list) {
  if (llvm::is_sorted(list.dims))
    return success();
  InFlightDiagnostic diag = op->emitOpError("expected sorted '")
                            << list.name << "', got [";
  llvm::interleaveComma(list.dims, diag);
  return diag << "]";
}

/// Both lists together are distinct dimensions below `rank`.
static LogicalResult verifyDistinctLists(Operation *op, DimList a, DimList b,
                                         int64_t rank) {
  if (failed(verifyDistinctDims(op, a.name, a.dims, rank)) ||
      failed(verifyDistinctDims(op, b.name, b.dims, rank)))
    return failure();
  for (int64_t dim : a.dims)
    if (llvm::is_contained(b.dims, dim))
      return op->emitOpError("expected '")
             << a.name << "' and '" << b.name << "' apart, got " << dim
             << " in both";
  return success();
}

/// The lists on their own: ranges, order, lengths.
static LogicalResult verifyLists(Operation *op, const IndexingDims &numbers,
                                 RankedTensorType operand,
                                 RankedTensorType indices,
                                 RankedTensorType other) {
  int64_t rank = operand.getRank();
  if (failed(verifyDistinctDims(op, numbers.window.name, numbers.window.dims,
                                other.getRank())) ||
      failed(verifySorted(op, numbers.window)) ||
      failed(verifyDistinctLists(op, numbers.dropped, numbers.operandBatch,
                                 rank)) ||
      failed(verifySorted(op, numbers.dropped)) ||
      failed(verifySorted(op, numbers.operandBatch)) ||
      failed(
          verifyDistinctLists(op, numbers.map, numbers.operandBatch, rank)) ||
      failed(verifyDistinctDims(op, numbers.positionsBatch.name,
                                numbers.positionsBatch.dims,
                                indices.getRank())))
    return failure();
  if (numbers.vectorDim < 0 || numbers.vectorDim > indices.getRank())
    return op->emitOpError("expected 'index_vector_dim' in [0, ")
           << indices.getRank() << "], got " << numbers.vectorDim;
  if (llvm::is_contained(numbers.positionsBatch.dims, numbers.vectorDim))
    return op->emitOpError("expected 'index_vector_dim' apart from '")
           << numbers.positionsBatch.name << "', got " << numbers.vectorDim
           << " in both";
  bool implicit = numbers.vectorDim == indices.getRank();
  size_t components = implicit ? 1 : indices.getDimSize(numbers.vectorDim);
  size_t kept =
      rank - numbers.dropped.dims.size() - numbers.operandBatch.dims.size();
  if (failed(verifyCount(op, numbers.map.name, numbers.map.dims.size(),
                         components)) ||
      failed(verifyCount(op, numbers.window.name, numbers.window.dims.size(),
                         kept)))
    return failure();
  return verifyCount(op, numbers.positionsBatch.name,
                     numbers.positionsBatch.dims.size(),
                     numbers.operandBatch.dims.size());
}

/// Lists, batching sizes, and the other tensor's rank; then `positions` holds
/// the sizes of its dimensions that are no window dimensions.
static LogicalResult verifyIndexing(Operation *op, const IndexingDims &numbers,
                                    RankedTensorType operand,
                                    RankedTensorType indices,
                                    RankedTensorType other,
                                    SmallVectorImpl<int64_t> &positions) {
  if (failed(verifyLists(op, numbers, operand, indices, other)))
    return failure();
  for (auto [o, p] :
       llvm::zip(numbers.operandBatch.dims, numbers.positionsBatch.dims))
    if (operand.getDimSize(o) != indices.getDimSize(p))
      return op->emitOpError("expected batching dimensions ")
             << o << " and " << p << " of one size, got "
             << operand.getDimSize(o) << " and " << indices.getDimSize(p);
  for (auto [dim, size] : llvm::enumerate(indices.getShape()))
    if (static_cast<int64_t>(dim) != numbers.vectorDim)
      positions.push_back(size);
  size_t rank = positions.size() + numbers.window.dims.size();
  if (static_cast<size_t>(other.getRank()) != rank)
    return op->emitOpError("expected ")
           << (isa<GatherOp>(op) ? "a result" : "updates") << " of rank "
           << rank << ", got " << other;
  return success();
}

/// Shape of the other tensor from position sizes and kept window sizes.
static SmallVector<int64_t> mergeShape(ArrayRef<int64_t> positions,
                                       ArrayRef<int64_t> window,
                                       ArrayRef<int64_t> windowDims) {
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, p = 0, w = 0,
               rank = positions.size() + windowDims.size();
       dim < rank; ++dim)
    shape.push_back(llvm::is_contained(windowDims, dim) ? window[w++]
                                                        : positions[p++]);
  return shape;
}

static bool isDropped(const IndexingDims &numbers, int64_t dim) {
  return llvm::is_contained(numbers.dropped.dims, dim) ||
         llvm::is_contained(numbers.operandBatch.dims, dim);
}

LogicalResult GatherOp::verify() {
  GatherDimensionNumbersAttr attr = getDimensionNumbers();
  IndexingDims numbers = {
      {"offset_dims", attr.getOffsetDims()},
      {"collapsed_slice_dims", attr.getCollapsedSliceDims()},
      {"operand_batching_dims", attr.getOperandBatchingDims()},
      {"start_indices_batching_dims", attr.getStartIndicesBatchingDims()},
      {"start_index_map", attr.getStartIndexMap()},
      attr.getIndexVectorDim()};
  RankedTensorType operand = getOperand().getType();
  SmallVector<int64_t> positions, window;
  if (failed(verifyIndexing(*this, numbers, operand,
                            getStartIndices().getType(), getType(),
                            positions)) ||
      failed(verifyCount(*this, "slice_sizes", getSliceSizes().size(),
                         operand.getRank())))
    return failure();
  for (auto [dim, size] : llvm::enumerate(getSliceSizes())) {
    bool dropped = isDropped(numbers, dim);
    int64_t bound = operand.getDimSize(dim);
    if (dropped)
      bound = std::min<int64_t>(bound, 1);
    if (size < 0 || size > bound)
      return emitOpError("expected 'slice_sizes' in [0, ")
             << bound << "] for dim " << dim << ", got " << size;
    if (!dropped)
      window.push_back(size);
  }
  if (!haveSameElement(operand, getType()))
    return emitOpError("expected a result of ")
           << operand.getElementType() << ", got " << getType();
  return verifyShape(*this, "a result", getType(),
                     mergeShape(positions, window, attr.getOffsetDims()));
}

LogicalResult ScatterOp::verify() {
  ScatterDimensionNumbersAttr attr = getScatterDimensionNumbers();
  IndexingDims numbers = {
      {"update_window_dims", attr.getUpdateWindowDims()},
      {"inserted_window_dims", attr.getInsertedWindowDims()},
      {"input_batching_dims", attr.getInputBatchingDims()},
      {"scatter_indices_batching_dims", attr.getScatterIndicesBatchingDims()},
      {"scatter_dims_to_operand_dims", attr.getScatterDimsToOperandDims()},
      attr.getIndexVectorDim()};
  if (getInputs().empty())
    return emitOpError("expected at least 1 input, got 0");
  if (getNumResults() != getInputs().size())
    return emitOpError("expected ")
           << getInputs().size() << " results, got " << getNumResults();
  auto input = cast<RankedTensorType>(getInputs().front().getType());
  auto update = cast<RankedTensorType>(getUpdates().front().getType());
  SmallVector<int64_t> positions, window;
  if (failed(verifyIndexing(*this, numbers, input,
                            getScatterIndices().getType(), update, positions)))
    return failure();
  for (int64_t dim = 0, w = 0; dim < input.getRank(); ++dim) {
    if (isDropped(numbers, dim))
      continue;
    int64_t size = update.getDimSize(attr.getUpdateWindowDims()[w++]);
    if (size > input.getDimSize(dim))
      return emitOpError("expected an update window of at most ")
             << input.getDimSize(dim) << " in dim " << dim << ", got " << size;
    window.push_back(size);
  }
  SmallVector<int64_t> shape =
      mergeShape(positions, window, attr.getUpdateWindowDims());
  SmallVector<Type> elements;
  for (auto [in, up, out] : llvm::zip(
           getInputs().getTypes(), getUpdates().getTypes(), getResultTypes())) {
    if (failed(verifyShape(*this, "an input", in, input.getShape())) ||
        failed(verifyShape(*this, "updates", up, shape)) ||
        failed(verifyShape(*this, "a result", out, input.getShape())))
      return failure();
    if (!haveSameElement(in, up) || !haveSameElement(in, out))
      return emitOpError("expected input, updates and result of one element "
                         "type, got ")
             << in << ", " << up << " and " << out;
    elements.push_back(cast<RankedTensorType>(in).getElementType());
  }
  return verifyScalarFunction(*this, getUpdateComputation(), elements);
}

//===----------------------------------------------------------------------===//
// Boxes at run-time positions
//===----------------------------------------------------------------------===//

/// One start index for each dimension, all of one element type.
static LogicalResult verifyStarts(Operation *op, OperandRange starts,
                                  int64_t rank) {
  if (failed(verifyCount(op, "start_indices", starts.size(), rank)))
    return failure();
  for (Value start : starts)
    if (!haveSameElement(start.getType(), starts.front().getType()))
      return op->emitOpError("expected start indices of one element type, got ")
             << starts.front().getType() << " and " << start.getType();
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (failed(verifyStarts(*this, getStartIndices(), operand.getRank())) ||
      failed(verifyCount(*this, "slice_sizes", getSliceSizes().size(),
                         operand.getRank())))
    return failure();
  for (auto [dim, size] : llvm::enumerate(getSliceSizes()))
    if (size < 0 || size > operand.getDimSize(dim))
      return emitOpError("expected 'slice_sizes' in [0, ")
             << operand.getDimSize(dim) << "] for dim " << dim << ", got "
             << size;
  if (!haveSameElement(operand, getType()))
    return emitOpError("expected a result of ")
           << operand.getElementType() << ", got " << getType();
  return verifyShape(*this, "a result", getType(), getSliceSizes());
}

LogicalResult DynamicUpdateSliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  RankedTensorType update = getUpdate().getType();
  if (failed(verifyStarts(*this, getStartIndices(), operand.getRank())))
    return failure();
  bool fits =
      update.getRank() == operand.getRank() && haveSameElement(operand, update);
  for (int64_t dim = 0; fits && dim < operand.getRank(); ++dim)
    fits = update.getDimSize(dim) <= operand.getDimSize(dim);
  if (!fits)
    return emitOpError("expected an update that fits in ")
           << operand << ", got " << update;
  if (!haveSameElement(operand, getType()))
    return emitOpError("expected a result of ")
           << operand.getElementType() << ", got " << getType();
  return verifyShape(*this, "a result", getType(), operand.getShape());
}
