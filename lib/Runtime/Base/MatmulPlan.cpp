//===- MatmulPlan.cpp - Contractions as cuBLASLt takes them ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/MatmulPlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/MatmulPlan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace llmc::rt::cuda {

using Index = ContractionIndex;
using Kind = ContractionIndexKind;

/// Calls that one entry may become.
constexpr int64_t mostMatmuls = 1024;

static Status refuseMatmul(const std::string &name, const std::string &what) {
  return makeError(
      ErrorKind::mismatch,
      fmt::format("cuBLASLt cannot compute contraction '{}': {}", name, what));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// A float of eight bits that tensor cores multiply.
static bool isFactorOfEight(DType type) {
  return type == DType::f8E4M3FN || type == DType::f8E5M2;
}

static bool hasFactorsOfEight(const ContractionShape &shape) {
  return isFactorOfEight(shape.a) && isFactorOfEight(shape.b);
}

/// No two factors of e5m2, and a result that is wider.
static Status checkFloat8Types(const ContractionShape &shape,
                               const std::string &name) {
  bool hasPrecise = shape.a == DType::f8E4M3FN || shape.b == DType::f8E4M3FN;
  bool isWide =
      shape.c == DType::f32 || shape.c == DType::bf16 || shape.c == DType::f16;
  if (!hasPrecise || !isWide || shape.accumulate != DType::f32) {
    return refuseMatmul(
        name, fmt::format("expected of factors of 8 bits at least one f8E4M3FN "
                          "and a result of f32, bf16 or f16 with sums in f32, "
                          "got {} times {} into {} with sums in {}",
                          nameOf(shape.a), nameOf(shape.b), nameOf(shape.c),
                          nameOf(shape.accumulate)));
  }
  // The bias of a result of f32 would be one of bf16.
  if (shape.hasBias && shape.c == DType::f32) {
    return refuseMatmul(name, "expected no bias beside factors of 8 bits and a "
                              "result of f32, got one");
  }
  return Status::success();
}

/// The combinations of types that the documentation of cublasLtMatmul lists,
/// of those whose sums are made in the type that the shape names.
static Status checkTypes(const ContractionShape &shape,
                         const std::string &name) {
  if (hasFactorsOfEight(shape)) {
    return checkFloat8Types(shape, name);
  }
  struct Row {
    DType operand, result, accumulate;
  };
  constexpr Row rows[] = {
      {DType::f64, DType::f64, DType::f64},
      {DType::f32, DType::f32, DType::f32},
      {DType::bf16, DType::bf16, DType::f32},
      {DType::bf16, DType::f32, DType::f32},
      {DType::f16, DType::f16, DType::f32},
      {DType::f16, DType::f32, DType::f32},
      {DType::f16, DType::f16, DType::f16},
  };
  for (const Row &row : rows) {
    if (shape.a == row.operand && shape.b == row.operand &&
        shape.c == row.result && shape.accumulate == row.accumulate) {
      return Status::success();
    }
  }
  return refuseMatmul(
      name, fmt::format("expected operands of one type f64, f32, bf16 or f16 "
                        "with sums in f64 or f32, got {} times {} into {} with "
                        "sums in {}",
                        nameOf(shape.a), nameOf(shape.b), nameOf(shape.c),
                        nameOf(shape.accumulate)));
}

static Status checkValues(const ContractionShape &shape,
                          const std::string &name) {
  for (const Index &index : shape.indices) {
    if (index.size < 1 || index.strideA < 0 || index.strideB < 0 ||
        index.strideC < 0 || index.strideBias < 0) {
      return refuseMatmul(
          name, fmt::format("expected sizes of at least 1 and strides of at "
                            "least 0, got an index {} of {}",
                            nameOf(index.kind), index.size));
    }
  }
  if (shape.beta != 0 && shape.beta != 1) {
    return refuseMatmul(
        name, fmt::format("expected a beta of 0 or 1, got {}", shape.beta));
  }
  bool hasActivation = shape.activation == Activation::none ||
                       shape.activation == Activation::relu ||
                       shape.activation == Activation::geluTanh;
  if (!hasActivation) {
    return refuseMatmul(name, fmt::format("expected the activation none, relu "
                                          "or gelu_tanh, got {}",
                                          nameOf(shape.activation)));
  }
  bool hasEpilogue = shape.hasBias || shape.activation != Activation::none;
  if (hasEpilogue && shape.accumulate != DType::f32) {
    return refuseMatmul(name,
                        fmt::format("expected sums in f32 beside a bias or an "
                                    "activation, got sums in {}",
                                    nameOf(shape.accumulate)));
  }
  if (shape.hasBias && shape.bias != shape.c) {
    return refuseMatmul(name,
                        fmt::format("expected a bias of the result's type {}, "
                                    "got {}",
                                    nameOf(shape.c), nameOf(shape.bias)));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

namespace {
/// A matrix of an operand, as the walk finds it.
struct Sides {
  int64_t rows, cols;           ///< Of op(X).
  int64_t rowStride, colStride; ///< Elements.
};
} // namespace

/// How a matrix lies: its columns are contiguous, or its rows (then it is
/// transposed). None where neither is.
static std::optional<std::pair<MatrixLayout, bool>> layOut(const Sides &sides) {
  bool isRow = sides.rows == 1, isCol = sides.cols == 1;
  // A side of one element may have any stride.
  if ((sides.rowStride == 1 || isRow) &&
      (isCol || sides.colStride >= sides.rows)) {
    int64_t lead = isCol ? sides.rows : sides.colStride;
    return std::pair(MatrixLayout{sides.rows, sides.cols, lead, 0}, false);
  }
  if ((sides.colStride == 1 || isCol) &&
      (isRow || sides.rowStride >= sides.cols)) {
    int64_t lead = isRow ? sides.cols : sides.rowStride;
    return std::pair(MatrixLayout{sides.cols, sides.rows, lead, 0}, true);
  }
  return std::nullopt;
}

namespace {
/// Which m, n and k are the matrices.
struct Choice {
  Index m, n, k;
};

/// Builds a plan from a choice; the rest of the indices come later.
class Matrices {
public:
  Matrices(const Choice &choice, MatmulPlan &plan)
      : choice(choice), plan(plan) {}

  /// D as c, or as c transposed.
  bool lay(bool isSwapped) {
    const Index &m = choice.m, &n = choice.n, &k = choice.k;
    auto c = isSwapped ? layOut({n.size, m.size, n.strideC, m.strideC})
                       : layOut({m.size, n.size, m.strideC, n.strideC});
    auto a = isSwapped ? layOut({k.size, m.size, k.strideA, m.strideA})
                       : layOut({m.size, k.size, m.strideA, k.strideA});
    auto b = isSwapped ? layOut({n.size, k.size, n.strideB, k.strideB})
                       : layOut({k.size, n.size, k.strideB, n.strideB});
    if (!a || !b || !c || c->second ||
        !hasBias(isSwapped ? n : m, isSwapped ? m : n)) {
      return false;
    }
    auto &[x, transposesX] = isSwapped ? *b : *a;
    auto &[y, transposesY] = isSwapped ? *a : *b;
    // Of floats of eight bits, X lies as [K, M] and Y as [K, N] alone.
    if (hasFactorsOfEight(plan.shape) && (!transposesX || transposesY)) {
      return false;
    }
    plan.isSwapped = isSwapped;
    plan.x = x;
    plan.y = y;
    plan.d = c->first;
    plan.transposesX = transposesX;
    plan.transposesY = transposesY;
    return true;
  }

private:
  /// A bias is a vector along the rows of D.
  bool hasBias(const Index &row, const Index &col) const {
    return !plan.shape.hasBias || ((row.strideBias == 1 || row.size == 1) &&
                                   (col.strideBias == 0 || col.size == 1));
  }

  const Choice &choice;
  MatmulPlan &plan;
};
} // namespace

/// Index number `i`, or one of size 1; takes it out of a copy.
static std::pair<Index, std::vector<Index>>
takeIndex(const std::vector<Index> &indices, size_t i, Kind kind) {
  Index taken;
  taken.kind = kind;
  std::vector<Index> rest = indices;
  if (i < rest.size()) {
    taken = rest[i];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {taken, rest};
}

//===----------------------------------------------------------------------===//
// What remains: a batch, and calls
//===----------------------------------------------------------------------===//

/// The longest of the indices that no sum runs over.
static void takeBatch(std::vector<Index> &outer, MatmulPlan &plan) {
  auto longest = outer.end();
  for (auto it = outer.begin(); it != outer.end(); ++it) {
    // Results of different batches lie apart, and the library counts in 32
    // bits.
    bool fits = it->strideC > 0 && it->size <= INT32_MAX;
    if (fits && (longest == outer.end() || it->size > longest->size)) {
      longest = it;
    }
  }
  if (longest == outer.end()) {
    return;
  }
  plan.batches = static_cast<int32_t>(longest->size);
  MatrixLayout &ofA = plan.isSwapped ? plan.y : plan.x;
  MatrixLayout &ofB = plan.isSwapped ? plan.x : plan.y;
  ofA.batchStride = longest->strideA;
  ofB.batchStride = longest->strideB;
  plan.d.batchStride = longest->strideC;
  plan.biasBatchStride = longest->strideBias;
  constexpr int64_t alignment = 16;
  const ContractionShape &shape = plan.shape;
  plan.keepsAlignment =
      longest->strideA * sizeOf(shape.a) % alignment == 0 &&
      longest->strideB * sizeOf(shape.b) % alignment == 0 &&
      longest->strideC * sizeOf(shape.c) % alignment == 0 &&
      longest->strideBias * sizeOf(shape.bias) % alignment == 0;
  outer.erase(longest);
}

/// A call for each position of `outer` (the first index is the outermost); the
/// last `numSums` of them are of k, and add.
static void makeCalls(const std::vector<Index> &outer, size_t numSums,
                      int64_t count, MatmulPlan &plan) {
  int64_t terms = 1;
  for (size_t i = outer.size() - numSums; i < outer.size(); ++i) {
    terms *= outer[i].size;
  }
  for (int64_t number = 0; number < count; ++number) {
    MatmulCall call;
    call.adds = plan.shape.beta != 0 || number % terms != 0;
    call.finishes = number % terms == terms - 1;
    int64_t rest = number;
    for (size_t i = outer.size(); i-- > 0;) {
      int64_t at = rest % outer[i].size;
      rest /= outer[i].size;
      call.a += at * outer[i].strideA;
      call.b += at * outer[i].strideB;
      call.c += at * outer[i].strideC;
      call.bias += at * outer[i].strideBias;
    }
    plan.calls.push_back(call);
  }
}

static Status finish(std::vector<Index> outer, const std::vector<Index> &sums,
                     const std::string &name, MatmulPlan &plan) {
  takeBatch(outer, plan);
  if (!sums.empty() && plan.shape.c != plan.shape.accumulate) {
    return refuseMatmul(
        name, fmt::format("expected sums that one call makes, got {} indices k "
                          "that lie apart and a result of {}, which would be "
                          "rounded after each",
                          sums.size() + 1, nameOf(plan.shape.c)));
  }
  outer.insert(outer.end(), sums.begin(), sums.end());
  int64_t count = 1;
  for (const Index &index : outer) {
    count *= std::min(index.size, mostMatmuls + 1);
    if (count > mostMatmuls) {
      return refuseMatmul(name,
                          fmt::format("expected at most {} calls for indices "
                                      "that lie apart, got more",
                                      mostMatmuls));
    }
  }
  makeCalls(outer, sums.size(), count, plan);
  return Status::success();
}

/// What tensor cores ask of floats of eight bits: multiples of 16 elements of
/// the factors, and of 16 bytes of all operands.
static Status checkFloat8Sizes(const MatmulPlan &plan,
                               const std::string &name) {
  constexpr int64_t multiple = 16;
  if (!hasFactorsOfEight(plan.shape)) {
    return Status::success();
  }
  int64_t m = plan.d.rows, n = plan.d.cols, k = plan.x.rows;
  int64_t bytes = sizeOf(plan.shape.c);
  bool areMultiples = plan.keepsAlignment;
  for (int64_t number :
       {m, n, k, plan.x.lead, plan.y.lead, plan.d.lead * bytes}) {
    areMultiples = areMultiples && number % multiple == 0;
  }
  for (const MatmulCall &call : plan.calls) {
    areMultiples = areMultiples && call.a % multiple == 0 &&
                   call.b % multiple == 0 && call.c * bytes % multiple == 0;
  }
  if (areMultiples) {
    return Status::success();
  }
  return refuseMatmul(
      name,
      fmt::format("expected, beside factors of 8 bits, an m, n and k that "
                  "are multiples of {} and begin at multiples of 16 "
                  "bytes, got {}, {} and {}",
                  multiple, plan.isSwapped ? n : m, plan.isSwapped ? m : n, k));
}

Result<MatmulPlan> planMatmul(const ContractionShape &shape,
                              const std::string &name) {
  LLMC_TRY(checkTypes(shape, name));
  LLMC_TRY(checkValues(shape, name));
  std::vector<Index> all[] = {walksOf(shape, Kind::batch),
                              walksOf(shape, Kind::m), walksOf(shape, Kind::n),
                              walksOf(shape, Kind::k)};
  auto numOf = [&](Kind kind) {
    return std::max<size_t>(1, all[static_cast<size_t>(kind)].size());
  };
  auto of = [&](Kind kind) { return all[static_cast<size_t>(kind)]; };
  // Minor indices first: they are the ones that lie in a row.
  for (size_t k = numOf(Kind::k); k-- > 0;) {
    for (size_t n = numOf(Kind::n); n-- > 0;) {
      for (size_t m = numOf(Kind::m); m-- > 0;) {
        auto [indexM, restM] = takeIndex(of(Kind::m), m, Kind::m);
        auto [indexN, restN] = takeIndex(of(Kind::n), n, Kind::n);
        auto [indexK, sums] = takeIndex(of(Kind::k), k, Kind::k);
        MatmulPlan plan;
        plan.shape = shape;
        Choice choice{indexM, indexN, indexK};
        Matrices matrices(choice, plan);
        if (!matrices.lay(true) && !matrices.lay(false)) {
          continue;
        }
        std::vector<Index> outer = of(Kind::batch);
        outer.insert(outer.end(), restM.begin(), restM.end());
        outer.insert(outer.end(), restN.begin(), restN.end());
        LLMC_TRY(finish(std::move(outer), sums, name, plan));
        LLMC_TRY(checkFloat8Sizes(plan, name));
        return plan;
      }
    }
  }
  return refuseMatmul(
      name,
      fmt::format("expected an m, n and k with a stride of 1 in each of "
                  "a, b and c{}, and no stride that is less than the "
                  "size beside it{}",
                  shape.hasBias ? ", a bias along the minor of c alone" : "",
                  hasFactorsOfEight(shape)
                      ? "; beside factors of 8 bits that of k in a and b"
                      : ""));
}

} // namespace llmc::rt::cuda
