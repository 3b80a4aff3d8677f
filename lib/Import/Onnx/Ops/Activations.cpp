//===- Activations.cpp - Element-wise functions of networks ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// Arithmetic on tensors of one shape, written short.
struct Terms {
  OpBuilder &b;
  Location loc;

  explicit Terms(NodeImport &node) : b(node.b), loc(node.loc) {}
  Value number(Value like, double value) {
    return hlo::constantLike(b, loc, like, value);
  }
  Value add(Value x, Value y) { return hlo::add(b, loc, x, y); }
  Value mul(Value x, Value y) { return hlo::mul(b, loc, x, y); }
  Value mul(Value x, double y) { return mul(x, number(x, y)); }
  Value add(Value x, double y) { return add(x, number(x, y)); }
  Value exp(Value x) { return hlo::exp(b, loc, x); }
  /// exp(x) - 1, of the negative half: elsewhere it may overflow.
  Value expm1(Value x) {
    Value low = hlo::min(b, loc, x, number(x, 0));
    return hlo::Expm1Op::create(b, loc, x.getType(), low);
  }
  /// `one` where x is above `limit`.
  Value above(Value x, double limit, Value one, Value other) {
    Value is =
        hlo::compare(b, loc, hlo::ComparisonDirection::GT, x, number(x, limit));
    return hlo::select(b, loc, is, one, other);
  }
  /// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
  Value softplus(Value x) {
    Value small = exp(hlo::neg(b, loc, hlo::abs(b, loc, x)));
    Value log = hlo::Log1pOp::create(b, loc, x.getType(), small);
    return add(hlo::max(b, loc, x, number(x, 0)), log);
  }
};
} // namespace

static rt::Status importRelu(NodeImport &node) {
  Value x = node.input(0);
  return node.finish({hlo::max(node.b, node.loc, x, node.like(x, 0))});
}

static rt::Status importLeakyRelu(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  Value low = t.mul(x, node.getFloat("alpha", 0.01));
  return node.finish({t.above(x, 0, x, low)});
}

static rt::Status importPRelu(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0), slope = node.input(1);
  // Before version 7 one slope for each channel.
  if (node.version < 7 && rankOf(slope) == 1 && rankOf(x) > 1 &&
      node.type(1).getNumElements() != 1) {
    SmallVector<int64_t> shape(rankOf(x) - 1, 1);
    shape[0] = shapeOf(slope)[0];
    slope = hlo::reshape(node.b, node.loc, slope, shape);
  }
  LLMC_TRY_ASSIGN(SmallVector<Value> both, node.broadcastAll({x, slope}));
  Value low = t.mul(both[0], both[1]);
  Value zero = t.number(x, 0);
  Value isLow = hlo::compare(node.b, node.loc, hlo::ComparisonDirection::LT,
                             both[0], node.broadcast(zero, shapeOf(both[0])));
  return node.finish({hlo::select(node.b, node.loc, isLow, low, both[0])});
}

static rt::Status importElu(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  Value low = t.mul(t.expm1(x), node.getFloat("alpha", 1));
  return node.finish({t.above(x, 0, x, low)});
}

static rt::Status importSelu(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  bool isOld = node.version < 6;
  double alpha =
      node.getFloat("alpha", isOld ? 1.6732 : 1.67326319217681884765625);
  double gamma =
      node.getFloat("gamma", isOld ? 1.0507 : 1.05070102214813232421875);
  Value low = t.mul(t.expm1(x), alpha);
  return node.finish({t.mul(t.above(x, 0, x, low), gamma)});
}

static rt::Status importCelu(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  double alpha = node.getFloat("alpha", 1);
  if (alpha == 0)
    return node.refuse("expected alpha other than 0, got 0");
  Value low = t.mul(t.expm1(t.mul(x, 1 / alpha)), alpha);
  return node.finish({t.above(x, 0, x, low)});
}

static rt::Status importThresholdedRelu(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  return node.finish(
      {t.above(x, node.getFloat("alpha", 1), x, t.number(x, 0))});
}

static rt::Status importShrink(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  double lambda = node.getFloat("lambd", 0.5), bias = node.getFloat("bias", 0);
  Value isLow = hlo::compare(node.b, node.loc, hlo::ComparisonDirection::LT, x,
                             node.like(x, -lambda));
  Value low =
      hlo::select(node.b, node.loc, isLow, t.add(x, bias), t.number(x, 0));
  return node.finish({t.above(x, lambda, t.add(x, -bias), low)});
}

/// max(0, min(1, alpha x + beta)).
static Value buildHardSigmoid(NodeImport &node, Value x, double alpha,
                              double beta) {
  Terms t(node);
  Value line = t.add(t.mul(x, alpha), beta);
  Value low = hlo::min(node.b, node.loc, line, node.like(x, 1));
  return hlo::max(node.b, node.loc, low, node.like(x, 0));
}

static rt::Status importHardSigmoid(NodeImport &node) {
  return node.finish(
      {buildHardSigmoid(node, node.input(0), node.getFloat("alpha", 0.2f),
                        node.getFloat("beta", 0.5))});
}

static rt::Status importHardSwish(NodeImport &node) {
  Value x = node.input(0);
  Value gate = buildHardSigmoid(node, x, 1.0 / 6, 0.5);
  return node.finish({hlo::mul(node.b, node.loc, x, gate)});
}

static rt::Status importSoftplus(NodeImport &node) {
  return node.finish({Terms(node).softplus(node.input(0))});
}

static rt::Status importSoftsign(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  Value size = t.add(hlo::abs(node.b, node.loc, x), 1.0);
  return node.finish({hlo::div(node.b, node.loc, x, size)});
}

static rt::Status importMish(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  return node.finish({t.mul(x, hlo::tanh(node.b, node.loc, t.softplus(x)))});
}

/// x * sigmoid(alpha x).
static rt::Status importSwish(NodeImport &node) {
  Terms t(node);
  Value x = node.input(0);
  double alpha = node.getFloat("alpha", 1);
  Value scaled = alpha == 1 ? x : t.mul(x, alpha);
  return node.finish({t.mul(x, hlo::logistic(node.b, node.loc, scaled))});
}

/// A swish of the first operand times the second.
static rt::Status importSwiGlu(NodeImport &node) {
  Terms t(node);
  Value gate = node.input(0);
  if (gate.getType() != node.input(1).getType())
    return node.refuse("expected operands of one type, got " +
                       show(gate.getType()) + " and " +
                       show(node.input(1).getType()));
  Value inner = t.mul(gate, node.getFloat("alpha", 1));
  Value swish = t.mul(gate, hlo::logistic(node.b, node.loc, inner));
  return node.finish({t.mul(swish, node.input(1))});
}

/// x/2 * (1 + erf(x / sqrt 2)).
static Value buildGelu(NodeImport &node, Value x) {
  Terms t(node);
  Value erf = chlo::ErfOp::create(node.b, node.loc, x.getType(),
                                  t.mul(x, 1 / std::sqrt(2.0)));
  return t.mul(t.mul(x, 0.5), t.add(erf, 1.0));
}

/// x/2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
static Value buildTanhGelu(NodeImport &node, Value x) {
  Terms t(node);
  Value cube = t.mul(t.mul(x, x), x);
  Value inner =
      t.mul(t.add(x, t.mul(cube, 0.044715)), std::sqrt(2 / std::acos(-1.0)));
  return t.mul(t.mul(x, 0.5), t.add(hlo::tanh(node.b, node.loc, inner), 1.0));
}

static rt::Status importGelu(NodeImport &node) {
  StringRef kind = node.getText("approximate", "none");
  if (kind != "none" && kind != "tanh")
    return node.refuse("expected 'approximate' to be none or tanh, got '" +
                       kind.str() + "'");
  return node.finish({kind == "tanh" ? buildTanhGelu(node, node.input(0))
                                     : buildGelu(node, node.input(0))});
}

/// The contrib ops that exporters make of a bias and a gelu.
static rt::Status importFastGelu(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values,
                  node.broadcastAll(node.allInputs()));
  Value x = values.size() == 2
                ? hlo::add(node.b, node.loc, values[0], values[1])
                : values[0];
  return node.finish({buildTanhGelu(node, x)});
}

static rt::Status importBiasGelu(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<Value> values,
                  node.broadcastAll(node.allInputs()));
  Value x = values.size() == 2
                ? hlo::add(node.b, node.loc, values[0], values[1])
                : values[0];
  return node.finish({buildGelu(node, x)});
}

void onnx::addActivationOps(OpTable &table) {
  auto add = [&](StringRef name, rt::Status (*handle)(NodeImport &)) {
    table[name] = {handle, 1, 1, kNewestKnown};
  };
  add("Relu", importRelu);
  add("LeakyRelu", importLeakyRelu);
  add("Elu", importElu);
  add("Selu", importSelu);
  add("Celu", importCelu);
  add("ThresholdedRelu", importThresholdedRelu);
  add("Shrink", importShrink);
  add("HardSigmoid", importHardSigmoid);
  add("HardSwish", importHardSwish);
  add("Softplus", importSoftplus);
  add("Softsign", importSoftsign);
  add("Mish", importMish);
  add("Swish", importSwish);
  add("Gelu", importGelu);
  table["SwiGLU"] = {importSwiGlu, 2, 2, kNewestKnown};
  table["PRelu"] = {importPRelu, 2, 2, kNewestKnown};
  table["com.microsoft.Gelu"] = {importBiasGelu, 1, 1, kNewestKnown};
  table["com.microsoft.BiasGelu"] = {importBiasGelu, 2, 2, kNewestKnown};
  table["com.microsoft.FastGelu"] = {importFastGelu, 1, 2, kNewestKnown};
}
