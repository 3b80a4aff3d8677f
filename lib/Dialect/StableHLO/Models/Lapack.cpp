//===- Lapack.cpp - Calls of LAPACK as ops --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Import/StableHLO/lapack-calls.mlir, test/EndToEnd/
//===----------------------------------------------------------------------===//

#include "Lapack.h"
#include "Faults.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/CallTargets.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// The letters of a call, as texts of all versions have them.
static DictionaryAttr getConfig(CustomCallOp call) {
  if (auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config"))
    return config;
  return dyn_cast_or_null<DictionaryAttr>(
      call.getBackendConfig().value_or(Attribute()));
}

/// The letter `name`, one of `known`; 0 after an error.
static char readLetter(CustomCallOp call, StringRef name, StringRef known) {
  DictionaryAttr config = getConfig(call);
  auto code = config ? config.getAs<IntegerAttr>(name) : IntegerAttr();
  int64_t value = code ? code.getValue().getZExtValue() : 0;
  if (value > 0 && value < 128 && known.contains(static_cast<char>(value)))
    return static_cast<char>(value);
  std::string given = code ? std::to_string(value) : "nothing";
  emitRefusal(call, rt::ErrorKind::unsupported)
      << "expected '" << name << "' of '" << call.getCallTargetName()
      << "' to be the code of a letter of '" << known << "', got " << given;
  return 0;
}

static LogicalResult verifyCounts(CustomCallOp call, unsigned operands,
                                  unsigned results) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (call->getNumOperands() == operands && call->getNumResults() == results &&
      llvm::all_of(call->getOperandTypes(), isTensor) &&
      llvm::all_of(call->getResultTypes(), isTensor))
    return success();
  return emitRefusal(call, rt::ErrorKind::unsupported)
         << "expected '" << call.getCallTargetName() << "' of tensors, "
         << operands << " operands and " << results << " results, got "
         << call->getNumOperands() << " and " << call->getNumResults();
}

/// The op that the call is, unless its operands and results do not fit.
static LogicalResult verifyMade(CustomCallOp call, Operation *made) {
  std::optional<std::string> fault = findFault(made);
  if (!fault)
    return success();
  made->erase();
  return emitRefusal(call, rt::ErrorKind::malformed)
         << "expected '" << call.getCallTargetName()
         << "' of types that fit, got others: " << *fault;
}

/// 0 where the factor has numbers, else 1: all of its triangle is NaN there,
/// so its last element tells.
static Value makeInfo(OpBuilder &b, Location loc, Value factor,
                      RankedTensorType type) {
  auto whole = cast<RankedTensorType>(factor.getType());
  Value zeros = constantSplat(b, loc, type, 0);
  int64_t rank = whole.getRank(), n = whole.getShape().back();
  if (n == 0)
    return zeros;
  SmallVector<int64_t> starts(rank, 0), limits(whole.getShape());
  starts[rank - 2] = starts[rank - 1] = n - 1;
  Value last = reshape(b, loc, slice(b, loc, factor, starts, limits),
                       whole.getShape().drop_back(2));
  Value isNumber = compare(b, loc, ComparisonDirection::EQ, last, last);
  return select(b, loc, isNumber, zeros, constantSplat(b, loc, type, 1));
}

/// `number`, of the call's results, has an element for each matrix of `whole`.
static LogicalResult verifyInfo(CustomCallOp call, unsigned number,
                                RankedTensorType whole) {
  auto info = cast<RankedTensorType>(call.getResultTypes()[number]);
  if (info.getElementType().isInteger(32) &&
      info.getShape() == whole.getShape().drop_back(2))
    return success();
  return emitRefusal(call, rt::ErrorKind::unsupported)
         << "expected a last result of '" << call.getCallTargetName()
         << "' of i32 that has an element for each matrix, got " << info;
}

static LogicalResult expandFactor(CustomCallOp call, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
  if (failed(verifyCounts(call, 1, 2)))
    return failure();
  char triangle = readLetter(call, "uplo", "LU");
  if (!triangle)
    return failure();
  auto made = CholeskyOp::create(b, call.getLoc(), call.getResultTypes()[0],
                                 call.getOperand(0), triangle == 'L');
  if (failed(verifyMade(call, made)) ||
      failed(verifyInfo(call, 1, made.getType())))
    return failure();
  results.push_back(made);
  results.push_back(makeInfo(b, call.getLoc(), made,
                             cast<RankedTensorType>(call.getResultTypes()[1])));
  return success();
}

/// The number of the first pivot that is 0, from 1 on; 0 where none is.
static Value makePivotInfo(OpBuilder &b, Location loc, Value factors,
                           RankedTensorType type) {
  RankedTensorType whole = withoutEncoding(factors.getType());
  int64_t rank = whole.getRank(), n = whole.getShape().back();
  if (n == 0)
    return constantSplat(b, loc, type, 0);
  RankedTensorType numbers = whole.clone(Type(b.getI32Type()));
  Value row = iota(b, loc, numbers, rank - 2);
  auto isEqual = [&](Value x, Value y) {
    return compare(b, loc, ComparisonDirection::EQ, x, y);
  };
  Value isZero =
      logicalAnd(b, loc, isEqual(row, iota(b, loc, numbers, rank - 1)),
                 isEqual(factors, constantLike(b, loc, factors, 0)));
  Value none = constantSplat(b, loc, numbers, n);
  Value first = reduce(b, loc, ReductionKind::min,
                       select(b, loc, isZero, row, none), {rank - 2, rank - 1});
  Value number = add(b, loc, first, constantLike(b, loc, first, 1));
  Value isNone = isEqual(first, constantLike(b, loc, first, n));
  return select(b, loc, isNone, constantLike(b, loc, first, 0), number);
}

static LogicalResult expandPivoted(CustomCallOp call, OpBuilder &b,
                                   SmallVectorImpl<Value> &results) {
  if (failed(verifyCounts(call, 1, 3)))
    return failure();
  auto a = cast<RankedTensorType>(call.getOperand(0).getType());
  if (a.getRank() >= 2 && a.getShape().back() != a.getShape().end()[-2])
    return emitRefusal(call, rt::ErrorKind::unsupported)
           << "expected '" << call.getCallTargetName()
           << "' of matrices with as many rows as columns, got " << a;
  Type pivots = call.getResultTypes()[1];
  auto made = LuOp::create(b, call.getLoc(), call.getResultTypes()[0], pivots,
                           pivots, call.getOperand(0));
  if (failed(verifyMade(call, made)) || failed(verifyInfo(call, 2, a)))
    return failure();
  // LAPACK numbers rows from 1 on.
  Value one = constantLike(b, call.getLoc(), made.getPivots(), 1);
  results.push_back(made.getFactors());
  results.push_back(add(b, call.getLoc(), made.getPivots(), one));
  results.push_back(
      makePivotInfo(b, call.getLoc(), made.getFactors(),
                    cast<RankedTensorType>(call.getResultTypes()[2])));
  return success();
}

static LogicalResult expandSolution(CustomCallOp call, OpBuilder &b,
                                    SmallVectorImpl<Value> &results) {
  if (failed(verifyCounts(call, 2, 1)))
    return failure();
  char side = readLetter(call, "side", "LR");
  char triangle = side ? readLetter(call, "uplo", "LU") : 0;
  char form = triangle ? readLetter(call, "trans_x", "NTC") : 0;
  char diagonal = form ? readLetter(call, "diag", "NU") : 0;
  if (!diagonal)
    return failure();
  auto made = TriangularSolveOp::create(
      b, call.getLoc(), call.getResultTypes()[0], call.getOperand(0),
      call.getOperand(1), side == 'L', triangle == 'L', diagonal == 'U',
      form == 'N' ? Transpose::NO_TRANSPOSE : Transpose::TRANSPOSE);
  if (failed(verifyMade(call, made)))
    return failure();
  results.push_back(made);
  return success();
}

namespace {
struct Routine {
  StringRef target;
  LogicalResult (*expand)(CustomCallOp, OpBuilder &, SmallVectorImpl<Value> &);
};
} // namespace

static const Routine *findRoutine(StringRef target) {
  static constexpr Routine routines[] = {
      {kFactorTargets[0], expandFactor},  {kFactorTargets[1], expandFactor},
      {kPivotTargets[0], expandPivoted},  {kPivotTargets[1], expandPivoted},
      {kSolveTargets[0], expandSolution}, {kSolveTargets[1], expandSolution}};
  const Routine *found = llvm::find_if(
      routines, [&](const Routine &known) { return known.target == target; });
  return found == std::end(routines) ? nullptr : found;
}

bool stablehlo::isLapackOp(CustomCallOp call) {
  return findRoutine(call.getCallTargetName());
}

LogicalResult stablehlo::expandLapack(CustomCallOp call, OpBuilder &builder,
                                      SmallVectorImpl<Value> &results) {
  return findRoutine(call.getCallTargetName())->expand(call, builder, results);
}

StringRef stablehlo::getLapackHint(StringRef target) {
  static constexpr StringLiteral
      eigenvalues = " (it has no eigenvalues: use jnp.linalg.slogdet, "
                    "jnp.trace or powers of the matrix, or compute them before "
                    "the model)",
      singular = " (it has no singular values: for least squares use "
                 "jnp.linalg.solve(x.T @ x, x.T @ y), else powers of x.T @ x, "
                 "or compute them before the model)",
      orthogonal = " (it has no QR: use jnp.linalg.cholesky(x.T @ x) and "
                   "jax.scipy.linalg.solve_triangular)",
      others =
          " (of LAPACK it has getrf, potrf and trsm of real numbers, as "
          "JAX calls them for jnp.linalg.solve, inv, slogdet and cholesky)";
  static constexpr std::pair<StringRef, StringRef> hints[] = {
      {"syevd", eigenvalues}, {"heevd", eigenvalues}, {"geev", eigenvalues},
      {"gesdd", singular},    {"geqrf", orthogonal},  {"geqp3", orthogonal},
      {"orgqr", orthogonal},  {"ungqr", orthogonal},  {"", others}};
  if (!target.starts_with("lapack_"))
    return "";
  return llvm::find_if(
             hints,
             [&](const auto &hint) { return target.contains(hint.first); })
      ->second;
}
