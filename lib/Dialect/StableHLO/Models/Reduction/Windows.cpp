//===- Windows.cpp - Expansion of reduce_window ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is padded once; then windows are combined as Windows.h says. A
// cumulative reduction (window as long as the dimension, padded on one side)
// combines the whole with itself, moved by 1, 2, 4, ...: n log n operations,
// where its windows hold n * n elements. Inputs that one op combines are
// reduced one by one; other bodies take all inputs together, and combine
// cumulative windows in pairs, as jax.lax.associative_scan does.
//
// Maxima and minima of floats are selects: of equal elements the first one in
// row-major order of the window gets the whole cotangent, and NaN is kept. That
// is the derivative of jax.lax.reduce_window. Cumulative ones are combined in
// pairs as jax.lax.cummax derives them, since each pair shares a tie by halves.
// One text stands for both functions of JAX: where a window is cumulative, the
// rule of cummax is taken.
//
// Sums and products of floats narrower than f32 are kept in f32 and rounded
// once.
//
// Test: test/Import/StableHLO/expand-windows.mlir, test/EndToEnd/windows.test
//===----------------------------------------------------------------------===//

#include "Windows.h"
#include "../Movement.h"
#include "ScalarFunction.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// The dimension along which each result is a reduction of all elements up to
/// its own, or from its own on, if padding does not count.
static std::optional<int64_t> findCumulative(ArrayRef<WindowDim> window) {
  std::optional<int64_t> found;
  for (auto [d, dim] : llvm::enumerate(window)) {
    bool isPlain = dim.stride == 1 && dim.baseDilation == 1 &&
                   (dim.windowDilation == 1 || dim.window == 1);
    bool isWhole = dim.window == dim.size && dim.size > 1 &&
                   dim.low + dim.high == dim.size - 1 &&
                   (dim.low == 0 || dim.high == 0);
    bool isUntouched = dim.window == 1 && dim.low == 0 && dim.high == 0;
    if (!isPlain || (!isUntouched && (!isWhole || found)))
      return std::nullopt;
    if (!isUntouched)
      found = d;
  }
  return found;
}

static SmallVector<int64_t> listDims(size_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

namespace {
/// Reduces the windows of one input.
class WindowReduction {
public:
  WindowReduction(OpBuilder &b, Location loc, Operation *combiner, Value init)
      : b(b), loc(loc), combiner(combiner), init(init),
        kind(combinationKindOf(combiner)) {
    Type element = typeOf(init).getElementType();
    bool isExtreme = isa<MaxOp, MinOp>(combiner);
    picksFirst = isExtreme && isa<FloatType>(element);
    bool isNarrow =
        isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
    if (isNarrow && !isExtreme)
      this->init = isNeutral(init, *kind)
                       ? neutralScalar(b, loc, *kind, b.getF32Type())
                       : convertTo(b, loc, init, b.getF32Type());
  }

  Value run(Value input, ArrayRef<WindowDim> window, RankedTensorType result);

private:
  Value apply(Value earlier, Value later);
  Value combine(Value earlier, Value later);
  bool isNeutralInit() const;
  Value accumulate(Value x, int64_t dim, bool isReversed);
  Value reduceAlong(Value x, int64_t dim, const WindowDim &window,
                    int64_t count);

  OpBuilder &b;
  Location loc;
  Operation *combiner;
  Value init;
  /// None for exclusive or.
  std::optional<ReductionKind> kind;
  /// Extremes of floats, of which the first one gets the cotangent.
  bool picksFirst = false;
};

/// The body's op on tensors.
Value WindowReduction::apply(Value earlier, Value later) {
  OperationState state(loc, combiner->getName());
  state.addOperands({earlier, later});
  state.addTypes(withoutEncoding(earlier.getType()));
  return b.create(state)->getResult(0);
}

Value WindowReduction::combine(Value earlier, Value later) {
  if (!picksFirst)
    return apply(earlier, later);
  ComparisonDirection direction =
      isa<MaxOp>(combiner) ? ComparisonDirection::GE : ComparisonDirection::LE;
  Value wins = compare(b, loc, direction, earlier, later);
  Value isNaN = compare(b, loc, ComparisonDirection::NE, earlier, earlier);
  Value isKept = OrOp::create(b, loc, wins, isNaN);
  return select(b, loc, isKept, earlier, later);
}

/// Neutral padding does not count; zero is neutral for exclusive or.
bool WindowReduction::isNeutralInit() const {
  return isNeutral(init, kind.value_or(ReductionKind::bitOr));
}

Value WindowReduction::accumulate(Value x, int64_t dim, bool isReversed) {
  if (picksFirst)
    return combineUpToEach(b, loc, {x}, dim, isReversed,
                           [&](ArrayRef<Value> earlier, ArrayRef<Value> later) {
                             return Tensors{
                                 apply(earlier.front(), later.front())};
                           })
        .front();
  int64_t rank = typeOf(x).getRank(), size = typeOf(x).getDimSize(dim);
  for (int64_t step = 1; step < size; step *= 2) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    low[dim] = isReversed ? -step : step;
    high[dim] = -low[dim];
    x = apply(pad(b, loc, x, init, low, high), x);
  }
  return x;
}

/// The reductions of the windows along one dimension, at `count` places. A
/// window over all of it is a reduction.
Value WindowReduction::reduceAlong(Value x, int64_t dim,
                                   const WindowDim &window, int64_t count) {
  if (window.window > kMostSlices && count == 1 && kind && !picksFirst) {
    Value all =
        takeAlong(b, loc, x, dim, 0, window.window, window.windowDilation);
    SmallVector<int64_t> shape(typeOf(all).getShape());
    shape[dim] = 1;
    return reshape(b, loc, reduce(b, loc, *kind, all, dim), shape);
  }
  auto join = [&](ArrayRef<Value> earlier, ArrayRef<Value> later) {
    return Tensors{combine(earlier.front(), later.front())};
  };
  return combineAlong(b, loc, {x}, dim, window, count, join).front();
}

Value WindowReduction::run(Value input, ArrayRef<WindowDim> window,
                           RankedTensorType result) {
  Type element = result.getElementType();
  Value x = convertTo(b, loc, input, typeOf(init).getElementType());
  std::optional<int64_t> cumulative = findCumulative(window);
  if (cumulative && isNeutralInit())
    return convertTo(b, loc,
                     accumulate(x, *cumulative, window[*cumulative].low == 0),
                     element);
  SmallVector<int64_t> dims = listDims(window.size());
  x = padWindows(b, loc, x, init, dims, window);
  // The last one first: the first of equal rows comes before equal elements.
  for (int64_t dim : llvm::reverse(dims))
    x = reduceAlong(x, dim, window[dim], result.getDimSize(dim));
  if (!isNeutralInit())
    x = combine(broadcastInDim(b, loc, init, typeOf(x), {}), x);
  return convertTo(b, loc, x, element);
}

/// The op that combines each input, of a body that has one for each.
FailureOr<SmallVector<Operation *>> findCombiners(ReduceWindowOp op) {
  Block &body = op.getBody().front();
  size_t count = op.getInputs().size();
  SmallVector<Operation *> combiners;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Operation *combiner = value.getDefiningOp();
    if (!combiner || combiner->getBlock() != &body ||
        (!combinationKindOf(combiner) && !isa<XorOp>(combiner)))
      return failure();
    Value x = body.getArgument(i), y = body.getArgument(i + count);
    Value left = combiner->getOperand(0), right = combiner->getOperand(1);
    if (!(left == x && right == y) && !(left == y && right == x))
      return failure();
    combiners.push_back(combiner);
  }
  return combiners;
}

//===----------------------------------------------------------------------===//
// Other bodies
//===----------------------------------------------------------------------===//

/// All inputs together. The body and the initial values of cumulative windows
/// are taken for a monoid, as the specification does: without padding and
/// without the initial values, as jax.lax.cumlogsumexp is derived.
Tensors reduceTogether(ReduceWindowOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto combine = [&](ArrayRef<Value> earlier, ArrayRef<Value> later) {
    Tensors arguments(earlier);
    arguments.append(later.begin(), later.end());
    return applyElementwise(op.getBody(), b, typeOf(earlier.front()).getShape(),
                            arguments);
  };
  SmallVector<WindowDim> window = op.getWindow();
  SmallVector<int64_t> dims = listDims(window.size());
  Tensors xs(op.getInputs());
  if (std::optional<int64_t> dim = findCumulative(window))
    return combineUpToEach(b, loc, std::move(xs), *dim, window[*dim].low == 0,
                           combine);
  for (auto [x, init] : llvm::zip_equal(xs, op.getInitValues()))
    x = padWindows(b, loc, x, init, dims, window);
  auto places = cast<RankedTensorType>(op.getResultTypes().front());
  for (int64_t dim : llvm::reverse(dims))
    xs = combineAlong(b, loc, std::move(xs), dim, window[dim],
                      places.getDimSize(dim), combine);
  Tensors inits;
  for (auto [x, init] : llvm::zip_equal(xs, op.getInitValues()))
    inits.push_back(broadcastInDim(b, loc, init, typeOf(x), {}));
  return combine(inits, xs);
}

//===----------------------------------------------------------------------===//
// The expansion
//===----------------------------------------------------------------------===//

struct WindowExpansion
    : graph::ExpansionOpInterface::ExternalModel<WindowExpansion,
                                                 ReduceWindowOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<ReduceWindowOp>(of);
    if (typeOf(op.getResult().front()).getNumElements() == 0) {
      for (Type type : op.getResultTypes())
        results.push_back(
            constantSplat(builder, op.getLoc(), withoutEncoding(type), 0));
      return success();
    }
    FailureOr<SmallVector<Operation *>> combiners = findCombiners(op);
    if (failed(combiners)) {
      if (failed(verifyElementwise(op.getBody())))
        return failure();
      results = reduceTogether(op, builder);
      return success();
    }
    SmallVector<WindowDim> window = op.getWindow();
    for (auto [input, init, result, combiner] : llvm::zip_equal(
             op.getInputs(), op.getInitValues(), op.getResult(), *combiners))
      results.push_back(
          WindowReduction(builder, op.getLoc(), combiner, init)
              .run(input, window, withoutEncoding(result.getType())));
    return success();
  }
};
} // namespace

void stablehlo::registerWindowModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ReduceWindowOp::attachInterface<WindowExpansion>(*context);
  });
}
