//===- TriangularSolve.cpp - Answers of triangular solutions --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With g the cotangent of the solution x:
//
//   op(a) x = b     op(a)ᵀ h = g     h is b's cotangent, -h xᵀ that of op(a)
//   x op(a) = b     h op(a)ᵀ = g     h is b's cotangent, -xᵀ h that of op(a)
//
// of which a gets the elements of its triangle, without a unit diagonal.
//
// The kernel changes b. Both forms are m x = b with m = op(a) or, of the right
// side, its transpose; of each free position (a column of b, of the right side
// a row) x is found from the first row on where m is lower, else from the last:
//
//   step k < n, p after k      x[p] -= m[p, k] / m[k, k] * x[k]
//   step n                     x[p] /= m[p, p]
//
// Dividing at the end alone leaves what a step reads as it is.
//
// Test: test/Dialect/StableHLO/Models/LinearAlgebraTest.cpp
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "../Products/Contraction.h"
#include "Matrices.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {

/// What is solved, by dims.
struct SolveForm {
  explicit SolveForm(TriangularSolveOp op)
      : n(op.getA().getType().getShape().back()), left(op.getLeftSide()),
        isUnit(op.getUnitDiagonal()),
        isTransposed(op.getTransposeA() != Transpose::NO_TRANSPOSE),
        isSwapped(left == isTransposed),
        isAscending(op.getLower() != isSwapped) {}

  int64_t n;
  bool left, isUnit, isTransposed;
  /// m is the transpose of a.
  bool isSwapped;
  /// m is lower.
  bool isAscending;
};

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// One matrix and the right sides of it, x[p * step + f * jump] for each free
/// position f.
void solve(const SolveForm &form, ArrayRef<double> a,
           llvm::MutableArrayRef<double> x, int64_t count) {
  int64_t n = form.n, step = form.left ? count : 1, jump = form.left ? 1 : n;
  auto m = [&](int64_t i, int64_t j) {
    return form.isSwapped ? a[j * n + i] : a[i * n + j];
  };
  for (int64_t f = 0; f < count; ++f)
    for (int64_t i = 0; i < n; ++i) {
      int64_t p = form.isAscending ? i : n - 1 - i;
      double rest = x[p * step + f * jump];
      for (int64_t j = 0; j < i; ++j) {
        int64_t k = form.isAscending ? j : n - 1 - j;
        rest -= m(p, k) * x[k * step + f * jump];
      }
      x[p * step + f * jump] = form.isUnit ? rest : rest / m(p, p);
    }
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// The place of an update: a step, the row of m, and the free position.
struct SolveUpdate {
  SolveUpdate(TriangularSolveOp op, ElementCall &call)
      : call(call), math{call.builder, call.loc}, form(op) {
    step = call.indices.drop_back(2).back();
    row = call.indices.drop_back(1).back(), free = call.indices.back();
    if (!form.left)
      std::swap(row, free);
  }

  /// An element of m.
  Value readMatrix(Value i, Value j) const {
    if (form.isSwapped)
      std::swap(i, j);
    return call.source(0, replaceLast(call.indices, 3, {i, j}));
  }
  /// An element of x as the updates before have left it.
  Value readSolution(Value i) const {
    Value place[] = {i, free};
    if (!form.left)
      std::swap(place[0], place[1]);
    return call.source(1, replaceLast(call.indices, 3, place));
  }

  ElementCall &call;
  UpdateMath math;
  SolveForm form;
  Value step, row, free;
};

Value emitSolution(const SolveUpdate &at, Value old) {
  const UpdateMath &math = at.math;
  OpBuilder &b = at.call.builder;
  Value isStep = math.isLess(at.step, math.index(at.form.n));
  Value k = at.form.isAscending ? at.step
                                : math.sub(math.index(at.form.n - 1), at.step);
  k = math.choose(isStep, k, at.row);
  Value quotient = math.choose(isStep, at.readMatrix(at.row, k), old);
  if (!at.form.isUnit)
    quotient =
        arith::DivFOp::create(b, at.call.loc, quotient, at.readMatrix(k, k));
  Value product =
      arith::MulFOp::create(b, at.call.loc, quotient, at.readSolution(k));
  Value rest = arith::SubFOp::create(b, at.call.loc, old, product);
  return math.choose(isStep, rest, quotient);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// Halves of an equation, of which the one that is found first has the blocks
/// m of the matrix and x of the solution, the other one n and y, and k is the
/// block between them (Elmroth and Gustavson, 2000):
///
///   m x = b, n y = c - k x
///
class HalvedEquation {
public:
  HalvedEquation(TriangularSolveOp op, OpBuilder &b)
      : op(op), b(b), loc(op.getLoc()), form(op),
        half(halve(form.n, blockRows)) {}

  Value run() {
    int64_t rest = form.n - half;
    int64_t first = form.isAscending ? 0 : half;
    int64_t firstRows = form.isAscending ? half : rest;
    Value x = solve(first, firstRows, takeRight(first, firstRows));
    Value right = takeRight(half - first, form.n - firstRows);
    Value y = solve(half - first, form.n - firstRows,
                    sub(b, loc, right, multiply(x)));
    if (!form.isAscending)
      std::swap(x, y);
    return form.left ? joinRows(b, loc, {x, y}) : joinColumns(b, loc, {x, y});
  }

private:
  Value solve(int64_t at, int64_t rows, Value right) {
    Value a = takePart(b, loc, op.getA(), {at, at, rows, rows});
    return TriangularSolveOp::create(b, loc, right.getType(), a, right,
                                     form.left, op.getLower(), form.isUnit,
                                     op.getTransposeA());
  }

  Value takeRight(int64_t at, int64_t rows) {
    ArrayRef<int64_t> shape = op.getType().getShape();
    return takePart(b, loc, op.getB(),
                    form.left ? MatrixPart{at, 0, rows, shape.back()}
                              : MatrixPart{0, at, shape.end()[-2], rows});
  }

  /// k x, of the right side x kᵀ: k is the block of a that is not 0, or its
  /// transpose.
  Value multiply(Value x) {
    int64_t rest = form.n - half;
    Value block = takePart(b, loc, op.getA(),
                           op.getLower() ? MatrixPart{half, 0, rest, half}
                                         : MatrixPart{0, half, half, rest});
    int64_t rank = typeOf(x).getRank(), rows = rank - 2, columns = rank - 1;
    SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rows));
    auto dims = [&](int64_t left, int64_t right) {
      return dotDims(b.getContext(), batch, batch, left, right);
    };
    if (form.left)
      return multiplyAsWide(b, loc, block, x,
                            dims(form.isTransposed ? rows : columns, rows));
    return multiplyAsWide(b, loc, x, block,
                          dims(columns, form.isTransposed ? columns : rows));
  }

  TriangularSolveOp op;
  OpBuilder &b;
  Location loc;
  SolveForm form;
  int64_t half;
};

Value solveBlocks(TriangularSolveOp op, OpBuilder &b) {
  return HalvedEquation(op, b).run();
}

struct TriangularSolveAnswers : AnswerDefaults<TriangularSolveOp> {
  static ShardingRule rule(TriangularSolveOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType a = op.getA().getType(), b = op.getType();
    addMatrixNumbers(rule, b);
    int64_t last = b.getRank() - 1;
    for (int64_t dim : {last - 1, last})
      rule.operands[0][dim] = {
          rule.addFactor(a.getDimSize(dim), FactorKind::Whole)};
    int64_t free = op.getLeftSide() ? last : last - 1;
    for (int64_t dim : {last - 1, last}) {
      int factor =
          rule.addFactor(b.getDimSize(dim),
                         dim == free ? FactorKind::Pass : FactorKind::Whole);
      rule.operands[1][dim] = rule.results[0][dim] = {factor};
    }
    rule.addLinear(ReductionKind::sum, {{1}});
    return rule;
  }

  static LogicalResult derive(TriangularSolveOp op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    Location loc = call.loc;
    SolveForm form(op);
    Value h = TriangularSolveOp::create(
        b, loc, withoutEncoding(op.getType()), op.getA(), call.cotangents[0],
        op.getLeftSide(), op.getLower(), op.getUnitDiagonal(),
        form.isTransposed ? Transpose::NO_TRANSPOSE : Transpose::TRANSPOSE);
    if (call.needed[1])
      call.gradients[1] = h;
    if (!call.needed[0])
      return success();
    Value first = h, second = op.getResult();
    if (form.left == form.isTransposed)
      std::swap(first, second);
    Value product = multiplyMatrices(
        b, loc, first, second, form.left ? Summed::Columns : Summed::Rows);
    call.gradients[0] = keepTriangle(b, loc, neg(b, loc, product),
                                     op.getLower(), op.getUnitDiagonal());
    return success();
  }

  /// n operations for each element of b.
  static OpCost cost(TriangularSolveOp op) {
    OpCost cost = getTrafficCost(op);
    cost.flops = op.getType().getNumElements() * SolveForm(op).n;
    cost.modelFlops = cost.flops;
    return cost;
  }

  static KernelForm form(TriangularSolveOp op) {
    bool isNarrow = isNarrowFloat(op.getType().getElementType());
    return isNarrow || SolveForm(op).n > blockRows ? KernelForm::Decompose
                                                   : KernelForm::Update;
  }
  static LogicalResult decompose(TriangularSolveOp op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    Type element = op.getType().getElementType(),
         wide = getWideElement(element);
    if (!isNarrowFloat(element)) {
      results.push_back(solveBlocks(op, b));
      return success();
    }
    Value right = convertTo(b, op.getLoc(), op.getB(), wide);
    Value made = TriangularSolveOp::create(
        b, op.getLoc(), right.getType(),
        convertTo(b, op.getLoc(), op.getA(), wide), right, op.getLeftSide(),
        op.getLower(), op.getUnitDiagonal(), op.getTransposeA());
    results.push_back(convertTo(b, op.getLoc(), made, element));
    return success();
  }

  static unsigned changedOperand(TriangularSolveOp) { return 1; }
  static SmallVector<int64_t> updateShape(TriangularSolveOp op) {
    SmallVector<int64_t> shape(op.getType().getShape());
    shape.insert(shape.end() - 2, SolveForm(op).n + 1);
    return shape;
  }
  static std::optional<UpdateOrder> updateOrder(TriangularSolveOp op) {
    return UpdateOrder{static_cast<unsigned>(op.getType().getRank()) - 2, 1};
  }
  static UpdateTarget emitUpdateTarget(TriangularSolveOp op,
                                       ElementCall &call) {
    SolveUpdate at(op, call);
    const UpdateMath &math = at.math;
    Value isAfter =
        at.form.isAscending
            ? math.isLess(at.step, at.row)
            : math.isLess(math.add(math.add(at.step, at.row), math.index(1)),
                          math.index(at.form.n));
    Value isEnd = math.isEqual(at.step, math.index(at.form.n));
    return {replaceLast(call.indices, 3, call.indices.take_back(2)),
            math.either(isEnd, isAfter)};
  }
  static Value emitUpdateElement(TriangularSolveOp op, Value old,
                                 ElementCall &call) {
    return emitSolution(SolveUpdate(op, call), old);
  }

  static LogicalResult evaluate(TriangularSolveOp op, EvaluationCall &call) {
    SolveForm form(op);
    ArrayRef<int64_t> shape = op.getType().getShape();
    int64_t count = form.left ? shape.back() : shape.drop_back().back();
    std::vector<double> a = loadElements(call.operands[0]),
                        x = loadElements(call.operands[1]);
    int64_t size = form.n * count;
    for (size_t at = 0; size && at < x.size() / size; ++at)
      solve(form, ArrayRef(a).slice(at * form.n * form.n, form.n * form.n),
            llvm::MutableArrayRef<double>(x).slice(at * size, size), count);
    call.results.push_back(storeElements(op.getType(), x));
    return success();
  }
};

} // namespace

void stablehlo::registerTriangularSolveModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<TriangularSolveOp, TriangularSolveAnswers>(context);
    TriangularSolveOp::attachInterface<MoreMatrices<TriangularSolveOp>>(
        *context);
  });
}
