//===- RotaryPatterns.cpp - Rotary embeddings in a graph ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   a, b   = the halves of the last dim
//   rotary = x * cos + concatenate(-b, a) * sin
//          | concatenate(a * cos - b * sin, b * cos + a * sin)
//
// The second form may turn some elements of the last dim alone: the rest is
// another piece of the concatenation. Tables repeat along any dims. Pairs that
// lie side by side stay as they are: one kernel of such rows is slower.
//
// Test: test/Transforms/Training/raise-rotary.mlir
//===----------------------------------------------------------------------===//

#include "RotaryPatterns.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;
using stablehlo::RowView;
namespace hlo = llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Pieces of the last dim
//===----------------------------------------------------------------------===//

namespace {
/// Elements of the last dim of `whole`, from `begin` on.
struct Piece {
  Value whole;
  int64_t begin = 0, size = 0;
};

/// Two tensors as one with twice the last dim.
struct Join {
  Value first, second;
};
} // namespace

static bool hasFullDims(stablehlo::SliceOp slice) {
  ArrayRef<int64_t> shape = getShape(slice.getOperand());
  return ArrayRef(getShape(slice.getResult())).drop_back() == shape.drop_back();
}

static std::optional<Piece> matchPiece(Value value) {
  auto slice = value.getDefiningOp<stablehlo::SliceOp>();
  if (!slice || getShape(value).empty() || !hasFullDims(slice) ||
      slice.getStrides().back() != 1)
    return std::nullopt;
  return Piece{slice.getOperand(), slice.getStartIndices().back(),
               getShape(value).back()};
}

/// b follows a.
static bool arePair(const Piece &a, const Piece &b) {
  return a.whole == b.whole && a.size == b.size && b.begin == a.begin + a.size;
}

/// Pieces `number` and the next one of a concatenation along the last dim.
static std::optional<Join> matchPieces(stablehlo::ConcatenateOp op,
                                       unsigned number) {
  int64_t last = getShape(op.getResult()).size() - 1;
  if (static_cast<int64_t>(op.getDimension()) != last ||
      number + 1 >= op.getInputs().size())
    return std::nullopt;
  Join join{op.getInputs()[number], op.getInputs()[number + 1]};
  return getShape(join.first) == getShape(join.second) ? std::optional(join)
                                                       : std::nullopt;
}

static std::optional<Join> matchJoin(Value value) {
  auto pieces = value.getDefiningOp<stablehlo::ConcatenateOp>();
  return pieces && pieces.getInputs().size() == 2 ? matchPieces(pieces, 0)
                                                  : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

namespace {
/// `x` times a table, as an operand of a sum or difference.
struct Product {
  Value x, table;
};

struct Rotation {
  /// What is turned, and where its pairs begin in the last dim.
  Value whole;
  int64_t begin = 0, size = 0;
  Value cosine, sine;
};
} // namespace

static bool areSame(Value table, Value other) {
  RowView a = RowView::of(table).peel(), b = RowView::of(other).peel();
  return a.value == b.value && a.dims == b.dims;
}

/// Calls `match` with the factors of a product in both orders until it holds.
static bool matchFactors(Value value,
                         llvm::function_ref<bool(const Product &)> match) {
  auto product = value.getDefiningOp<stablehlo::MulOp>();
  return product && (match({product.getLhs(), product.getRhs()}) ||
                     match({product.getRhs(), product.getLhs()}));
}

/// x * cos + join(-b, a) * sin; `reason` where the halves are not of x.
static std::optional<Rotation> matchTurned(Value scaled, Value added,
                                           StringRef &reason) {
  Rotation result;
  bool isFound = matchFactors(added, [&](const Product &turned) {
    std::optional<Join> join = matchJoin(turned.x);
    auto negative = join ? join->first.getDefiningOp<stablehlo::NegOp>()
                         : stablehlo::NegOp();
    std::optional<Piece> b =
        negative ? matchPiece(negative.getOperand()) : std::nullopt;
    std::optional<Piece> a = b ? matchPiece(join->second) : std::nullopt;
    if (!a || !arePair(*a, *b) || a->begin != 0 ||
        getShape(a->whole) != getShape(turned.x))
      return false;
    result = {a->whole, 0, 2 * a->size, Value(), turned.table};
    return true;
  });
  if (!isFound)
    return std::nullopt;
  if (matchFactors(scaled, [&](const Product &product) {
        result.cosine = product.table;
        return product.x == result.whole;
      }))
    return result;
  reason = "what is scaled is not what is turned";
  return std::nullopt;
}

/// a * cos - b * sin and b * cos + a * sin, joined.
static std::optional<Rotation> matchJoined(const Join &join,
                                           StringRef &reason) {
  auto difference = join.first.getDefiningOp<stablehlo::SubtractOp>();
  auto sum = join.second.getDefiningOp<stablehlo::AddOp>();
  if (!difference || !sum)
    return std::nullopt;
  Product a, b;
  auto takePieces = [&](Product &to) {
    return [&](const Product &product) {
      to = product;
      return matchPiece(product.x).has_value();
    };
  };
  if (!matchFactors(difference.getLhs(), takePieces(a)) ||
      !matchFactors(difference.getRhs(), takePieces(b)) ||
      !arePair(*matchPiece(a.x), *matchPiece(b.x)))
    return std::nullopt;
  auto isProductOf = [](Value value, Value x, Value table) {
    return matchFactors(value, [&](const Product &product) {
      return product.x == x && areSame(product.table, table);
    });
  };
  for (unsigned i : {0u, 1u}) {
    if (!isProductOf(sum->getOperand(i), b.x, a.table) ||
        !isProductOf(sum->getOperand(1 - i), a.x, b.table))
      continue;
    Piece piece = *matchPiece(a.x);
    return Rotation{piece.whole, piece.begin, 2 * piece.size, a.table, b.table};
  }
  reason = "the second of a pair is not turned as the first";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Raising
//===----------------------------------------------------------------------===//

static Value makeAlike(OpBuilder &builder, Operation *function, Value x) {
  Location loc = function->getLoc();
  if (isa<stablehlo::CosineOp>(function))
    return hlo::cosine(builder, loc, x);
  if (isa<stablehlo::SineOp>(function))
    return hlo::sine(builder, loc, x);
  if (isa<stablehlo::ConvertOp>(function))
    return hlo::convertTo(builder, loc, x,
                          getElementTypeOrSelf(function->getResult(0)));
  Attribute factor = hlo::getSplatElement(function->getOperand(1));
  auto type = cast<RankedTensorType>(x.getType());
  return hlo::mul(builder, loc, x,
                  stablehlo::ConstantOp::create(
                      builder, loc, DenseElementsAttr::get(type, factor)));
}

/// The first half along `dim` of a table that has each number twice, since it
/// is a function of angles beside themselves. Null for any other table.
static Value makeFirstHalf(OpBuilder &builder, Value table, int64_t dim) {
  SmallVector<Operation *> functions;
  Operation *op = table.getDefiningOp();
  for (; op && !isa<stablehlo::ConcatenateOp>(op);
       op = op->getOperand(0).getDefiningOp()) {
    bool isScaled =
        isa<stablehlo::MulOp>(op) && hlo::getSplatElement(op->getOperand(1));
    if (!isScaled &&
        !isa<stablehlo::CosineOp, stablehlo::SineOp, stablehlo::ConvertOp>(op))
      return Value();
    functions.push_back(op);
  }
  auto pieces = dyn_cast_or_null<stablehlo::ConcatenateOp>(op);
  if (!pieces || static_cast<int64_t>(pieces.getDimension()) != dim ||
      pieces.getInputs().size() != 2 ||
      pieces.getInputs()[0] != pieces.getInputs()[1])
    return Value();
  Value half = pieces.getInputs()[0];
  for (Operation *function : llvm::reverse(functions))
    half = makeAlike(builder, function, half);
  return half;
}

/// Tables that have each number twice, as those of one number for each pair.
static void halveTables(OpBuilder &builder, RowView &cosine, RowView &sine) {
  int64_t ofCosine = cosine.dims.back(), ofSine = sine.dims.back();
  if (ofCosine < 0 || ofSine < 0)
    return;
  Value c = makeFirstHalf(builder, cosine.value, ofCosine);
  Value s = c ? makeFirstHalf(builder, sine.value, ofSine) : Value();
  if (!s)
    return;
  cosine.value = c;
  sine.value = s;
  for (RowView *view : {&cosine, &sine})
    view->shape.back() /= 2;
}

/// What the table has, with dims of size 1 where it repeats; its last dim is
/// there.
static Value makeTable(OpBuilder &builder, Location loc, const RowView &view) {
  SmallVector<int64_t> order, shape;
  for (auto [dim, from] : llvm::enumerate(view.dims)) {
    shape.push_back(from < 0 ? 1 : view.shape[dim]);
    if (from >= 0)
      order.push_back(from);
  }
  Value table = view.value;
  for (int64_t dim = 0, rank = getShape(table).size(); dim < rank; ++dim)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  if (!llvm::is_sorted(order))
    table = hlo::transpose(builder, loc, table, order);
  return hlo::reshape(builder, loc, table, shape);
}

/// `table` with these dims, where it has them or 1.
static Value widenTable(OpBuilder &builder, Location loc, Value table,
                        ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(table.getType());
  return type.getShape() == shape
             ? table
             : hlo::broadcastInDim(
                   builder, loc, table, type.clone(shape),
                   llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
}

static Value makeRotary(OpBuilder &builder, Location loc,
                        const Rotation &rotation) {
  Value x = rotation.whole;
  if (rotation.size != getShape(x).back()) {
    SmallVector<int64_t> starts(getShape(x).size(), 0), limits(getShape(x)),
        steps(starts.size(), 1);
    starts.back() = rotation.begin;
    limits.back() = rotation.begin + rotation.size;
    x = hlo::slice(builder, loc, x, starts, limits, steps);
  }
  RowView cosine = RowView::of(rotation.cosine).peel(),
          sine = RowView::of(rotation.sine).peel();
  if (cosine.shape.back() == rotation.size)
    halveTables(builder, cosine, sine);
  Value c = makeTable(builder, loc, cosine), s = makeTable(builder, loc, sine);
  // Both have the dims that one of them has, and the last.
  SmallVector<int64_t> shape(getShape(c));
  for (auto [size, other] : llvm::zip_equal(shape, getShape(s)))
    size = std::max(size, other);
  shape.back() = cosine.shape.back();
  return nn::RotaryOp::create(builder, loc, x,
                              widenTable(builder, loc, c, shape),
                              widenTable(builder, loc, s, shape));
}

/// A rotation of some of what a concatenation puts together.
static bool raisePieces(stablehlo::ConcatenateOp op, StringRef &reason) {
  for (unsigned i = 0; i + 1 < op.getInputs().size(); ++i) {
    std::optional<Join> join = matchPieces(op, i);
    std::optional<Rotation> rotation =
        join ? matchJoined(*join, reason) : std::nullopt;
    if (!rotation)
      continue;
    OpBuilder builder(op);
    SmallVector<Value> pieces(op.getInputs());
    pieces[i] = makeRotary(builder, op.getLoc(), *rotation);
    pieces.erase(pieces.begin() + i + 1);
    Value result =
        pieces.size() == 1
            ? pieces.front()
            : hlo::concatenate(builder, op.getLoc(), pieces, op.getDimension());
    op.getResult().replaceAllUsesWith(result);
    return true;
  }
  return false;
}

bool training::raiseRotary(Operation *op, StringRef &reason) {
  reason = {};
  if (op->getNumResults() != 1 || op->use_empty() ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return false;
  std::optional<Rotation> rotation;
  if (auto pieces = dyn_cast<stablehlo::ConcatenateOp>(op))
    return raisePieces(pieces, reason);
  if (isa<stablehlo::AddOp>(op))
    for (unsigned i : {0u, 1u})
      if (!rotation && reason.empty())
        rotation =
            matchTurned(op->getOperand(i), op->getOperand(1 - i), reason);
  if (!rotation)
    return false;
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(
      makeRotary(builder, op->getLoc(), *rotation));
  return true;
}
