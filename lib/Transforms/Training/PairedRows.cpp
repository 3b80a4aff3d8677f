//===- PairedRows.cpp - Positions that count along the indices ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PairedRows.h. Test: test/Transforms/Training/normalize-rows.mlir
//
//===----------------------------------------------------------------------===//

#include "PairedRows.h"
#include "RowView.h"

using namespace mlir;
using namespace llmc;

namespace {
/// What gather and scatter say alike of their operand and indices.
struct Positions {
  ArrayRef<int64_t> operand;
  Value indices;
  SmallVector<int64_t> dropped, operandBatch, indicesBatch, map;
  int64_t vectorDim;

  /// Turns what counts into batching dims; false where nothing does.
  bool pair(OpBuilder &builder);

private:
  std::optional<int64_t> findRows(Value piece, int64_t dim) const;
  void addBatch(int64_t dim, int64_t rows);
};
} // namespace

/// The dim of the indices along which `piece` counts all of the operand's dim.
std::optional<int64_t> Positions::findRows(Value piece, int64_t dim) const {
  ArrayRef<int64_t> shape = training::getShape(piece);
  if (!llvm::is_contained(dropped, dim))
    return std::nullopt;
  for (int64_t rows = 0; rows < static_cast<int64_t>(shape.size()); ++rows)
    if (rows != vectorDim && shape[rows] == operand[dim] && shape[rows] > 1 &&
        !llvm::is_contained(indicesBatch, rows) &&
        training::countsAlong(piece, rows))
      return rows;
  return std::nullopt;
}

/// The operand's batching dims are listed in their order.
void Positions::addBatch(int64_t dim, int64_t rows) {
  llvm::erase(dropped, dim);
  auto place = llvm::lower_bound(operandBatch, dim);
  indicesBatch.insert(indicesBatch.begin() + (place - operandBatch.begin()),
                      rows);
  operandBatch.insert(place, dim);
}

bool Positions::pair(OpBuilder &builder) {
  auto pieces = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  if (!pieces || static_cast<int64_t>(pieces.getDimension()) != vectorDim ||
      pieces.getInputs().size() != map.size() || !llvm::is_sorted(operandBatch))
    return false;
  SmallVector<Value> kept;
  SmallVector<int64_t> places;
  size_t count = map.size();
  for (auto [piece, dim] : llvm::zip_equal(pieces.getInputs(), map)) {
    bool isLast = --count == 0 && kept.empty();
    std::optional<int64_t> rows = isLast ? std::nullopt : findRows(piece, dim);
    if (rows) {
      addBatch(dim, *rows);
      continue;
    }
    kept.push_back(piece);
    places.push_back(dim);
  }
  if (places.size() == map.size())
    return false;
  map = places;
  indices = kept.size() == 1 ? kept.front()
                             : stablehlo::concatenate(builder, indices.getLoc(),
                                                      kept, vectorDim);
  return true;
}

void training::pairRows(stablehlo::GatherOp gather) {
  stablehlo::GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  Positions positions{getShape(gather.getOperand()),
                      gather.getStartIndices(),
                      llvm::to_vector(dims.getCollapsedSliceDims()),
                      llvm::to_vector(dims.getOperandBatchingDims()),
                      llvm::to_vector(dims.getStartIndicesBatchingDims()),
                      llvm::to_vector(dims.getStartIndexMap()),
                      dims.getIndexVectorDim()};
  OpBuilder builder(gather);
  if (!positions.pair(builder))
    return;
  gather.getStartIndicesMutable().assign(positions.indices);
  gather.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(
      gather.getContext(), dims.getOffsetDims(), positions.dropped,
      positions.operandBatch, positions.indicesBatch, positions.map,
      positions.vectorDim));
  // They were sorted by what is no position any more.
  gather.setIndicesAreSorted(false);
}

void training::pairRows(stablehlo::ScatterOp scatter) {
  stablehlo::ScatterDimensionNumbersAttr dims =
      scatter.getScatterDimensionNumbers();
  Positions positions{getShape(scatter.getInputs().front()),
                      scatter.getScatterIndices(),
                      llvm::to_vector(dims.getInsertedWindowDims()),
                      llvm::to_vector(dims.getInputBatchingDims()),
                      llvm::to_vector(dims.getScatterIndicesBatchingDims()),
                      llvm::to_vector(dims.getScatterDimsToOperandDims()),
                      dims.getIndexVectorDim()};
  OpBuilder builder(scatter);
  if (!positions.pair(builder))
    return;
  scatter.getScatterIndicesMutable().assign(positions.indices);
  scatter.setScatterDimensionNumbersAttr(
      stablehlo::ScatterDimensionNumbersAttr::get(
          scatter.getContext(), dims.getUpdateWindowDims(), positions.dropped,
          positions.operandBatch, positions.indicesBatch, positions.map,
          positions.vectorDim));
  scatter.setIndicesAreSorted(false);
}
