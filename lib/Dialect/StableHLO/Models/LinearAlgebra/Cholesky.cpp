//===- Cholesky.cpp - Answers of the Cholesky factorization ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With l the lower factor, g its cotangent and phi(y) the lower triangle of y
// with half of its diagonal (Murray, 1602.07527), as jax.grad:
//
//   y = phi(lᵀ g), lᵀ t = y, s l = t: s is the cotangent of the operand
//
// The kernel subtracts column after column of the factor from all after it,
// and takes the roots at the end, so that no element is read while others of
// its step are written. With d the diagonal and r, c the place in the lower
// triangle of the changed operand x:
//
//   step k < n, k < c <= r     x[r, c] -= x[r, k] / d[k] * x[c, k]
//   step n, r != c             x[r, c] = r > c ? x[r, c] / sqrt(d[c]) : 0
//   steps n + 1, n + 2         x[r, r] = sqrt(d[r]), the last one last
//
// A d[k] that is not positive makes all d after it NaN, so the last one tells
// whether the matrix is positive definite. The upper factor is the same with
// rows and columns exchanged.
//
// Test: test/Dialect/StableHLO/Models/LinearAlgebraTest.cpp
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "Matrices.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// The lower triangle row by row; false where a pivot is not positive.
bool factorize(llvm::MutableArrayRef<double> x, int64_t n) {
  for (int64_t row = 0; row < n; ++row)
    for (int64_t column = 0; column <= row; ++column) {
      double rest = x[row * n + column];
      for (int64_t k = 0; k < column; ++k)
        rest -= x[row * n + k] * x[column * n + k];
      if (column == row && !(rest > 0))
        return false;
      x[row * n + column] =
          column == row ? std::sqrt(rest) : rest / x[column * n + column];
    }
  return true;
}

void transposeInPlace(llvm::MutableArrayRef<double> x, int64_t n) {
  for (int64_t row = 0; row < n; ++row)
    for (int64_t column = 0; column < row; ++column)
      std::swap(x[row * n + column], x[column * n + row]);
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// The place of an update of a matrix of n rows.
struct CholeskyUpdate {
  CholeskyUpdate(CholeskyOp op, ElementCall &call)
      : call(call), math{call.builder, call.loc}, lower(op.getLower()),
        n(op.getType().getShape().back()) {
    step = call.indices.drop_back(2).back();
    row = call.indices.drop_back(1).back(), column = call.indices.back();
    if (!lower)
      std::swap(row, column);
  }

  /// The element as the updates before have left it.
  Value read(Value r, Value c) const {
    if (!lower)
      std::swap(r, c);
    return call.source(0, replaceLast(call.indices, 3, {r, c}));
  }

  ElementCall &call;
  UpdateMath math;
  bool lower;
  int64_t n;
  Value step, row, column;
};

Value emitCholesky(const CholeskyUpdate &at, Value old) {
  const UpdateMath &math = at.math;
  OpBuilder &b = at.call.builder;
  Location loc = at.call.loc;
  Type type = old.getType();
  Value last = math.index(at.n - 1);
  Value isStep = math.isLess(at.step, math.index(at.n));
  Value pivot = math.choose(isStep, at.step, at.column);
  Value after = math.choose(isStep, at.step, last);
  Value d = at.read(pivot, pivot);
  Value root = math::SqrtOp::create(b, loc, d);
  Value quotient = arith::DivFOp::create(
      b, loc, math.choose(isStep, at.read(at.row, after), old),
      math.choose(isStep, d, root));
  Value product =
      arith::MulFOp::create(b, loc, quotient, at.read(at.column, after));
  Value rest = arith::SubFOp::create(b, loc, old, product);
  Value isDiagonal = math.isEqual(at.row, at.column);
  Value made =
      math.choose(isStep, rest, math.choose(isDiagonal, root, quotient));
  Value witness = math.choose(isStep, d, at.read(last, last));
  Value isPositive = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                           witness, math.number(type, 0));
  made = math.choose(isPositive, made, math.number(type, std::nan("")));
  return math.choose(math.isLess(at.row, at.column), math.number(type, 0),
                     made);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// A triangle of NaN where the last element is one, else `x`.
Value spreadNan(OpBuilder &b, Location loc, Value x, bool lower) {
  RankedTensorType type = withoutEncoding(x.getType());
  int64_t rank = type.getRank(), n = type.getShape().back();
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  Value last = takePart(b, loc, x, {n - 1, n - 1, 1, 1});
  last = reshape(b, loc, last, type.getShape().drop_back(2));
  Value witness = broadcastInDim(b, loc, last, type, dims);
  Value isNumber = compare(b, loc, ComparisonDirection::EQ, witness, witness);
  Value triangle = makeTriangle(b, loc, x, lower, /*strict=*/false);
  return select(b, loc, isNumber, x,
                select(b, loc, triangle, witness, constantLike(b, loc, x, 0)));
}

/// The factor of halves of a matrix with the blocks a, c below it, and d:
///
///   l = chol(a), m = c l⁻ᵀ, chol(d - m mᵀ)
///
/// (Gustavson, 1997), of the upper factor with rows and columns exchanged. The
/// last element tells whether there is a factor: what is NaN in a block makes
/// all blocks after it NaN.
Value factorizeBlocks(CholeskyOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  bool lower = op.getLower();
  int64_t n = op.getType().getShape().back(), half = halve(n, blockRows);
  int64_t rest = n - half;
  auto factorize = [&](Value of) -> Value {
    return CholeskyOp::create(b, loc, of.getType(), of, lower);
  };
  Value first = factorize(takePart(b, loc, op.getA(), {0, 0, half, half}));
  Value beside = takePart(b, loc, op.getA(),
                          lower ? MatrixPart{half, 0, rest, half}
                                : MatrixPart{0, half, half, rest});
  beside = TriangularSolveOp::create(
      b, loc, beside.getType(), first, beside, /*left_side=*/!lower, lower,
      /*unit_diagonal=*/false, Transpose::TRANSPOSE);
  Value product = multiplyMatrices(b, loc, beside, beside,
                                   lower ? Summed::Columns : Summed::Rows);
  Value last = takePart(b, loc, op.getA(), {half, half, rest, rest});
  last = factorize(sub(b, loc, last, product));
  SmallVector<int64_t> across(typeOf(beside).getShape());
  std::swap(across.end()[-1], across.end()[-2]);
  Value zero = constantSplat(b, loc, typeOf(beside).clone(across), 0);
  Value made = joinRows(b, loc,
                        {joinColumns(b, loc, {first, lower ? zero : beside}),
                         joinColumns(b, loc, {lower ? beside : zero, last})});
  return spreadNan(b, loc, made, lower);
}

struct CholeskyAnswers : AnswerDefaults<CholeskyOp> {
  static ShardingRule rule(CholeskyOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = op.getType();
    addMatrixNumbers(rule, type);
    for (int64_t dim = type.getRank() - 2; dim < type.getRank(); ++dim) {
      int factor = rule.addFactor(type.getDimSize(dim), FactorKind::Whole);
      rule.operands[0][dim] = rule.results[0][dim] = {factor};
    }
    return rule;
  }

  static LogicalResult derive(CholeskyOp op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    Location loc = call.loc;
    if (!call.needed[0])
      return success();
    Value l = op.getResult(), g = call.cotangents[0];
    if (!op.getLower())
      l = transposeMatrices(b, loc, l), g = transposeMatrices(b, loc, g);
    Value y = multiplyMatrices(b, loc, l, g, Summed::Rows);
    Value half = mul(b, loc, y, constantLike(b, loc, y, 0.5));
    y = select(b, loc, makeTriangle(b, loc, y, /*lower=*/true, /*strict=*/true),
               y, keepTriangle(b, loc, half, /*lower=*/true, /*strict=*/false));
    y = keepTriangle(b, loc, y, /*lower=*/true, /*strict=*/false);
    auto solve = [&](Value of, bool left, Transpose form) {
      return TriangularSolveOp::create(b, loc, of.getType(), l, of, left,
                                       /*lower=*/true,
                                       /*unit_diagonal=*/false, form);
    };
    Value t = solve(y, /*left=*/true, Transpose::TRANSPOSE);
    Value s = solve(t, /*left=*/false, Transpose::NO_TRANSPOSE);
    call.gradients[0] = op.getLower() ? s : transposeMatrices(b, loc, s);
    return success();
  }

  /// n³/3 operations, and n roots.
  static OpCost cost(CholeskyOp op) {
    OpCost cost = getTrafficCost(op);
    int64_t n = op.getType().getShape().back();
    int64_t elements = op.getType().getNumElements();
    cost.modelFlops = elements * n / 3;
    cost.flops = cost.modelFlops + (n ? elements / n : 0);
    return cost;
  }

  static bool isBlocked(CholeskyOp op) {
    return op.getType().getShape().back() > blockRows;
  }
  static KernelForm form(CholeskyOp op) {
    bool isNarrow = isNarrowFloat(op.getType().getElementType());
    return isNarrow || isBlocked(op) ? KernelForm::Decompose
                                     : KernelForm::Update;
  }
  static LogicalResult decompose(CholeskyOp op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    Type element = op.getType().getElementType();
    if (!isNarrowFloat(element)) {
      results.push_back(factorizeBlocks(op, b));
      return success();
    }
    Value wide = convertTo(b, op.getLoc(), op.getA(), getWideElement(element));
    Value made =
        CholeskyOp::create(b, op.getLoc(), wide.getType(), wide, op.getLower());
    results.push_back(convertTo(b, op.getLoc(), made, element));
    return success();
  }

  static SmallVector<int64_t> updateShape(CholeskyOp op) {
    SmallVector<int64_t> shape(op.getType().getShape());
    shape.insert(shape.end() - 2, shape.back() + 3);
    return shape;
  }
  static std::optional<UpdateOrder> updateOrder(CholeskyOp op) {
    return UpdateOrder{static_cast<unsigned>(op.getType().getRank()) - 2, 1};
  }
  static UpdateTarget emitUpdateTarget(CholeskyOp op, ElementCall &call) {
    CholeskyUpdate at(op, call);
    const UpdateMath &math = at.math;
    auto end = [&](int64_t step) { return math.index(at.n + step); };
    Value isLast = math.isEqual(at.row, math.index(at.n - 1));
    Value wanted = math.choose(math.isEqual(at.row, at.column),
                               math.choose(isLast, end(2), end(1)), end(0));
    Value isAfter =
        math.both(math.isLess(at.step, at.column),
                  math.isLess(at.column, math.add(at.row, math.index(1))));
    return {replaceLast(call.indices, 3, call.indices.take_back(2)),
            math.either(math.isEqual(at.step, wanted), isAfter)};
  }
  static Value emitUpdateElement(CholeskyOp op, Value old, ElementCall &call) {
    return emitCholesky(CholeskyUpdate(op, call), old);
  }

  static LogicalResult evaluate(CholeskyOp op, EvaluationCall &call) {
    int64_t n = op.getType().getShape().back();
    std::vector<double> all = loadElements(call.operands[0]);
    for (size_t first = 0; first < all.size(); first += n * n) {
      auto x = llvm::MutableArrayRef<double>(all).slice(first, n * n);
      if (!op.getLower())
        transposeInPlace(x, n);
      bool isDefinite = factorize(x, n);
      for (int64_t row = 0; row < n; ++row)
        for (int64_t column = 0; column < n; ++column)
          if (column > row || !isDefinite)
            x[row * n + column] = column > row ? 0 : std::nan("");
      if (!op.getLower())
        transposeInPlace(x, n);
    }
    call.results.push_back(storeElements(op.getType(), all));
    return success();
  }
};

} // namespace

void stablehlo::registerCholeskyModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<CholeskyOp, CholeskyAnswers>(context);
    CholeskyOp::attachInterface<MoreMatrices<CholeskyOp>>(*context);
  });
}
