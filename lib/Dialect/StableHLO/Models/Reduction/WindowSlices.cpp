//===- WindowSlices.cpp - Slices under a moving window --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Windows.h. Dimensions without a window are not touched, so that their
// splits pass.
//
// Test: test/Import/StableHLO/expand-windows.mlir, test/EndToEnd/windows.test
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "Windows.h"

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
/// Combines elements along one dimension.
struct Line {
  OpBuilder &b;
  Location loc;
  int64_t dim;
  Combine combine;

  Tensors take(ArrayRef<Value> xs, int64_t start, int64_t count,
               int64_t step = 1) const {
    return llvm::map_to_vector(xs, [&](Value x) {
      return takeAlong(b, loc, x, dim, start, count, step);
    });
  }
  int64_t sizeOf(ArrayRef<Value> xs) const {
    return typeOf(xs.front()).getDimSize(dim);
  }
  Tensors joinRuns(Tensors runs, const WindowDim &window, int64_t count) const;
  Tensors scanPairs(Tensors xs) const;
  Value interleave(Value even, Value odd) const;
  Tensors reverseAll(ArrayRef<Value> xs) const {
    return llvm::map_to_vector(
        xs, [&](Value x) { return reverse(b, loc, x, dim); });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Window 11 is a run of 1, one of 2 after it and one of 8 after that. Runs
/// start at all elements; those of twice the length are made of two.
Tensors Line::joinRuns(Tensors runs, const WindowDim &window,
                       int64_t count) const {
  Tensors result;
  int64_t joined = 0;
  for (int64_t length = 1;; length *= 2) {
    if (window.window & length) {
      Tensors next =
          take(runs, joined * window.windowDilation, count, window.stride);
      result = joined ? combine(result, next) : next;
      joined += length;
    }
    if (joined == window.window)
      return result;
    int64_t distance = length * window.windowDilation;
    int64_t rest = sizeOf(runs) - distance;
    Tensors first = take(runs, 0, rest), second = take(runs, distance, rest);
    runs = combine(first, second);
  }
}

Tensors stablehlo::combineAlong(OpBuilder &builder, Location loc, Tensors xs,
                                int64_t dim, const WindowDim &window,
                                int64_t count, Combine combine) {
  Line line{builder, loc, dim, combine};
  if (window.window > kMostSlices)
    return line.joinRuns(std::move(xs), window, count);
  auto takeElement = [&](int64_t i) {
    return line.take(xs, i * window.windowDilation, count, window.stride);
  };
  Tensors result = takeElement(0);
  for (int64_t i = 1; i < window.window; ++i)
    result = combine(result, takeElement(i));
  return result;
}

//===----------------------------------------------------------------------===//
// Up to each element
//===----------------------------------------------------------------------===//

/// even[0], odd[0], even[1], ...; there may be one more even element.
Value Line::interleave(Value even, Value odd) const {
  SmallVector<int64_t> shape(typeOf(even).getShape());
  int64_t evens = shape[dim], odds = typeOf(odd).getDimSize(dim);
  if (odds < evens)
    odd = concatenate(b, loc, {odd, take(even, odds, 1).front()}, dim);
  SmallVector<int64_t> paired(shape);
  paired.insert(paired.begin() + dim + 1, 1);
  Value pairs = concatenate(
      b, loc, {reshape(b, loc, even, paired), reshape(b, loc, odd, paired)},
      dim + 1);
  shape[dim] = 2 * evens;
  return take(reshape(b, loc, pairs, shape), 0, evens + odds).front();
}

/// The elements that end at odd places are those of the pairs, the others have
/// one more.
Tensors Line::scanPairs(Tensors xs) const {
  int64_t size = sizeOf(xs), half = size / 2, rest = (size - 1) / 2;
  if (size < 2)
    return xs;
  Tensors first = take(xs, 0, half, 2), second = take(xs, 1, half, 2);
  Tensors odd = scanPairs(combine(first, second)), even = take(xs, 0, 1);
  if (rest > 0) {
    Tensors before = take(odd, 0, rest), own = take(xs, 2, rest, 2);
    for (auto [value, more] : llvm::zip_equal(even, combine(before, own)))
      value = concatenate(b, loc, {value, more}, dim);
  }
  Tensors results;
  for (auto [evens, odds] : llvm::zip_equal(even, odd))
    results.push_back(interleave(evens, odds));
  return results;
}

Tensors stablehlo::combineUpToEach(OpBuilder &builder, Location loc, Tensors xs,
                                   int64_t dim, bool isReversed,
                                   Combine combine) {
  if (!isReversed)
    return Line{builder, loc, dim, combine}.scanPairs(std::move(xs));
  auto swapped = [&](ArrayRef<Value> earlier, ArrayRef<Value> later) {
    return combine(later, earlier);
  };
  Line line{builder, loc, dim, swapped};
  return line.reverseAll(line.scanPairs(line.reverseAll(xs)));
}
