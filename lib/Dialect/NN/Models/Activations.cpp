//===- Activations.cpp - Answers of gelu and silu -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With g the result's cotangent, the operand's is g times the slope:
//
//   gelu        x F           F + x f         F = erfc(-x / sqrt 2) / 2
//                                             f = exp(-x^2 / 2) / sqrt(2 pi)
//   gelu, tanh  x (1 + t)/2   (1 + t)/2 + x (1 - t^2) u'/2
//                                             t = tanh u, u' = k (1 + 3 a x^2)
//                                             u = k (x + a x^3)
//   silu        x s           s (1 + x (1 - s))   s = 1 / (1 + exp(-x))
//
// f16 and bf16 are computed in f32 and rounded once.
//
// Test: test/Dialect/NN/Models/ActivationsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;

static constexpr double kRootHalf = 0.70710678118654752;
static constexpr double kBell = 0.39894228040143268;  // 1 / sqrt(2 pi)
static constexpr double kSlope = 0.79788456080286536; // sqrt(2 / pi)
static constexpr double kCube = 0.044715;

//===----------------------------------------------------------------------===//
// The formulas, in numbers and in code
//===----------------------------------------------------------------------===//

namespace {
/// Arithmetic on doubles.
struct Numbers {
  using Number = double;
  double constant(double x) { return x; }
  double add(double x, double y) { return x + y; }
  double sub(double x, double y) { return x - y; }
  double mul(double x, double y) { return x * y; }
  double div(double x, double y) { return x / y; }
  double exp(double x) { return std::exp(x); }
  double tanh(double x) { return std::tanh(x); }
  double erfc(double x) { return std::erfc(x); }
};

/// Arithmetic that is emitted, on floats of one type.
struct Code {
  using Number = Value;
  OpBuilder &b;
  Location loc;
  Type type;
  Value constant(double x) { return scalarConstant(b, loc, type, x); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value exp(Value x) { return math::ExpOp::create(b, loc, x); }
  Value tanh(Value x) { return math::TanhOp::create(b, loc, x); }
  Value erfc(Value x) { return math::ErfcOp::create(b, loc, x); }
};

template <typename Terms> struct Formulas : Terms {
  using Number = typename Terms::Number;
  explicit Formulas(Terms terms) : Terms(terms) {}

  Number scale(double factor, Number x) {
    return this->mul(this->constant(factor), x);
  }
  Number addOne(Number x) { return this->add(this->constant(1), x); }
  /// F of the table above.
  Number distribution(Number x) {
    return scale(0.5, this->erfc(scale(-kRootHalf, x)));
  }
  Number tanhOfCubic(Number x) {
    Number cube = this->mul(this->mul(x, x), x);
    return this->tanh(scale(kSlope, this->add(x, scale(kCube, cube))));
  }
  Number logistic(Number x) {
    return this->div(this->constant(1), addOne(this->exp(scale(-1, x))));
  }

  Number gelu(Number x) { return this->mul(x, distribution(x)); }
  Number geluSlope(Number x) {
    Number bell = scale(kBell, this->exp(scale(-0.5, this->mul(x, x))));
    return this->add(distribution(x), this->mul(x, bell));
  }
  Number tanhGelu(Number x) {
    return this->mul(scale(0.5, x), addOne(tanhOfCubic(x)));
  }
  Number tanhGeluSlope(Number x) {
    Number t = tanhOfCubic(x);
    Number inner = scale(kSlope, addOne(scale(3 * kCube, this->mul(x, x))));
    Number rest = this->sub(this->constant(1), this->mul(t, t));
    return this->add(scale(0.5, addOne(t)),
                     this->mul(scale(0.5, x), this->mul(rest, inner)));
  }
  Number silu(Number x) { return this->mul(x, logistic(x)); }
  Number siluSlope(Number x) {
    Number s = logistic(x);
    Number rest = this->sub(this->constant(1), s);
    return this->mul(s, addOne(this->mul(x, rest)));
  }

  /// The function, or its slope, that the op is about.
  Number apply(Operation *op, Number x) {
    if (auto gelu = dyn_cast<GeluOp>(op))
      return gelu.getTanh() ? tanhGelu(x) : this->gelu(x);
    if (auto gelu = dyn_cast<GeluGradOp>(op))
      return gelu.getTanh() ? tanhGeluSlope(x) : geluSlope(x);
    return isa<SiluOp>(op) ? silu(x) : siluSlope(x);
  }
};
} // namespace

/// `x` in a type of 32 bits or more.
static Value widen(OpBuilder &b, Location loc, Value x) {
  return isNarrowFloat(x.getType())
             ? Value(arith::ExtFOp::create(b, loc, b.getF32Type(), x))
             : x;
}

static Value emitActivation(OpBuilder &b, Location loc, Operation *op,
                            ValueRange elements) {
  Value x = widen(b, loc, elements[0]);
  Formulas<Code> formulas({b, loc, x.getType()});
  Value result = formulas.apply(op, x);
  if (elements.size() == 2)
    result = formulas.mul(result, widen(b, loc, elements[1]));
  if (result.getType() != elements[0].getType())
    result = arith::TruncFOp::create(b, loc, elements[0].getType(), result);
  return result;
}

static LogicalResult evaluateActivation(Operation *op,
                                        ArrayRef<HostTensor> operands,
                                        SmallVectorImpl<HostTensor> &results) {
  HostTensor result(operands[0].getElementType(), operands[0].getShape());
  Formulas<Numbers> formulas({});
  forEachRun(result.getNumElements(), [&](int64_t first, int64_t count) {
    double x[kElementRun], g[kElementRun];
    loadFloats(operands[0], first, {x, size_t(count)});
    if (operands.size() == 2)
      loadFloats(operands[1], first, {g, size_t(count)});
    for (int64_t i = 0; i < count; ++i)
      x[i] = formulas.apply(op, x[i]) * (operands.size() == 2 ? g[i] : 1);
    storeFloats(result, first, {x, size_t(count)});
  });
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

static LogicalResult deriveGelu(Derivation &d) {
  Value x = d.operand(0);
  d.gradients[0] =
      GeluGradOp::create(d.builder, d.loc(), d.cotangent.getType(), x,
                         d.cotangent, cast<GeluOp>(d.op).getTanh());
  return success();
}

static LogicalResult deriveSilu(Derivation &d) {
  d.gradients[0] = SiluGradOp::create(d.builder, d.loc(), d.cotangent.getType(),
                                      d.operand(0), d.cotangent);
  return success();
}

/// Linear in the cotangent.
static void carryCotangent(Operation *, ShardingRule &rule) {
  rule.addLinear(ReductionKind::sum, {{1}});
}

static const PointwiseAnswers geluAnswers = {
    5, 1, nullptr, deriveGelu, emitActivation, evaluateActivation};
static const PointwiseAnswers geluGradAnswers = {
    9, 2, carryCotangent, nullptr, emitActivation, evaluateActivation};
static const PointwiseAnswers siluAnswers = {
    4, 1, nullptr, deriveSilu, emitActivation, evaluateActivation};
static const PointwiseAnswers siluGradAnswers = {
    8, 1, carryCotangent, nullptr, emitActivation, evaluateActivation};

/// All answers but the derivative, which would be a second one.
template <typename Op, const PointwiseAnswers &answers>
static void attachSlope(MLIRContext *context) {
  Op::template attachInterface<graph::detail::PointwiseRule<Op, answers>,
                               graph::detail::PointwiseCost<Op, answers>,
                               graph::detail::PointwiseKernel<Op, answers>,
                               OneFormModel<Op, KernelForm::Element>,
                               graph::detail::PointwiseEvaluation<Op, answers>,
                               graph::detail::PointwiseBatching<Op>>(*context);
}

void nn::registerActivationModels(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, math::MathDialect>();
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    context->loadDialect<arith::ArithDialect, math::MathDialect>();
    attachPointwise<GeluOp, geluAnswers>(context);
    attachPointwise<SiluOp, siluAnswers>(context);
    attachSlope<GeluGradOp, geluGradAnswers>(context);
    attachSlope<SiluGradOp, siluGradAnswers>(context);
    GeluGradOp::attachInterface<RoundableModel<GeluGradOp>>(*context);
    SiluGradOp::attachInterface<RoundableModel<SiluGradOp>>(*context);
  });
}
