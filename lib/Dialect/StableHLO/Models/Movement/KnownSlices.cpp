//===- KnownSlices.cpp - Boxes whose positions are known ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dynamic_slice %x, 2, sizes = [1]          ->  slice %x [2:3]
//   dynamic_update_slice %x, %row, 2          ->  concatenate %x[0:2], %row,
//                                                             %x[3:n]
//   slice (concatenate %a, %b), inside of %b  ->  slice %b, or %b
//   slice (slice %x), reshape (reshape %x)    ->  one of them
//   slice (iota) [2:3]                        ->  constant 2
//   concatenate %a, %x[0:0], %b               ->  concatenate %a, %b
//
// A loop that writes one row after another thus leaves one concatenation of the
// rows, and who reads a row reads what was written. Its derivative is one slice
// for each row; that of updates in a chain would copy the whole for each.
//
// Test: test/Import/StableHLO/known-slices.mlir
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "Indexing.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include <algorithm>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {
/// A box of a value, each element of it.
struct Box {
  Value from;
  SmallVector<int64_t> starts, sizes;

  static Box whole(Value value) {
    RankedTensorType type = getTensorType(value);
    return {value, SmallVector<int64_t>(type.getRank(), 0),
            SmallVector<int64_t>(type.getShape())};
  }
  /// The part of this one from `start` on along a dimension.
  Box take(int64_t dim, int64_t start, int64_t size) const {
    Box part = *this;
    part.starts[dim] += start;
    part.sizes[dim] = size;
    return part;
  }
  bool isWhole() const {
    return ArrayRef<int64_t>(sizes) == getTensorType(from).getShape();
  }
  /// One place of a sequence: all elements are its number.
  std::optional<int64_t> getNumber() const {
    auto iota = from.getDefiningOp<IotaOp>();
    if (!iota || sizes[iota.getIotaDimension()] != 1)
      return std::nullopt;
    return starts[iota.getIotaDimension()];
  }

  /// Moves to where its elements come from; whether it did.
  bool moveUp();
  Value build(OpBuilder &builder, Location loc) const;

private:
  bool moveThrough(SliceOp slice);
  bool moveThrough(ConcatenateOp join);
};
} // namespace

bool Box::moveThrough(SliceOp slice) {
  if (llvm::any_of(slice.getStrides(), [](int64_t s) { return s != 1; }))
    return false;
  for (auto [start, more] : llvm::zip_equal(starts, slice.getStartIndices()))
    start += more;
  from = slice.getOperand();
  return true;
}

/// Only where it lies in one of the operands.
bool Box::moveThrough(ConcatenateOp join) {
  int64_t dim = join.getDimension(), begin = 0;
  for (Value input : join.getInputs()) {
    int64_t size = getTensorType(input).getDimSize(dim);
    if (starts[dim] >= begin && starts[dim] + sizes[dim] <= begin + size) {
      starts[dim] -= begin;
      from = input;
      return true;
    }
    begin += size;
  }
  return false;
}

bool Box::moveUp() {
  bool moved = false;
  while (Operation *op = from.getDefiningOp()) {
    auto slice = dyn_cast<SliceOp>(op);
    auto join = dyn_cast<ConcatenateOp>(op);
    if (slice ? !moveThrough(slice) : !join || !moveThrough(join))
      break;
    moved = true;
  }
  return moved;
}

Value Box::build(OpBuilder &builder, Location loc) const {
  if (std::optional<int64_t> number = getNumber())
    return constantSplat(builder, loc, getTensorType(from).clone(sizes),
                         *number);
  if (isWhole())
    return from;
  SmallVector<int64_t> limits;
  for (auto [start, size] : llvm::zip_equal(starts, sizes))
    limits.push_back(start + size);
  return slice(builder, loc, from, starts, limits);
}

/// The box at a start that is known, moved so that it fits; nothing where the
/// start is not known.
static std::optional<Box> getKnownBox(Value from, ValueRange starts,
                                      ArrayRef<int64_t> sizes) {
  Box box = Box::whole(from);
  for (auto [d, value] : llvm::enumerate(starts)) {
    std::optional<HostTensor> start = getConstant(value);
    int64_t last = box.sizes[d] - sizes[d];
    // What can only start at 0 starts there.
    if (!start && last != 0)
      return std::nullopt;
    box.starts[d] =
        start ? std::clamp<int64_t>(readIndex(*start, 0), 0, last) : 0;
  }
  box.sizes.assign(sizes.begin(), sizes.end());
  return box;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Appends what a box consists of along a dimension: operands of a
/// concatenation, or one slice.
static void appendPieces(OpBuilder &builder, Location loc, Box box, int64_t dim,
                         SmallVectorImpl<Value> &pieces) {
  if (box.sizes[dim] == 0)
    return;
  box.moveUp();
  auto join = box.from.getDefiningOp<ConcatenateOp>();
  if (!join || static_cast<int64_t>(join.getDimension()) != dim) {
    pieces.push_back(box.build(builder, loc));
    return;
  }
  int64_t begin = 0, first = box.starts[dim], last = first + box.sizes[dim];
  for (Value input : join.getInputs()) {
    int64_t end = begin + getTensorType(input).getDimSize(dim);
    int64_t from = std::max(first, begin), to = std::min(last, end);
    if (from < to) {
      Box part = box;
      part.from = input;
      part.starts[dim] = from - begin;
      part.sizes[dim] = to - from;
      part.moveUp();
      pieces.push_back(part.build(builder, loc));
    }
    begin = end;
  }
}

Value stablehlo::reshapeUpdate(OpBuilder &builder, Location loc, Value update,
                               ArrayRef<int64_t> shape) {
  auto broadcast = update.getDefiningOp<BroadcastInDimOp>();
  bool isReshape = broadcast &&
                   llvm::is_sorted(broadcast.getBroadcastDimensions()) &&
                   getTensorType(broadcast.getOperand()).getNumElements() ==
                       getTensorType(update).getNumElements();
  return reshape(builder, loc, isReshape ? broadcast.getOperand() : update,
                 shape);
}

/// `box`, which `update` lies in at `starts`, with the update in its place: cut
/// along the first dimension that the update does not fill.
static Value buildUpdate(OpBuilder &builder, Location loc, const Box &box,
                         Value update, ArrayRef<int64_t> starts, int64_t dim) {
  ArrayRef<int64_t> sizes = getTensorType(update).getShape();
  int64_t rank = sizes.size();
  while (dim < rank && sizes[dim] == box.sizes[dim])
    ++dim;
  if (dim == rank)
    return reshapeUpdate(builder, loc, update, sizes);
  int64_t start = starts[dim], end = start + sizes[dim];
  SmallVector<Value> pieces;
  appendPieces(builder, loc, box.take(dim, 0, start), dim, pieces);
  pieces.push_back(buildUpdate(builder, loc, box.take(dim, start, sizes[dim]),
                               update, starts, dim + 1));
  appendPieces(builder, loc, box.take(dim, end, box.sizes[dim] - end), dim,
               pieces);
  return concatenate(builder, loc, pieces, dim);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
template <typename Model, typename Known>
using Simplification = SimplificationOpInterface::ExternalModel<Model, Known>;

struct KnownDynamicSlice : Simplification<KnownDynamicSlice, DynamicSliceOp> {
  bool simplify(Operation *op, OpBuilder &builder,
                SmallVectorImpl<Value> &results) const {
    auto slice = cast<DynamicSliceOp>(op);
    std::optional<Box> box = getKnownBox(
        slice.getOperand(), slice.getStartIndices(), slice.getSliceSizes());
    if (!box)
      return false;
    box->moveUp();
    results.push_back(box->build(builder, op->getLoc()));
    return true;
  }
};

struct KnownDynamicUpdateSlice
    : Simplification<KnownDynamicUpdateSlice, DynamicUpdateSliceOp> {
  bool simplify(Operation *op, OpBuilder &builder,
                SmallVectorImpl<Value> &results) const {
    auto write = cast<DynamicUpdateSliceOp>(op);
    Value update = write.getUpdate();
    std::optional<Box> box =
        getKnownBox(write.getOperand(), write.getStartIndices(),
                    getTensorType(update).getShape());
    // An empty update writes nothing.
    if (!box || getTensorType(update).getNumElements() == 0)
      return false;
    results.push_back(buildUpdate(builder, op->getLoc(),
                                  Box::whole(write.getOperand()), update,
                                  box->starts, 0));
    return true;
  }
};

struct KnownSlice : Simplification<KnownSlice, SliceOp> {
  bool simplify(Operation *op, OpBuilder &builder,
                SmallVectorImpl<Value> &results) const {
    auto slice = cast<SliceOp>(op);
    Box box{slice.getOperand(), llvm::to_vector(slice.getStartIndices()),
            llvm::to_vector(slice.getType().getShape())};
    bool isDense =
        llvm::all_of(slice.getStrides(), [](int64_t s) { return s == 1; });
    if (!isDense || (!box.moveUp() && !box.getNumber()))
      return false;
    results.push_back(box.build(builder, op->getLoc()));
    return true;
  }
};

struct KnownReshape : Simplification<KnownReshape, ReshapeOp> {
  bool simplify(Operation *op, OpBuilder &builder,
                SmallVectorImpl<Value> &results) const {
    auto inner = op->getOperand(0).getDefiningOp<ReshapeOp>();
    if (!inner)
      return false;
    results.push_back(reshape(builder, op->getLoc(), inner.getOperand(),
                              cast<ReshapeOp>(op).getType().getShape()));
    return true;
  }
};

/// Pieces without elements are left out.
struct KnownConcatenate : Simplification<KnownConcatenate, ConcatenateOp> {
  bool simplify(Operation *op, OpBuilder &builder,
                SmallVectorImpl<Value> &results) const {
    int64_t dim = cast<ConcatenateOp>(op).getDimension();
    SmallVector<Value> pieces =
        llvm::filter_to_vector(op->getOperands(), [&](Value piece) {
          return getTensorType(piece).getDimSize(dim) != 0;
        });
    if (pieces.empty() || pieces.size() == op->getNumOperands())
      return false;
    results.push_back(pieces.size() == 1
                          ? pieces.front()
                          : concatenate(builder, op->getLoc(), pieces, dim));
    return true;
  }
};
} // namespace

void stablehlo::registerKnownSlices(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    DynamicSliceOp::attachInterface<KnownDynamicSlice>(*context);
    DynamicUpdateSliceOp::attachInterface<KnownDynamicUpdateSlice>(*context);
    SliceOp::attachInterface<KnownSlice>(*context);
    ConcatenateOp::attachInterface<KnownConcatenate>(*context);
    ReshapeOp::attachInterface<KnownReshape>(*context);
  });
}
