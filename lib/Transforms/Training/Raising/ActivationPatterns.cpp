//===- ActivationPatterns.cpp - GELU and SiLU in a graph ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   x * 0.5 * (1 + erf(x / sqrt 2))          gelu, factors in any order
//   x * 0.5 * erfc(-x / sqrt 2)              gelu
//   x * 0.5 * (1 + tanh(k (x + a x^3)))      gelu by tanh; the cube as
//   products,
//                                            square or power
//   x * 0.5 * (1 + tanh(k x (1 + a x^2)))    gelu by tanh
//   x * logistic(x)                          silu
//
// Numbers must be those of the formula as the text's type rounds them, or
// nearer than 1e-6 of them, as texts write down few digits.
//
// Test: test/Transforms/Training/raise-activations.mlir
//===----------------------------------------------------------------------===//

#include "ActivationPatterns.h"
#include "NormPatterns.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::isSplatOf;

static constexpr double kRootHalf = 0.70710678118654752;
static constexpr double kSlope = 0.79788456080286536; // sqrt(2 / pi)
static constexpr double kCube = 0.044715;

/// `number` is what a text of the type writes for `wanted`. A product of two
/// rounded numbers has both errors.
static bool isAbout(double number, double wanted, Type type) {
  double error = 1e-6;
  if (type.isBF16())
    error = 1.0 / 128;
  else if (type.isF16())
    error = 1.0 / 1024;
  return std::abs(number - wanted) <= error * std::abs(wanted);
}

namespace {
/// A product: a number times `factors`.
struct Product {
  double number = 1;
  SmallVector<Value> factors;
};
} // namespace

/// Takes one factor apart; false where it is none of numbers and products.
static bool expandFactor(Product &product, Value value,
                         SmallVectorImpl<Value> &work) {
  if (std::optional<double> number = getSplatNumber(value)) {
    product.number *= *number;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<stablehlo::MulOp>(op)) {
    llvm::append_range(work, op->getOperands());
  } else if (isa_and_nonnull<stablehlo::NegOp>(op)) {
    product.number = -product.number;
    work.push_back(op->getOperand(0));
  } else if (isa_and_nonnull<chlo::SquareOp>(op)) {
    work.append(2, op->getOperand(0));
  } else if (isa_and_nonnull<stablehlo::DivOp, stablehlo::PowOp>(op)) {
    std::optional<double> number = getSplatNumber(op->getOperand(1));
    if (!number || *number == 0)
      return false;
    if (isa<stablehlo::DivOp>(op)) {
      product.number /= *number;
      work.push_back(op->getOperand(0));
    } else if (*number == 2 || *number == 3) {
      work.append(static_cast<size_t>(*number), op->getOperand(0));
    } else {
      return false;
    }
  } else {
    return false;
  }
  return true;
}

/// The factors of `value`, where `x` is one that is not taken apart.
static Product findFactors(Value value, Value x) {
  Product product;
  SmallVector<Value> work = {value};
  for (unsigned steps = 0; !work.empty(); ++steps) {
    Value next = work.pop_back_val();
    if (next == x || steps > 16 || !expandFactor(product, next, work))
      product.factors.push_back(next);
  }
  return product;
}

/// `value` is `number` times x to the power of `degree`.
static bool isMonomial(Value value, Value x, double number, size_t degree) {
  Product product = findFactors(value, x);
  return product.factors.size() == degree &&
         llvm::all_of(product.factors, [&](Value v) { return v == x; }) &&
         isAbout(product.number, number, getElementTypeOrSelf(x.getType()));
}

/// What is left of a product without its numbers and signs.
static Value removeNumbers(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    Value inner;
    if (isa<stablehlo::NegOp>(op) ||
        (isa<stablehlo::DivOp>(op) && getSplatNumber(op->getOperand(1))))
      inner = op->getOperand(0);
    else if (isa<stablehlo::MulOp>(op))
      for (unsigned i : {0u, 1u})
        if (getSplatNumber(op->getOperand(1 - i)))
          inner = op->getOperand(i);
    if (!inner || getSplatNumber(inner))
      break;
    value = inner;
  }
  return value;
}

//===----------------------------------------------------------------------===//
// What the functions are of
//===----------------------------------------------------------------------===//

/// x of `k (x + a x^3)`.
static Value matchCubicSum(Value value) {
  auto sum = removeNumbers(value).getDefiningOp<stablehlo::AddOp>();
  if (!sum)
    return Value();
  Product around = findFactors(value, sum.getResult());
  for (unsigned i : {0u, 1u}) {
    Value x = sum->getOperand(i);
    if (isMonomial(sum->getOperand(1 - i), x, kCube, 3) &&
        isAbout(around.number, kSlope, getElementTypeOrSelf(x.getType())))
      return x;
  }
  return Value();
}

/// x of `k x (1 + a x^2)`.
static Value matchCubicProduct(Value value) {
  auto product = value.getDefiningOp<stablehlo::MulOp>();
  if (!product)
    return Value();
  for (unsigned i : {0u, 1u}) {
    auto sum = product->getOperand(i).getDefiningOp<stablehlo::AddOp>();
    Value x = removeNumbers(product->getOperand(1 - i));
    if (!sum || !isMonomial(product->getOperand(1 - i), x, kSlope, 1))
      continue;
    for (unsigned j : {0u, 1u})
      if (isSplatOf(sum->getOperand(j), 1) &&
          isMonomial(sum->getOperand(1 - j), x, kCube, 2))
        return x;
  }
  return Value();
}

/// x of the erf, erfc or tanh of a gelu.
static Value matchInner(Operation *op) {
  Value argument = op->getOperand(0);
  if (isa<stablehlo::TanhOp>(op)) {
    Value x = matchCubicSum(argument);
    return x ? x : matchCubicProduct(argument);
  }
  Value x = removeNumbers(argument);
  double number = isa<chlo::ErfcOp>(op) ? -kRootHalf : kRootHalf;
  return isMonomial(argument, x, number, 1) ? x : Value();
}

//===----------------------------------------------------------------------===//
// The products around them
//===----------------------------------------------------------------------===//

/// The op that makes `number * x * value`, of which all on the way has no other
/// use; null where there is none.
static Operation *findProduct(Value value, Value x, double number) {
  Type type = getElementTypeOrSelf(x.getType());
  Product around;
  for (unsigned steps = 0; steps < 4; ++steps) {
    if (around.factors.size() == 1 && isAbout(around.number, number, type))
      return value.getDefiningOp();
    if (!value.hasOneUse())
      return nullptr;
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (!isa<stablehlo::MulOp, stablehlo::DivOp>(user) ||
        (isa<stablehlo::DivOp>(user) && use.getOperandNumber() == 1))
      return nullptr;
    Product other =
        findFactors(user->getOperand(1 - use.getOperandNumber()), x);
    if (isa<stablehlo::DivOp>(user) && !other.factors.empty())
      return nullptr;
    around.number = isa<stablehlo::DivOp>(user) ? around.number / other.number
                                                : around.number * other.number;
    around.factors.append(other.factors);
    if (!llvm::all_of(around.factors, [&](Value v) { return v == x; }) ||
        around.factors.size() > 1)
      return nullptr;
    value = user->getResult(0);
  }
  return nullptr;
}

bool training::raiseGelu(Operation *op, StringRef &reason) {
  reason = {};
  if (!isa<stablehlo::TanhOp, chlo::ErfOp, chlo::ErfcOp>(op))
    return false;
  Value x = matchInner(op);
  if (!x)
    return false;
  Value value = op->getResult(0);
  if (!isa<chlo::ErfcOp>(op)) {
    auto sum = value.hasOneUse()
                   ? dyn_cast<stablehlo::AddOp>(*value.user_begin())
                   : stablehlo::AddOp();
    if (!sum || !(isSplatOf(sum.getLhs(), 1) || isSplatOf(sum.getRhs(), 1))) {
      reason = "1 is not added to it, or it has other uses";
      return false;
    }
    value = sum.getResult();
  }
  Operation *product = findProduct(value, x, 0.5);
  if (!product) {
    reason = "it is not multiplied by half the operand, or has other uses";
    return false;
  }
  OpBuilder builder(product);
  Value gelu = nn::GeluOp::create(builder, product->getLoc(), x.getType(), x,
                                  isa<stablehlo::TanhOp>(op));
  product->getResult(0).replaceAllUsesWith(gelu);
  return true;
}

bool training::raiseSilu(Operation *op, StringRef &reason) {
  reason = {};
  auto logistic = dyn_cast<stablehlo::LogisticOp>(op);
  if (!logistic)
    return false;
  Value x = logistic.getOperand();
  if (!llvm::any_of(logistic.getResult().getUsers(), [&](Operation *user) {
        return isa<stablehlo::MulOp>(user) &&
               llvm::is_contained(user->getOperands(), x);
      }))
    return false;
  Operation *product = findProduct(logistic.getResult(), x, 1);
  if (!product) {
    reason = "it has other uses";
    return false;
  }
  OpBuilder builder(product);
  Value silu = nn::SiluOp::create(builder, product->getLoc(), x.getType(), x);
  product->getResult(0).replaceAllUsesWith(silu);
  return true;
}
