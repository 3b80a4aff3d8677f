//===- BatchStates.cpp - What is known of how a value depends -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BatchSums.h.
//
// Tests: test/Transforms/Training/sum-loss-degrees.mlir, -parts, -loops
//===----------------------------------------------------------------------===//

#include "BatchSums.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using Kind = BatchState::Kind;

//===----------------------------------------------------------------------===//
// Degrees and counts
//===----------------------------------------------------------------------===//

Degrees Degrees::plus(Degrees other, int sign) const {
  Degrees result(0);
  for (int a = -kMost; a <= kMost; ++a)
    for (int b = -kMost; b <= kMost; ++b)
      if (has(a) && other.has(b) && std::abs(a + sign * b) <= kMost)
        result = result | of(a + sign * b);
  return result;
}

int BatchState::pickDegree() const {
  if (isPlain && degrees.has(1))
    return 1;
  for (int degree : {0, 1, -1, 2, -2})
    if (degrees.has(degree))
      return degree;
  return 0;
}

/// More are not kept: no loss has them.
constexpr size_t kMostCounts = 512;

SmallVector<int64_t, 4> training::extendCounts(ArrayRef<int64_t> counts,
                                               ArrayRef<int64_t> sizes) {
  llvm::SetVector<int64_t> products(counts.begin(), counts.end());
  for (int64_t size : sizes)
    for (size_t i = 0, end = products.size();
         i < end && products.size() < kMostCounts; ++i)
      products.insert(products[i] * size);
  return SmallVector<int64_t, 4>(products.begin(), products.end());
}

SmallVector<int64_t, 4> training::intersectCounts(ArrayRef<int64_t> a,
                                                  ArrayRef<int64_t> b) {
  return llvm::filter_to_vector<4>(
      a, [&](int64_t count) { return llvm::is_contained(b, count); });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

bool BatchState::isLike(const BatchState &other) const {
  return kind == other.kind && isZero == other.isZero &&
         isData == other.isData && degrees == other.degrees &&
         isPlain == other.isPlain && pieces == other.pieces &&
         isPartial == other.isPartial && inParts == other.inParts &&
         counts == other.counts && isAffine == other.isAffine;
}

BatchState BatchState::zero() {
  BatchState state;
  state.isZero = true;
  state.isData = true;
  state.degrees = Degrees::all();
  return state;
}

BatchState BatchState::join(const BatchState &a, const BatchState &b,
                            Operation *culprit) {
  if (a.isZero || b.isZero)
    return a.isZero ? b : a;
  bool isAffine = a.isAffineSum() && b.isAffineSum();
  for (const BatchState *one : {&a, &b})
    if (one->kind == Kind::Mixed && one->isAffine == isAffine)
      return *one;
  // What is fixed is a sample's part as well, and a sum of degree 0.
  bool isFixed = a.kind == Kind::Fixed;
  BatchState state = isFixed ? b : a;
  const BatchState &other = isFixed ? a : b;
  state.isData &= other.isData;
  state.isPlain &= other.isPlain;
  state.degrees = state.degrees & other.degrees;
  state.inParts =
      state.inParts & (other.isPartial ? other.inParts : other.degrees);
  bool isLike = other.kind == Kind::Fixed ||
                (state.kind == other.kind && state.pieces == other.pieces &&
                 state.isPartial == other.isPartial);
  if (other.kind != Kind::Fixed)
    state.counts = intersectCounts(state.counts, other.counts);
  if (isLike && !state.degrees.isEmpty() &&
      !(state.isPartial && state.inParts.isEmpty()) &&
      (state.kind != Kind::Count || state.isData))
    return state;
  state.kind = Kind::Mixed;
  state.isAffine = isAffine;
  state.culprit = culprit;
  state.reason = "changes how it depends on the batch from trip to trip";
  return state;
}
