//===- Windows.cpp - Expansion of reduce_window ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is padded once; then one dimension after another, the last one
// first, slices are combined, of which each has one element of every window:
//
//   window 3, stride 2:   op(op(x[0::2], x[1::2]), x[2::2])
//
// A long window is put together from runs of 1, 2, 4, ... elements, each made
// of two halves. A cumulative reduction (window as long as the dimension,
// padded on one side) combines the whole with itself, moved by 1, 2, 4, ...: n
// log n operations, where its windows hold n * n elements. Dimensions without a
// window are not touched, so that their splits pass.
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
#include "Movement.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

Value stablehlo::padWindows(OpBuilder &builder, Location loc, Value x,
                            Value value, ArrayRef<int64_t> dims,
                            ArrayRef<WindowDim> window) {
  SmallVector<int64_t> low(typeOf(x).getRank(), 0), high(low), interior(low);
  for (auto [dim, part] : llvm::zip_equal(dims, window)) {
    low[dim] = part.low;
    high[dim] = part.high;
    // Nothing stands between the elements of one or none.
    interior[dim] = part.size > 1 ? part.baseDilation - 1 : 0;
  }
  auto isZero = [](int64_t amount) { return amount == 0; };
  bool isPadded = !llvm::all_of(low, isZero) || !llvm::all_of(high, isZero) ||
                  !llvm::all_of(interior, isZero);
  return isPadded ? pad(builder, loc, x, value, low, high, interior) : x;
}

Value stablehlo::takeAlong(OpBuilder &builder, Location loc, Value x,
                           int64_t dim, int64_t start, int64_t count,
                           int64_t step) {
  RankedTensorType type = typeOf(x);
  if (start == 0 && count == type.getDimSize(dim))
    return x;
  if (count <= 1)
    step = 1;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1);
  starts[dim] = start;
  limits[dim] = count ? start + (count - 1) * step + 1 : start;
  strides[dim] = step;
  return slice(builder, loc, x, starts, limits, strides);
}

namespace {
/// Longer windows are made of runs.
constexpr int64_t kMostSlices = 8;

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
  std::optional<int64_t> findCumulative(ArrayRef<WindowDim> window);
  Value accumulate(Value x, int64_t dim, bool isReversed);
  Value scanPairs(Value x, int64_t dim);
  Value interleave(Value even, Value odd, int64_t dim);
  Value reduceAlong(Value x, int64_t dim, const WindowDim &window,
                    int64_t count);
  Value joinRuns(Value x, int64_t dim, const WindowDim &window, int64_t count);

  Value take(Value x, int64_t dim, int64_t start, int64_t count,
             int64_t step = 1) {
    return takeAlong(b, loc, x, dim, start, count, step);
  }

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

//===----------------------------------------------------------------------===//
// Cumulative reductions
//===----------------------------------------------------------------------===//

/// The dimension along which each result is a reduction of all elements up to
/// its own, or from its own on.
std::optional<int64_t>
WindowReduction::findCumulative(ArrayRef<WindowDim> window) {
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
  // Neutral padding does not count; zero is neutral for exclusive or.
  bool isExact = isNeutral(init, kind.value_or(ReductionKind::bitOr));
  return isExact ? found : std::nullopt;
}

Value WindowReduction::accumulate(Value x, int64_t dim, bool isReversed) {
  if (picksFirst) {
    if (isReversed)
      x = reverse(b, loc, x, dim);
    x = scanPairs(x, dim);
    return isReversed ? reverse(b, loc, x, dim) : x;
  }
  int64_t rank = typeOf(x).getRank(), size = typeOf(x).getDimSize(dim);
  for (int64_t step = 1; step < size; step *= 2) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    low[dim] = isReversed ? -step : step;
    high[dim] = -low[dim];
    x = apply(pad(b, loc, x, init, low, high), x);
  }
  return x;
}

/// All reductions of elements up to their own: those that end at odd places are
/// those of the pairs, the others have one more element.
Value WindowReduction::scanPairs(Value x, int64_t dim) {
  int64_t size = typeOf(x).getDimSize(dim), half = size / 2,
          rest = (size - 1) / 2;
  if (size < 2)
    return x;
  Value first = take(x, dim, 0, half, 2), second = take(x, dim, 1, half, 2);
  Value odd = scanPairs(apply(first, second), dim), even = take(x, dim, 0, 1);
  if (rest > 0) {
    Value before = take(odd, dim, 0, rest), own = take(x, dim, 2, rest, 2);
    Value others = apply(before, own);
    even = concatenate(b, loc, {even, others}, dim);
  }
  return interleave(even, odd, dim);
}

/// even[0], odd[0], even[1], ...; there may be one more even element.
Value WindowReduction::interleave(Value even, Value odd, int64_t dim) {
  SmallVector<int64_t> shape(typeOf(even).getShape());
  int64_t evens = shape[dim], odds = typeOf(odd).getDimSize(dim);
  if (odds < evens)
    odd = concatenate(b, loc, {odd, take(even, dim, odds, 1)}, dim);
  SmallVector<int64_t> paired(shape);
  paired.insert(paired.begin() + dim + 1, 1);
  Value pairs = concatenate(
      b, loc, {reshape(b, loc, even, paired), reshape(b, loc, odd, paired)},
      dim + 1);
  shape[dim] = 2 * evens;
  return take(reshape(b, loc, pairs, shape), dim, 0, evens + odds);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The reductions of the windows along one dimension, at `count` places.
Value WindowReduction::reduceAlong(Value x, int64_t dim,
                                   const WindowDim &window, int64_t count) {
  if (window.window > kMostSlices) {
    if (count != 1 || !kind || picksFirst)
      return joinRuns(x, dim, window, count);
    Value all = take(x, dim, 0, window.window, window.windowDilation);
    SmallVector<int64_t> shape(typeOf(all).getShape());
    shape[dim] = 1;
    return reshape(b, loc, reduce(b, loc, *kind, all, dim), shape);
  }
  auto takeElement = [&](int64_t i) {
    return take(x, dim, i * window.windowDilation, count, window.stride);
  };
  Value result = takeElement(0);
  for (int64_t i = 1; i < window.window; ++i)
    result = combine(result, takeElement(i));
  return result;
}

/// Window 11 is a run of 1, one of 2 after it and one of 8 after that. Runs
/// start at all elements; those of twice the length are made of two.
Value WindowReduction::joinRuns(Value x, int64_t dim, const WindowDim &window,
                                int64_t count) {
  Value result, runs = x;
  int64_t joined = 0;
  for (int64_t length = 1;; length *= 2) {
    if (window.window & length) {
      Value next =
          take(runs, dim, joined * window.windowDilation, count, window.stride);
      result = result ? combine(result, next) : next;
      joined += length;
    }
    if (joined == window.window)
      return result;
    int64_t distance = length * window.windowDilation;
    int64_t rest = typeOf(runs).getDimSize(dim) - distance;
    Value first = take(runs, dim, 0, rest),
          second = take(runs, dim, distance, rest);
    runs = combine(first, second);
  }
}

Value WindowReduction::run(Value input, ArrayRef<WindowDim> window,
                           RankedTensorType result) {
  Type element = result.getElementType();
  if (result.getNumElements() == 0)
    return constantSplat(b, loc, result, 0);
  Value x = convertTo(b, loc, input, typeOf(init).getElementType());
  if (std::optional<int64_t> dim = findCumulative(window))
    return convertTo(b, loc, accumulate(x, *dim, window[*dim].low == 0),
                     element);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, window.size()));
  x = padWindows(b, loc, x, init, dims, window);
  // The last one first: the first of equal rows comes before equal elements.
  for (int64_t dim : llvm::reverse(dims))
    x = reduceAlong(x, dim, window[dim], result.getDimSize(dim));
  if (!isNeutral(init, kind.value_or(ReductionKind::bitOr)))
    x = combine(broadcastInDim(b, loc, init, typeOf(x), {}), x);
  return convertTo(b, loc, x, element);
}

//===----------------------------------------------------------------------===//
// The expansion
//===----------------------------------------------------------------------===//

/// The op that combines each input's elements: known kinds and exclusive or,
/// of the two arguments of the input.
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

LogicalResult refuseBody(ReduceWindowOp op) {
  InFlightDiagnostic diag = emitRefusal(op, rt::ErrorKind::unsupported);
  diag << "expected a window that one add, multiply, maximum, minimum, and, or "
          "or xor combines for each input, got a body of";
  for (Operation &inner : op.getBody().front())
    diag << " " << inner.getName();
  return diag;
}

struct WindowExpansion
    : graph::ExpansionOpInterface::ExternalModel<WindowExpansion,
                                                 ReduceWindowOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<ReduceWindowOp>(of);
    FailureOr<SmallVector<Operation *>> combiners = findCombiners(op);
    if (failed(combiners))
      return refuseBody(op);
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
