//===- Lu.cpp - Answers of triangular factors with pivots -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With p the exchange of rows, p a = l u, and g the cotangent of the factors,
// of which l's is below the diagonal and u's the rest (Giles, 2008; pivots have
// none):
//
//   y = lower(lᵀ g_l) below the diagonal, upper(g_u uᵀ) on and above it
//   lᵀ t = y, s uᵀ = t: pᵀ s is the cotangent of the operand
//
// Before kernels are formed it becomes an op that has all it needs in one
// tensor: m rows of n columns, a column n of their numbers, a row m of pivots
// and a row m + 1 to spare. Each k has three steps, so that none reads what it
// writes; the column below a pivot is divided by it at the end:
//
//   k, 0    x[m, k] = first row of the greatest |x[r, k]|, r >= k;
//           x[m + 1, c] = x[k, c]
//   k, 1    x[k, c] = x[p, c], p = x[m, k]
//   k, 2    x[r, c] = y[c] - y[k] / x[k, k] * x[k, c], r, c > k, and y[c] else,
//           where y is row m + 1 for r = p, else row r
//   n, 0    x[r, c] = x[r, c] / x[c, c], r > c
//
// so the column of numbers moves with the rows.
//
// Test: test/Dialect/StableHLO/Models/LuTest.cpp
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "../Products/Contraction.h"
#include "Matrices.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

double divide(double x, double pivot) { return pivot == 0 ? 0 : x / pivot; }

/// One matrix with its numbers, of m + 2 rows and n + 1 columns.
class Elimination {
public:
  Elimination(llvm::MutableArrayRef<double> x, int64_t m, int64_t n)
      : x(x), m(m), n(n) {}

  void run() {
    for (int64_t k = 0; k < n; ++k)
      step(k);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < std::min(row, n); ++column)
        at(row, column) = divide(at(row, column), at(column, column));
  }

  double &at(int64_t row, int64_t column) { return x[row * (n + 1) + column]; }

private:
  int64_t findPivot(int64_t k) {
    int64_t found = k;
    double greatest = -1;
    for (int64_t row = k; row < m; ++row)
      if (std::abs(at(row, k)) > greatest)
        greatest = std::abs(at(row, k)), found = row;
    return found;
  }

  void step(int64_t k) {
    int64_t pivot = findPivot(k);
    at(m, k) = pivot;
    for (int64_t column = 0; column <= n; ++column) {
      at(m + 1, column) = at(k, column);
      at(k, column) = at(pivot, column);
      at(pivot, column) = at(m + 1, column);
    }
    // A pivot that stays is its own row again.
    for (int64_t row = k + 1; row < m; ++row) {
      double factor = divide(at(row, k), at(k, k));
      for (int64_t column = k + 1; column < n; ++column)
        at(row, column) -= factor * at(k, column);
    }
  }

  llvm::MutableArrayRef<double> x;
  int64_t m, n;
};

/// Rows with their numbers after them, and two more.
std::vector<double> addRoom(ArrayRef<double> a, int64_t n) {
  std::vector<double> room((n + 2) * (n + 1), 0.0);
  for (int64_t row = 0; row < n; ++row) {
    llvm::copy(a.slice(row * n, n), room.begin() + row * (n + 1));
    room[row * (n + 1) + n] = row;
  }
  return room;
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// The place of an update, and which step it is of.
struct LuUpdate {
  LuUpdate(LuInPlaceOp op, ElementCall &call)
      : call(call), math{call.builder, call.loc},
        m(op.getType().getShape().end()[-2] - 2),
        n(op.getType().getShape().back() - 1) {
    ValueRange place = call.indices.take_back(4);
    k = place[0], row = place[2], column = place[3];
    Value isStep = math.isLess(k, math.index(n));
    Value isFirst = math.isEqual(place[1], math.index(0));
    auto isOfStep = [&](int64_t number) {
      return math.both(isStep, math.isEqual(place[1], math.index(number)));
    };
    isDivision = math.both(isFirst, math.isEqual(k, math.index(n)));
    isCopy = isOfStep(0), isTaking = isOfStep(1), isElimination = isOfStep(2);
    isPivot = math.both(isCopy, math.both(isRow(m), math.isEqual(column, k)));
  }

  Value isRow(int64_t number) const {
    return math.isEqual(row, math.index(number));
  }
  /// The element as the updates before have left it.
  Value read(Value r, Value c) const {
    return call.source(0, replaceLast(call.indices, 4, {r, c}));
  }
  /// Of the steps that read it, the row with which row k is exchanged. Others
  /// read no more than their own element.
  Value readPivot() const {
    OpBuilder &b = call.builder;
    Value reads = math.either(isTaking, isElimination);
    Value found = read(math.choose(reads, math.index(m), row),
                       math.choose(reads, k, column));
    found = math.choose(reads, found, math.number(found.getType(), 0));
    Value number = arith::FPToSIOp::create(b, call.loc, b.getI64Type(), found);
    Value index =
        arith::IndexCastOp::create(b, call.loc, b.getIndexType(), number);
    return arith::MinUIOp::create(b, call.loc, index, math.index(m));
  }

  ElementCall &call;
  UpdateMath math;
  int64_t m, n;
  Value k, row, column;
  Value isDivision, isCopy, isTaking, isElimination, isPivot;
};

/// The first row from k on with the greatest magnitude in column k, as a
/// number; of other updates the loop has no trips.
Value emitPivot(const LuUpdate &at, Type type) {
  const UpdateMath &math = at.math;
  OpBuilder &b = at.call.builder;
  Location loc = at.call.loc;
  Value end = math.index(at.m);
  auto loop = scf::ForOp::create(b, loc, math.choose(at.isPivot, at.k, end),
                                 end, math.index(1),
                                 ValueRange{math.number(type, -1), at.k});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    Value greatest = loop.getRegionIterArg(0), found = loop.getRegionIterArg(1);
    Value size = math::AbsFOp::create(b, loc, at.read(row, at.k));
    Value isGreater = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                            size, greatest);
    scf::YieldOp::create(b, loc,
                         ValueRange{math.choose(isGreater, size, greatest),
                                    math.choose(isGreater, row, found)});
  }
  Value number =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), loop.getResult(1));
  return arith::SIToFPOp::create(b, loc, type, number);
}

/// y[c] and the multiple of x[k, c] that is subtracted, or the quotient of the
/// last step.
struct Terms {
  Value base, factor;
};

Terms emitTerms(const LuUpdate &at, Value pivot) {
  const UpdateMath &math = at.math;
  OpBuilder &b = at.call.builder;
  Location loc = at.call.loc;
  Value isMoved = math.both(at.isElimination, math.isEqual(at.row, pivot));
  Value row = math.choose(isMoved, math.index(at.m + 1), at.row);
  auto pick = [&](Value last, Value own) {
    return math.choose(at.isElimination, at.k,
                       math.choose(at.isDivision, last, own));
  };
  Value d = at.read(pick(at.column, at.row), pick(at.column, at.column));
  Value above = at.read(row, pick(at.column, at.column));
  Value zero = math.number(d.getType(), 0);
  Value isZero =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, d, zero);
  Value quotient = arith::DivFOp::create(b, loc, above, d);
  return {at.read(row, at.column), math.choose(isZero, zero, quotient)};
}

Value emitLu(const LuUpdate &at) {
  const UpdateMath &math = at.math;
  OpBuilder &b = at.call.builder;
  Location loc = at.call.loc;
  Value pivot = at.readPivot();
  Value ofStep =
      math.choose(at.isTaking, pivot, math.choose(at.isDivision, at.row, at.k));
  Value whole = at.read(ofStep, at.column);
  Terms terms = emitTerms(at, pivot);
  Value product = arith::MulFOp::create(b, loc, terms.factor, whole);
  Value rest = arith::SubFOp::create(b, loc, terms.base, product);
  Value isAfter = math.both(math.isLess(at.k, at.column),
                            math.isLess(at.column, math.index(at.n)));
  Value changed = math.choose(isAfter, rest, terms.base);
  Value made = math.choose(at.isPivot, emitPivot(at, whole.getType()),
                           math.choose(at.isElimination, changed, whole));
  return math.choose(at.isDivision, terms.factor, made);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// The matrices pass by number, and are needed whole.
template <typename Op> ShardingRule makeRule(Op op, RankedTensorType type) {
  ShardingRule rule = ShardingRule::forOp(op);
  addMatrixNumbers(rule, type);
  for (int64_t dim = type.getRank() - 2; dim < type.getRank(); ++dim) {
    int factor = rule.addFactor(type.getDimSize(dim), FactorKind::Whole);
    rule.operands[0][dim] = {factor};
    for (TensorFactors &result : rule.results)
      if (dim < static_cast<int64_t>(result.size()))
        result[dim] = {factor};
  }
  return rule;
}

/// m n² - n³/3 operations of matrices that have `columns` together; of m = n
/// 2n³/3.
OpCost makeCost(Operation *op, int64_t columns, int64_t m, int64_t n) {
  OpCost cost = getTrafficCost(op);
  cost.flops = cost.modelFlops = columns * n * (3 * m - n) / 3;
  return cost;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Of panels of m rows and n columns, n <= m: factors, n pivots, and the m rows
/// of the panel in their final order.
struct Factors {
  Value factors, pivots, order;
};

/// Factors by halves of the columns (Toledo, 1997): with f the factors of the
/// first half, and a, c what the exchanges of its rows make of the rest, above
/// and below the last row of f's triangle,
///
///   u = f⁻¹ a, factors of c - f_below u
///
/// and the exchanges of these move the rows of f below its triangle too.
struct Factorization {
  Factors ofPanel(Value a) const {
    return typeOf(a).getShape().back() > panelColumns ? ofHalves(a)
                                                      : ofKernel(a);
  }

private:
  Factors ofHalves(Value a) const {
    int64_t m = typeOf(a).getShape().end()[-2], n = typeOf(a).getShape().back();
    int64_t half = halve(n, panelColumns), below = m - half, rest = n - half;
    Factors first = ofPanel(takePart(b, loc, a, {0, 0, m, half}));
    Value f = first.factors;
    Value right =
        takeRows(takePart(b, loc, a, {0, half, m, rest}), first.order);
    Value upper = takePart(b, loc, right, {0, 0, half, rest});
    upper = TriangularSolveOp::create(
        b, loc, upper.getType(), takePart(b, loc, f, {0, 0, half, half}), upper,
        /*left_side=*/true, /*lower=*/true, /*unit_diagonal=*/true,
        Transpose::NO_TRANSPOSE);
    Value left = takePart(b, loc, f, {half, 0, below, half});
    Factors last =
        ofPanel(sub(b, loc, takePart(b, loc, right, {half, 0, below, rest}),
                    multiply(left, upper)));
    Value top = takePart(b, loc, f, {0, 0, half, half});
    Value factors = joinRows(
        b, loc,
        {joinColumns(b, loc, {top, upper}),
         joinColumns(b, loc, {takeRows(left, last.order), last.factors})});
    Value later = takeNumbers(first.order, half, below);
    later = reshape(b, loc, takeRows(addColumn(later), last.order),
                    typeOf(later).getShape());
    Value shift = constantLike(b, loc, last.pivots, half);
    return {factors, joinNumbers(first.pivots, add(b, loc, last.pivots, shift)),
            joinNumbers(takeNumbers(first.order, 0, half), later)};
  }

  Factors ofKernel(Value a) const {
    Value room = makeRoom(a);
    Value made = LuInPlaceOp::create(b, loc, room.getType(), room);
    SmallVector<int64_t> shape(typeOf(a).getShape());
    int64_t m = shape.end()[-2], n = shape.back();
    auto take = [&](MatrixPart part, int64_t count) {
      SmallVector<int64_t> numbers(ArrayRef(shape).drop_back(2));
      numbers.push_back(count);
      Value found = reshape(b, loc, takePart(b, loc, made, part), numbers);
      return convertTo(b, loc, found, b.getI32Type());
    };
    return {takePart(b, loc, made, {0, 0, m, n}), take({m, 0, 1, n}, n),
            take({0, n, m, 1}, m)};
  }

  /// The operand of the op that has one tensor.
  Value makeRoom(Value a) const {
    Type element = typeOf(a).getElementType();
    int64_t rank = typeOf(a).getRank(), n = typeOf(a).getShape().back();
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    high[rank - 2] = 2, high[rank - 1] = 1;
    Value room = pad(b, loc, a, scalar(b, loc, element, 0), low, high);
    RankedTensorType type = typeOf(room).clone(Type(b.getI32Type()));
    Value isNumber =
        compare(b, loc, ComparisonDirection::EQ, iota(b, loc, type, rank - 1),
                constantSplat(b, loc, type, n));
    return select(b, loc, isNumber, iota(b, loc, typeOf(room), rank - 2), room);
  }

  Value multiply(Value x, Value y) const {
    int64_t rows = typeOf(x).getRank() - 2;
    SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rows));
    return multiplyAsWide(
        b, loc, x, y, dotDims(b.getContext(), batch, batch, rows + 1, rows));
  }

  /// Row order[i] of x as row i.
  Value takeRows(Value x, Value order) const {
    RankedTensorType type = typeOf(x);
    int64_t rows = type.getRank() - 2;
    SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rows));
    SmallVector<int64_t> sizes(type.getRank(), 1);
    sizes.back() = type.getShape().back();
    auto dims = GatherDimensionNumbersAttr::get(
        b.getContext(), /*offsetDims=*/{rows + 1},
        /*collapsedSliceDims=*/{rows}, batch, batch, /*startIndexMap=*/{rows},
        /*indexVectorDim=*/rows + 1);
    return gather(b, loc, withoutEncoding(type), x, addColumn(order), dims,
                  sizes);
  }

  Value addColumn(Value numbers) const {
    SmallVector<int64_t> shape(typeOf(numbers).getShape());
    shape.push_back(1);
    return reshape(b, loc, numbers, shape);
  }
  Value takeNumbers(Value numbers, int64_t first, int64_t count) const {
    SmallVector<int64_t> limits(typeOf(numbers).getShape());
    SmallVector<int64_t> starts(limits.size(), 0);
    starts.back() = first, limits.back() = first + count;
    return slice(b, loc, numbers, starts, limits);
  }
  Value joinNumbers(Value x, Value y) const {
    return concatenate(b, loc, {x, y}, typeOf(x).getRank() - 1);
  }

public:
  OpBuilder &b;
  Location loc;
};

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

struct LuAnswers : AnswerDefaults<LuOp> {
  static ShardingRule rule(LuOp op) {
    return makeRule(op, op.getA().getType());
  }

  static LogicalResult derive(LuOp op, DerivativeCall &call) {
    if (!call.needed[0])
      return success();
    OpBuilder &b = call.builder;
    Location loc = call.loc;
    Value factors = op.getFactors(), g = call.cotangents[0];
    auto keep = [&](Value x, bool lower) {
      return keepTriangle(b, loc, x, lower, /*strict=*/lower);
    };
    Value below = keep(g, true);
    Value ofLower =
        add(b, loc, below,
            multiplyMatrices(b, loc, keep(factors, true), below, Summed::Rows));
    Value ofUpper = multiplyMatrices(b, loc, keep(g, false),
                                     keep(factors, false), Summed::Columns);
    Value isLower = makeTriangle(b, loc, g, /*lower=*/true, /*strict=*/true);
    Value y = select(b, loc, isLower, ofLower, ofUpper);
    auto solve = [&](Value of, bool lower) {
      return TriangularSolveOp::create(
          b, loc, of.getType(), factors, of, /*left_side=*/lower, lower,
          /*unit_diagonal=*/lower, Transpose::TRANSPOSE);
    };
    Value s = solve(solve(y, true), false);
    call.gradients[0] = moveRowsBack(op, b, s);
    return success();
  }

  /// Row i of x to row permutation[i].
  static Value moveRowsBack(LuOp op, OpBuilder &b, Value x) {
    Location loc = op.getLoc();
    RankedTensorType type =
        withoutEncoding(x.getType()).clone(Type(b.getI32Type()));
    int64_t last = type.getRank() - 1;
    Value to = broadcastInDim(b, loc, op.getPermutation(), type,
                              llvm::to_vector(llvm::seq<int64_t>(0, last)));
    Value isThere =
        compare(b, loc, ComparisonDirection::EQ, to, iota(b, loc, type, last));
    Value moves = convertTo(b, loc, isThere, typeOf(x).getElementType());
    return multiplyMatrices(b, loc, moves, x, Summed::Rows);
  }

  static OpCost cost(LuOp op) {
    RankedTensorType type = op.getA().getType();
    int64_t n = type.getShape().back();
    return makeCost(op, n ? type.getNumElements() / n : 0, n, n);
  }

  static KernelForm form(LuOp) { return KernelForm::Decompose; }
  static LogicalResult decompose(LuOp op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    Type element = op.getA().getType().getElementType();
    Value a = convertTo(b, op.getLoc(), op.getA(), getWideElement(element));
    Factors made = Factorization{b, op.getLoc()}.ofPanel(a);
    results.push_back(convertTo(b, op.getLoc(), made.factors, element));
    results.push_back(made.pivots);
    results.push_back(made.order);
    return success();
  }

  static LogicalResult evaluate(LuOp op, EvaluationCall &call) {
    RankedTensorType type = op.getA().getType();
    int64_t n = type.getShape().back(), size = n * n;
    std::vector<double> all = loadElements(call.operands[0]);
    HostTensor pivots(op.getPivots().getType()),
        permutation(op.getPermutation().getType());
    for (int64_t number = 0; size && number < type.getNumElements() / size;
         ++number) {
      auto a = llvm::MutableArrayRef<double>(all).slice(number * size, size);
      std::vector<double> room = addRoom(a, n);
      Elimination made(room, n, n);
      made.run();
      for (int64_t row = 0; row < n; ++row) {
        pivots.setInt(number * n + row, made.at(n, row));
        permutation.setInt(number * n + row, made.at(row, n));
        for (int64_t column = 0; column < n; ++column)
          a[row * n + column] = made.at(row, column);
      }
    }
    call.results.push_back(storeElements(op.getFactors().getType(), all));
    call.results.push_back(std::move(pivots));
    call.results.push_back(std::move(permutation));
    return success();
  }
};

struct LuInPlaceAnswers : AnswerDefaults<LuInPlaceOp> {
  static ShardingRule rule(LuInPlaceOp op) {
    return makeRule(op, op.getType());
  }

  static OpCost cost(LuInPlaceOp op) {
    ArrayRef<int64_t> shape = op.getType().getShape();
    int64_t m = shape.end()[-2] - 2, n = shape.back() - 1;
    int64_t matrices = op.getType().getNumElements() / ((m + 2) * (n + 1));
    return makeCost(op, matrices * n, m, n);
  }

  static KernelForm form(LuInPlaceOp) { return KernelForm::Update; }
  static SmallVector<int64_t> updateShape(LuInPlaceOp op) {
    SmallVector<int64_t> shape(op.getType().getShape());
    int64_t steps[] = {shape.back(), 3};
    shape.insert(shape.end() - 2, std::begin(steps), std::end(steps));
    return shape;
  }
  static std::optional<UpdateOrder> updateOrder(LuInPlaceOp op) {
    return UpdateOrder{static_cast<unsigned>(op.getType().getRank()) - 2, 2};
  }
  static UpdateTarget emitUpdateTarget(LuInPlaceOp op, ElementCall &call) {
    LuUpdate at(op, call);
    const UpdateMath &math = at.math;
    Value end = math.index(at.n);
    Value isMatrix = math.isLess(at.row, math.index(at.m));
    Value isBelow = math.both(
        isMatrix, math.choose(at.isDivision,
                              math.both(math.isLess(at.column, at.row),
                                        math.isLess(at.column, end)),
                              math.isLess(at.k, at.row)));
    Value isChanged = math.either(
        math.both(math.isLess(at.k, at.column), math.isLess(at.column, end)),
        math.isEqual(at.row, at.readPivot()));
    Value isEliminated =
        math.both(at.isElimination, math.both(isBelow, isChanged));
    Value isTaken =
        math.both(at.isTaking, math.both(isMatrix, math.isEqual(at.row, at.k)));
    Value isCopied = math.both(at.isCopy, at.isRow(at.m + 1));
    Value inBounds = math.either(
        math.either(math.both(at.isDivision, isBelow), isEliminated),
        math.either(isTaken, math.either(isCopied, at.isPivot)));
    return {replaceLast(call.indices, 4, call.indices.take_back(2)), inBounds};
  }
  static Value emitUpdateElement(LuInPlaceOp op, Value, ElementCall &call) {
    return emitLu(LuUpdate(op, call));
  }

  static LogicalResult evaluate(LuInPlaceOp op, EvaluationCall &call) {
    ArrayRef<int64_t> shape = op.getType().getShape();
    int64_t m = shape.end()[-2] - 2, n = shape.back() - 1;
    int64_t size = (m + 2) * (n + 1);
    std::vector<double> all = loadElements(call.operands[0]);
    for (size_t first = 0; first < all.size(); first += size)
      Elimination(llvm::MutableArrayRef<double>(all).slice(first, size), m, n)
          .run();
    call.results.push_back(storeElements(op.getType(), all));
    return success();
  }
};

} // namespace

void stablehlo::registerLuModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<LuOp, LuAnswers>(context);
    attachSomeAnswers<LuInPlaceOp, LuInPlaceAnswers, graph::detail::RuleModel,
                      graph::detail::CostModel, graph::detail::KernelModel,
                      graph::detail::EvaluationModel>(context);
    LuOp::attachInterface<MoreMatrices<LuOp>>(*context);
    LuInPlaceOp::attachInterface<MoreMatrices<LuInPlaceOp>>(*context);
  });
}
