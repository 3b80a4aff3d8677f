//===- Quantize.cpp - Answers of quantize ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   |x| = inf       x, as the result's type has it
//   else            clamp(x * scale), rounded to nearest even
//
// where the clamp is to the largest number of the type. The product is one of
// f32 in code and in evaluation.
//
// Test: test/Dialect/NN/Models/QuantizeTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;

static double getLargest(Operation *op) {
  auto element = cast<FloatType>(getElement(op->getResult(0)));
  return APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
}

static Value toSingle(OpBuilder &b, Location loc, Value x) {
  unsigned width = x.getType().getIntOrFloatBitWidth();
  Type single = b.getF32Type();
  if (width == 32)
    return x;
  return width < 32 ? Value(arith::ExtFOp::create(b, loc, single, x))
                    : Value(arith::TruncFOp::create(b, loc, single, x));
}

static Value emitQuantize(OpBuilder &b, Location loc, Operation *op,
                          ValueRange elements) {
  Value x = toSingle(b, loc, elements[0]);
  double largest = getLargest(op);
  auto number = [&](double value) {
    return scalarConstant(b, loc, x.getType(), value);
  };
  Value scaled = arith::MulFOp::create(b, loc, x, elements[1]);
  scaled = arith::MaximumFOp::create(b, loc, scaled, number(-largest));
  scaled = arith::MinimumFOp::create(b, loc, scaled, number(largest));
  Value isInfinite = arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, loc, x),
      number(std::numeric_limits<double>::infinity()));
  Value result = arith::SelectOp::create(b, loc, isInfinite, x, scaled);
  return arith::TruncFOp::create(b, loc, getElement(op->getResult(0)), result);
}

static double quantize(float x, float scale, double largest) {
  float scaled = x * scale;
  if (std::isinf(x) || std::isnan(scaled))
    return std::isinf(x) ? x : scaled;
  return std::clamp<double>(scaled, -largest, largest);
}

static LogicalResult evaluateQuantize(Operation *op,
                                      ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  HostTensor result(type.getElementType(), operands[0].getShape());
  double scale, largest = getLargest(op);
  loadFloats(operands[1], 0, {&scale, 1});
  forEachRun(result.getNumElements(), [&](int64_t first, int64_t count) {
    double x[kElementRun];
    loadFloats(operands[0], first, {x, size_t(count)});
    for (int64_t i = 0; i < count; ++i)
      x[i] = quantize(static_cast<float>(x[i]), static_cast<float>(scale),
                      largest);
    storeFloats(result, first, {x, size_t(count)});
  });
  results.push_back(std::move(result));
  return success();
}

static const PointwiseAnswers quantizeAnswers = {
    3, 0, nullptr, nullptr, emitQuantize, evaluateQuantize};

void nn::registerQuantizeModels(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, math::MathDialect>();
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    context->loadDialect<arith::ArithDialect, math::MathDialect>();
    using Op = QuantizeOp;
    Op::attachInterface<graph::detail::PointwiseRule<Op, quantizeAnswers>,
                        graph::detail::PointwiseCost<Op, quantizeAnswers>,
                        graph::detail::PointwiseKernel<Op, quantizeAnswers>,
                        OneFormModel<Op, KernelForm::Element>,
                        graph::detail::PointwiseEvaluation<Op, quantizeAnswers>,
                        graph::detail::PointwiseBatching<Op>>(*context);
  });
}
