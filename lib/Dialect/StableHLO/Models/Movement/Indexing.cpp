//===- Indexing.cpp - Addresses at run-time positions ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Indexing.h. Test: test/Dialect/StableHLO/Models/IndexingTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Indexing.h"
#include "../Movement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

int64_t stablehlo::readIndex(const HostTensor &tensor, int64_t i) {
  int64_t value = tensor.getInt(i);
  bool isTooLarge = tensor.isUnsigned() && value < 0;
  return isTooLarge ? std::numeric_limits<int64_t>::max() : value;
}

Value stablehlo::emitIndex(ElementCall &call, Value operand, unsigned number,
                           ValueRange at) {
  Type element = typeOf(operand).getElementType();
  Type index = call.builder.getIndexType();
  Value value = call.source(number, at);
  if (element.isUnsignedInteger(64)) {
    // An index is signed; what it cannot hold lies beyond any dimension.
    Value greatest = arith::ConstantOp::create(
        call.builder, call.loc,
        call.builder.getI64IntegerAttr(std::numeric_limits<int64_t>::max()));
    value = arith::MinUIOp::create(call.builder, call.loc, value, greatest);
  }
  if (element.isUnsignedInteger())
    return arith::IndexCastUIOp::create(call.builder, call.loc, index, value);
  return arith::IndexCastOp::create(call.builder, call.loc, index, value);
}

Value stablehlo::emitClamped(ElementCall &call, Value index, int64_t last) {
  OpBuilder &b = call.builder;
  Value zero = arith::ConstantIndexOp::create(b, call.loc, 0);
  Value limit = arith::ConstantIndexOp::create(b, call.loc, last);
  index = arith::MaxSIOp::create(b, call.loc, index, zero);
  return arith::MinSIOp::create(b, call.loc, index, limit);
}

void Addressing::complete() {
  for (int64_t d = 0; d < operand.getRank(); ++d)
    if (!llvm::is_contained(dropped, d) && !llvm::is_contained(operandBatch, d))
      windowOfOperand.push_back(d);
  for (int64_t d = 0; d < other.getRank(); ++d)
    if (!llvm::is_contained(window, d))
      positions.push_back(d);
  for (int64_t d = 0; d < indices.getRank(); ++d)
    if (d != vectorDim)
      positionsOfIndices.push_back(d);
}

Addressing Addressing::of(GatherOp op) {
  GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  Addressing result;
  result.operand = typeOf(op.getOperand());
  result.indices = typeOf(op.getStartIndices());
  result.other = op.getType();
  result.window.assign(dims.getOffsetDims().begin(),
                       dims.getOffsetDims().end());
  llvm::append_range(result.dropped, dims.getCollapsedSliceDims());
  llvm::append_range(result.operandBatch, dims.getOperandBatchingDims());
  llvm::append_range(result.indicesBatch, dims.getStartIndicesBatchingDims());
  llvm::append_range(result.map, dims.getStartIndexMap());
  result.vectorDim = dims.getIndexVectorDim();
  result.complete();
  return result;
}

Addressing Addressing::of(ScatterOp op) {
  ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  Addressing result;
  result.operand = typeOf(op.getInputs().front());
  result.indices = typeOf(op.getScatterIndices());
  result.other = typeOf(op.getUpdates().front());
  llvm::append_range(result.window, dims.getUpdateWindowDims());
  llvm::append_range(result.dropped, dims.getInsertedWindowDims());
  llvm::append_range(result.operandBatch, dims.getInputBatchingDims());
  llvm::append_range(result.indicesBatch, dims.getScatterIndicesBatchingDims());
  llvm::append_range(result.map, dims.getScatterDimsToOperandDims());
  result.vectorDim = dims.getIndexVectorDim();
  result.complete();
  return result;
}

int64_t Addressing::getWindowSize(int64_t d) const {
  const int64_t *place = llvm::find(windowOfOperand, d);
  if (place == windowOfOperand.end())
    return std::min<int64_t>(operand.getDimSize(d), 1);
  return other.getDimSize(window[place - windowOfOperand.begin()]);
}

void Addressing::resolve(const HostTensor &indexValues, ArrayRef<int64_t> index,
                         bool clamp, SmallVectorImpl<int64_t> &from) const {
  from.assign(operand.getRank(), 0);
  SmallVector<int64_t> strides = indexValues.getStrides();
  int64_t base = 0;
  for (auto [p, i] : llvm::zip(positions, positionsOfIndices))
    base += index[p] * strides[i];
  int64_t step = vectorDim < indices.getRank() ? strides[vectorDim] : 0;
  for (auto [k, d] : llvm::enumerate(map)) {
    int64_t start = readIndex(indexValues, base + k * step);
    from[d] = clamp ? std::clamp<int64_t>(start, 0, getLastStart(d)) : start;
  }
  for (auto [o, i] : llvm::zip(operandBatch, indicesBatch)) {
    size_t place =
        llvm::find(positionsOfIndices, i) - positionsOfIndices.begin();
    from[o] = index[positions[place]];
  }
  // Past the greatest number lies what is outside as well.
  for (auto [w, d] : llvm::zip(window, windowOfOperand))
    from[d] = static_cast<int64_t>(static_cast<uint64_t>(from[d]) + index[w]);
}

SmallVector<Value> Addressing::emitAddress(ElementCall &call, Value indexTensor,
                                           unsigned number, bool clamp) const {
  OpBuilder &b = call.builder;
  Value zero = arith::ConstantIndexOp::create(b, call.loc, 0);
  SmallVector<Value> from(operand.getRank(), zero);
  SmallVector<Value> at(indices.getRank());
  for (auto [p, i] : llvm::zip(positions, positionsOfIndices))
    at[i] = call.indices[p];
  for (auto [k, d] : llvm::enumerate(map)) {
    if (vectorDim < indices.getRank())
      at[vectorDim] = arith::ConstantIndexOp::create(b, call.loc, k);
    Value start = emitIndex(call, indexTensor, number, at);
    from[d] = clamp ? emitClamped(call, start, getLastStart(d)) : start;
  }
  for (auto [o, i] : llvm::zip(operandBatch, indicesBatch))
    from[o] = at[i];
  for (auto [w, d] : llvm::zip(window, windowOfOperand))
    from[d] = from[d] == zero
                  ? call.indices[w]
                  : arith::AddIOp::create(b, call.loc, from[d], call.indices[w])
                        .getResult();
  return from;
}
