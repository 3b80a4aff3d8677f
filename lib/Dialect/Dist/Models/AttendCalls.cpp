//===- AttendCalls.cpp - What a library attends to ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.attend %q, %k, %v dims [0, 2, 1, 3], ...
//     ->  batches 8 and 12, row 128, column 128, depth 64, value 64
//
// The first dims are those of the key's batches, then come groups, which key
// and value have no stride along. Tested by
// test/Dialect/Dist/Models/AttendCallsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "LibraryTypes.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Support/StoredElements.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;
using rt::AttentionIndex;
using Kind = rt::AttentionIndexKind;

/// Strides of a buffer along the dims of the list; of all, where there is none.
static SmallVector<int64_t> getStridesOf(RankedTensorType type,
                                         ArrayRef<int64_t> dims = {}) {
  SmallVector<int64_t> memory = getStrides(type), strides;
  for (int64_t dim : dims)
    strides.push_back(memory[dim]);
  return dims.empty() ? memory : strides;
}

namespace {
/// Which strides of an index a buffer's dims give.
using Stride = int64_t AttentionIndex::*;

/// The indices of a call, in the order batches, groups, row, column, depth,
/// value.
class Indices {
public:
  template <typename Op> explicit Indices(Op op) {
    RankedTensorType query = op.getQuery().getType();
    RankedTensorType key = op.getKey().getType();
    ArrayRef<int64_t> queryDims = op.getQueryDims(), keyDims = op.getKeyDims();
    batches = key.getRank() - 2;
    rows = query.getRank() - 1;
    for (int64_t dim = 0; dim < rows; ++dim)
      list.push_back({dim + 1 < rows ? Kind::batch : Kind::row,
                      query.getDimSize(queryDims[dim])});
    list.push_back({Kind::column, key.getDimSize(keyDims[batches])});
    list.push_back({Kind::depth, key.getDimSize(keyDims[batches + 1])});
    list.push_back({Kind::value, op.getValue().getType().getDimSize(
                                     op.getValueDims()[batches + 1])});
  }

  /// [batches, groups, row, last].
  void setRows(Stride stride, ArrayRef<int64_t> strides, Kind last) {
    for (int64_t dim = 0; dim < rows; ++dim)
      list[dim].*stride = strides[dim];
    if (strides.size() > static_cast<size_t>(rows))
      at(last).*stride = strides[rows];
  }
  /// [batches, column, last].
  void setColumns(Stride stride, ArrayRef<int64_t> strides, Kind last) {
    for (int64_t dim = 0; dim < batches; ++dim)
      list[dim].*stride = strides[dim];
    at(Kind::column).*stride = strides[batches];
    at(last).*stride = strides[batches + 1];
  }
  /// As the scores; no stride along dims of size 1.
  void setBias(RankedTensorType type) {
    SmallVector<int64_t> strides = getStridesOf(type);
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      strides[dim] = size == 1 ? 0 : strides[dim];
    setRows(&AttentionIndex::strideBias, strides, Kind::column);
  }

  std::vector<AttentionIndex> list;

private:
  AttentionIndex &at(Kind kind) {
    return *llvm::find_if(
        list, [=](const AttentionIndex &index) { return index.kind == kind; });
  }
  int64_t batches, rows;
};

/// What forward and gradient have in common.
template <typename Op>
FailureOr<rt::AttentionShape> describeAttention(Op op, RankedTensorType rows) {
  auto typeOf = [](RankedTensorType type) {
    return getRuntimeDType(type.getElementType());
  };
  rt::AttentionShape shape;
  std::optional<rt::DType> dtype = typeOf(op.getQuery().getType()),
                           accumulate = typeOf(rows), bias = rt::DType::f32;
  if (op.getBias())
    bias = typeOf(op.getBias().getType());
  if (!dtype || !accumulate || !bias)
    return op.emitOpError() << "expected elements that the runtime stores, got "
                            << op.getQuery().getType() << " and " << rows;
  shape.dtype = *dtype;
  shape.accumulate = *accumulate;
  shape.hasBias = static_cast<bool>(op.getBias());
  shape.bias = *bias;
  shape.scale = op.getScale().convertToDouble();
  shape.isCausal = op.getCausal().has_value();
  shape.shift = op.getCausal().value_or(0);
  shape.isSafe = op.getSafe();
  shape.hasOffset = static_cast<bool>(op.getOffset());
  if (op.getDropout())
    shape.dropout = op.getDropout()->getValue();
  return shape;
}

template <typename Op>
Indices getAttentionIndices(Op op, RankedTensorType rows) {
  Indices indices(op);
  indices.setRows(&AttentionIndex::strideQ,
                  getStridesOf(op.getQuery().getType(), op.getQueryDims()),
                  Kind::depth);
  indices.setColumns(&AttentionIndex::strideK,
                     getStridesOf(op.getKey().getType(), op.getKeyDims()),
                     Kind::depth);
  indices.setColumns(&AttentionIndex::strideV,
                     getStridesOf(op.getValue().getType(), op.getValueDims()),
                     Kind::value);
  indices.setRows(&AttentionIndex::strideRows, getStridesOf(rows),
                  Kind::column);
  if (op.getBias())
    indices.setBias(op.getBias().getType());
  if (op.getBitStrides())
    indices.setRows(&AttentionIndex::strideBits, *op.getBitStrides(),
                    Kind::column);
  return indices;
}

SmallVector<int64_t> permuted(ArrayRef<int64_t> dims,
                              ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(dims,
                             [&](int64_t dim) { return permutation[dim]; });
}

/// Whether `operand` is query, key or value, whose list is permuted then.
template <typename Op>
bool readSidePermuted(Op op, unsigned operand, ArrayRef<int64_t> permutation) {
  if (operand == 0)
    op.setQueryDims(permuted(op.getQueryDims(), permutation));
  else if (operand == 1)
    op.setKeyDims(permuted(op.getKeyDims(), permutation));
  else if (operand == 2)
    op.setValueDims(permuted(op.getValueDims(), permutation));
  return operand < 3;
}

template <typename Op> void addMasks(Op op, SmallVector<Value> &buffers) {
  for (Value mask :
       {Value(op.getBias()), Value(op.getOffset()), Value(op.getState())})
    if (mask)
      buffers.push_back(mask);
}

struct AttendModel
    : graph::LibraryCallOpInterface::ExternalModel<AttendModel, AttendOp> {
  FailureOr<rt::LibraryDescriptor> getDescriptor(Operation *of) const {
    auto op = cast<AttendOp>(of);
    RankedTensorType rows = op.getLogsumexp().getType();
    FailureOr<rt::AttentionShape> shape = describeAttention(op, rows);
    if (failed(shape))
      return failure();
    Indices indices = getAttentionIndices(op, rows);
    indices.setRows(&AttentionIndex::strideOut,
                    getStridesOf(op.getResult().getType()), Kind::value);
    shape->indices = std::move(indices.list);
    return rt::LibraryDescriptor(std::move(*shape));
  }
  SmallVector<Value> getBuffers(Operation *of) const {
    auto op = cast<AttendOp>(of);
    SmallVector<Value> buffers = {op.getQuery(), op.getKey(), op.getValue()};
    addMasks(op, buffers);
    buffers.append({op.getResult(), op.getLogsumexp()});
    return buffers;
  }
  SmallVector<std::pair<int64_t, int64_t>> getTiedPairs(Operation *) const {
    return {};
  }
  bool readPermuted(Operation *of, unsigned operand,
                    ArrayRef<int64_t> permutation) const {
    return readSidePermuted(cast<AttendOp>(of), operand, permutation);
  }
};

struct AttendGradModel
    : graph::LibraryCallOpInterface::ExternalModel<AttendGradModel,
                                                   AttendGradOp> {
  FailureOr<rt::LibraryDescriptor> getDescriptor(Operation *of) const {
    auto op = cast<AttendGradOp>(of);
    RankedTensorType rows = op.getLogsumexp().getType();
    FailureOr<rt::AttentionShape> shape = describeAttention(op, rows);
    if (failed(shape))
      return failure();
    shape->isGradient = true;
    Indices indices = getAttentionIndices(op, rows);
    indices.setRows(
        &AttentionIndex::strideOut,
        getStridesOf(op.getCotangent().getType(), op.getCotangentDims()),
        Kind::value);
    indices.setRows(&AttentionIndex::strideDq,
                    getStridesOf(op.getDquery().getType()), Kind::depth);
    indices.setColumns(&AttentionIndex::strideDk,
                       getStridesOf(op.getDkey().getType()), Kind::depth);
    indices.setColumns(&AttentionIndex::strideDv,
                       getStridesOf(op.getDvalue().getType()), Kind::value);
    shape->indices = std::move(indices.list);
    return rt::LibraryDescriptor(std::move(*shape));
  }
  SmallVector<Value> getBuffers(Operation *of) const {
    auto op = cast<AttendGradOp>(of);
    SmallVector<Value> buffers = {op.getQuery(), op.getKey(), op.getValue()};
    addMasks(op, buffers);
    buffers.append({op.getLogsumexp(), op.getDelta(), op.getCotangent(),
                    op.getDquery(), op.getDkey(), op.getDvalue()});
    return buffers;
  }
  SmallVector<std::pair<int64_t, int64_t>> getTiedPairs(Operation *) const {
    return {};
  }
  bool readPermuted(Operation *of, unsigned operand,
                    ArrayRef<int64_t> permutation) const {
    auto op = cast<AttendGradOp>(of);
    if (operand == 5)
      op.setCotangentDims(permuted(op.getCotangentDims(), permutation));
    return operand == 5 || readSidePermuted(op, operand, permutation);
  }
};
} // namespace

void dist::registerAttendCallModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    AttendOp::attachInterface<AttendModel>(*context);
    AttendGradOp::attachInterface<AttendGradModel>(*context);
  });
}
