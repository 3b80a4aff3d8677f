//===- RuleHarness.cpp - Checks of sharding rules by evaluation -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RuleHarness.h.
//
//===----------------------------------------------------------------------===//

#include "RuleHarness.h"
#include "EvaluatedOps.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Interpreter/Interpreter.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;
using graph::FactorKind;
using graph::ShardingRule;
using graph::TensorFactors;

using Tensors = SmallVector<HostTensor>;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Half number `half` of `tensor` along `dim`.
static HostTensor takeHalf(const HostTensor &tensor, int64_t dim, int half) {
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] /= 2;
  HostTensor result(tensor.getElementType(), shape);
  if (result.getNumElements() == 0)
    return result;
  SmallVector<int64_t> strides = tensor.getStrides();
  SmallVector<int64_t> index(shape.size());
  int64_t size = tensor.getElementBytes(), next = 0;
  char *bytes = result.mutableBytes();
  do {
    int64_t position = half * shape[dim] * strides[dim];
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      position += i * stride;
    std::memcpy(bytes + size * next++, tensor.bytes() + position * size, size);
  } while (nextIndex(index, shape));
  return result;
}

static double combineNumbers(ReductionKind kind, double x, double y) {
  switch (kind) {
  case ReductionKind::sum:
    return x + y;
  case ReductionKind::product:
    return x * y;
  case ReductionKind::max:
    return std::max(x, y);
  case ReductionKind::min:
    return std::min(x, y);
  case ReductionKind::bitAnd:
    return static_cast<double>(int64_t(x) & int64_t(y));
  case ReductionKind::bitOr:
    return static_cast<double>(int64_t(x) | int64_t(y));
  }
  return 0;
}

static HostTensor combine(ReductionKind kind, const HostTensor &x,
                          const HostTensor &y) {
  HostTensor result(x.getElementType(), x.getShape());
  for (int64_t i = 0; i < x.getNumElements(); ++i)
    result.setFloat(i, combineNumbers(kind, x.getFloat(i), y.getFloat(i)));
  return result;
}

/// What rounding to the narrowest float type of the op may change.
static double getTolerance(Operation *op) {
  unsigned width = 64;
  auto note = [&](Type type) {
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
      width = std::min(width, element.getWidth());
  };
  llvm::for_each(op->getOperandTypes(), note);
  llvm::for_each(op->getResultTypes(), note);
  return width == 64 ? 1e-11 : width == 32 ? 1e-5 : 2e-2;
}

static bool isClose(const HostTensor &x, const HostTensor &y,
                    double tolerance) {
  if (!x || !y || x.getType() != y.getType())
    return false;
  for (int64_t i = 0; i < x.getNumElements(); ++i) {
    double a = x.getFloat(i), b = y.getFloat(i);
    double scale = std::max({1.0, std::fabs(a), std::fabs(b)});
    if (!(a == b || std::fabs(a - b) <= tolerance * scale ||
          (std::isnan(a) && std::isnan(b))))
      return false;
  }
  return true;
}

/// Random values of the type of `like`; integers as small as its own.
static HostTensor drawLike(const HostTensor &like, uint64_t seed) {
  if (like.isFloat())
    return drawTensor(like.getType(), seed);
  HostTensor result(like.getType());
  for (int64_t i = 0; i < like.getNumElements(); ++i)
    result.setInt(i, (seed * 2654435761u + i * 40503u) >> 7 & 3);
  return result;
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

namespace {
class OpChecker {
public:
  OpChecker(Operation *op, ArrayRef<HostTensor> operands,
            ArrayRef<HostTensor> results, RuleChecks &checks, uint64_t seed)
      : op(op), operands(operands), results(results), checks(checks),
        seed(seed), tolerance(getTolerance(op)),
        rule(cast<graph::ShardingRuleOpInterface>(op).getShardingRule()) {}

  /// Empty when all is as stated.
  std::string check() {
    if (failed(graph::verifyRule(op, rule)))
      return "a rule that does not fit the types";
    // What has no operands makes its part from where it stands: local forms.
    for (auto [f, factor] : llvm::enumerate(rule.factors))
      if (op->getNumOperands() > 0 &&
          (factor.kind == FactorKind::Pass ||
           factor.kind == FactorKind::Reduced) &&
          !checkFactor(f))
        return "factor " + std::to_string(f) + " of " + rule.str() +
               " does not split";
    for (const graph::Linearity &linearity : rule.carries)
      for (const SmallVector<int> &group : linearity.groups)
        if (!checkGroup(linearity.kind, group))
          return "not linear in a group of " +
                 std::string(nameOf(linearity.kind));
    return "";
  }

private:
  /// The dimension of a tensor in which `factor` is the major part that can be
  /// halved; -1 when it is in none, -2 when it cannot be halved.
  int64_t findDim(const TensorFactors &tensor, int factor) const {
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      if (!llvm::is_contained(factors, factor))
        continue;
      for (int f : factors) {
        if (f == factor)
          return dim;
        if (rule.factors[f].size != 1)
          return -2;
      }
    }
    return -1;
  }

  FailureOr<Tensors> runHalf(int factor, int half) {
    Tensors inputs;
    for (auto [i, tensor] : llvm::enumerate(operands)) {
      int64_t dim = findDim(rule.operands[i], factor);
      // Of several summands only one may contribute an operand that all share.
      bool isForeign =
          half == 1 && dim < 0 && llvm::is_contained(rule.addends, int(i));
      inputs.push_back(dim >= 0    ? takeHalf(tensor, dim, half)
                       : isForeign ? HostTensor(tensor.getType())
                                   : tensor);
    }
    SmallVector<Type> types;
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      auto type = cast<RankedTensorType>(result.getType());
      SmallVector<int64_t> shape(type.getShape());
      int64_t dim = findDim(rule.results[i], factor);
      if (dim >= 0)
        shape[dim] /= 2;
      types.push_back(type.clone(shape));
    }
    return runWithTypes(inputs, types);
  }

  /// Evaluates a copy of the op on `inputs`; fails when the op's attributes do
  /// not allow these shapes.
  FailureOr<Tensors> runWithTypes(ArrayRef<HostTensor> inputs,
                                  ArrayRef<Type> types) {
    Block block;
    IRMapping mapping;
    for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), inputs))
      mapping.map(operand, block.addArgument(tensor.getType(), op->getLoc()));
    // An operand given twice has one value: the halves agree.
    Operation *copy = op->cloneWithoutRegions(mapping);
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), copy->getRegions()))
      from.cloneInto(&to, mapping);
    for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
      result.setType(type);
    block.push_back(copy);
    if (failed(mlir::verify(copy)))
      return failure();
    Interpreter interpreter;
    Tensors outputs;
    if (failed(interpreter.evaluateOp(copy, inputs, outputs)))
      return failure();
    return outputs;
  }

  /// Indices address the whole of these dimensions of operand 0: splitting them
  /// needs indices relative to the part, which localize computes.
  ArrayRef<int64_t> getAddressedDims() const {
    if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
      return gather.getDimensionNumbers().getStartIndexMap();
    if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
      return scatter.getScatterDimensionNumbers().getScatterDimsToOperandDims();
    return {};
  }

  bool canHalve(int factor) const {
    if (rule.factors[factor].size % 2 || !rule.factors[factor].size)
      return false;
    for (int64_t dim : getAddressedDims())
      if (llvm::is_contained(rule.operands[0][dim], factor)) {
        ++checks.numSkipped;
        return false;
      }
    auto isMinor = [&](const TensorFactors &tensor) {
      return findDim(tensor, factor) == -2;
    };
    return llvm::none_of(rule.operands, isMinor) &&
           llvm::none_of(rule.results, isMinor);
  }

  bool checkFactor(int factor) {
    if (!canHalve(factor))
      return true;
    FailureOr<Tensors> low = runHalf(factor, 0), high = runHalf(factor, 1);
    if (failed(low) || failed(high)) {
      ++checks.numSkipped;
      return true;
    }
    bool isReduced = rule.factors[factor].kind == FactorKind::Reduced;
    ++(isReduced ? checks.numReduced : checks.numHalved);
    for (auto [i, result] : llvm::enumerate(results)) {
      int64_t dim = findDim(rule.results[i], factor);
      if (isReduced && !isClose(combine(rule.factors[factor].reduction,
                                        (*low)[i], (*high)[i]),
                                result, tolerance))
        return false;
      if (!isReduced &&
          (!isClose((*low)[i], dim < 0 ? result : takeHalf(result, dim, 0),
                    tolerance) ||
           !isClose((*high)[i], dim < 0 ? result : takeHalf(result, dim, 1),
                    tolerance)))
        return false;
    }
    return true;
  }

  bool checkGroup(ReductionKind kind, ArrayRef<int> group) {
    Tensors first(operands), second(operands), whole(operands);
    for (int i : group) {
      first[i] = drawLike(operands[i], seed * 31 + i);
      second[i] = drawLike(operands[i], seed * 37 + i + 100);
      whole[i] = combine(kind, first[i], second[i]);
    }
    SmallVector<Type> types(op->getResultTypes());
    FailureOr<Tensors> x = runWithTypes(first, types);
    FailureOr<Tensors> y = runWithTypes(second, types);
    FailureOr<Tensors> z = runWithTypes(whole, types);
    if (failed(x) || failed(y) || failed(z))
      return false;
    ++checks.numCarried;
    for (auto [a, b, c] : llvm::zip_equal(*x, *y, *z))
      if (!isClose(combine(kind, a, b), c, tolerance))
        return false;
    return true;
  }

  Operation *op;
  ArrayRef<HostTensor> operands, results;
  RuleChecks &checks;
  uint64_t seed;
  double tolerance;
  ShardingRule rule;
};
} // namespace

testing::AssertionResult test::checkRules(StringRef text, RuleChecks *checks,
                                          uint64_t seed) {
  GraphContext context;
  RuleChecks own;
  auto module = context.parse(text);
  if (!module)
    return testing::AssertionFailure() << context.takeMessages();
  func::FuncOp function = getFunction(*module);
  FailureOr<std::vector<EvaluatedOp>> ops = evaluateOps(function, seed);
  if (failed(ops))
    return testing::AssertionFailure() << "no evaluation\n"
                                       << context.takeMessages();
  for (auto &[op, operands, results] : *ops) {
    if (!isa<graph::ShardingRuleOpInterface>(op))
      return testing::AssertionFailure()
             << op->getName().getStringRef().str() << ": no rule";
    std::string error =
        OpChecker(op, operands, results, checks ? *checks : own, seed).check();
    if (!error.empty())
      return testing::AssertionFailure()
             << op->getName().getStringRef().str() << ": " << error << "\n"
             << context.takeMessages();
  }
  return testing::AssertionSuccess();
}
