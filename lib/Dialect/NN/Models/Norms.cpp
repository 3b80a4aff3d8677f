//===- Norms.cpp - Answers of layer_norm and rms_norm ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x one row of n elements (an RMS norm is the layer norm of rows that are
// taken as they are):
//
//   c = x - mean x,  rstd = rsqrt(mean(c^2) + epsilon),  y = c * rstd
//
// and with g, h the cotangents of y and rstd
//
//   dx = (g - mean g - y * mean(g * y)) * rstd - y * rstd^2 * h / n
//
// where the first term is one layer_norm_grad; an rms_norm_grad has no mean g.
// Both read y and not x, so that x need not be kept. Means are sums over n,
// which no layout changes.
//
// Rows split freely. When a row is split, each op is replaced by the global ops
// above: the sums are then over devices, the rest is local. A layer norm may
// join the moments of the parts instead (RowParts). The kernels are formed from
// the same ops. f16 and bf16 are computed in f32.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/NormsTest.cpp
//===----------------------------------------------------------------------===//

#include "RowForms.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Support/HostElements.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
/// The last dims, of which a row consists.
template <typename Op> SmallVector<int64_t> getRowDims(Op op) {
  int64_t rank = getRankedType(op->getOperand(0)).getRank();
  return llvm::to_vector(llvm::seq<int64_t>(rank - op.getDims(), rank));
}

template <typename Op> RowBuilder makeRows(Op op, OpBuilder &b, Location loc) {
  return RowBuilder(b, loc, op->getOperand(0), getRowDims(op));
}

/// The results from x, less its mean, and the mean of its squares.
template <typename Op>
void buildNormResults(Op op, RowBuilder &rows, Value x, Value square,
                      SmallVectorImpl<Value> &results) {
  double epsilon = op.getEpsilon().convertToDouble();
  Value rstd = hlo::rsqrt(rows.b, rows.loc,
                          rows.add(square, rows.constant(square, epsilon)));
  Value result = rows.mul(x, rows.spread(rstd));
  results.append({rows.narrow(result, op.getResult()), rstd});
}

template <typename Op>
void buildNorm(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
  RowBuilder rows = makeRows(op, b, op.getLoc());
  Value x = rows.widen(op.getOperand());
  if (isa<LayerNormOp>(op))
    x = rows.sub(x, rows.spread(rows.mean(x)));
  buildNormResults(op, rows, x, rows.mean(rows.mul(x, x)), results);
}

template <typename Op>
void buildNormGradient(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
  RowBuilder rows = makeRows(op, b, op.getLoc());
  Value y = rows.widen(op.getNormalized()), g = rows.widen(op.getCotangent());
  Value along = rows.spread(rows.mean(rows.mul(g, y)));
  Value centred =
      isa<LayerNormGradOp>(op) ? rows.sub(g, rows.spread(rows.mean(g))) : g;
  Value across = rows.sub(centred, rows.mul(y, along));
  Value result = rows.mul(across, rows.spread(op.getRstd()));
  results.push_back(rows.narrow(result, op.getResult()));
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

int64_t countRow(const HostTensor &full, int64_t numDims) {
  int64_t count = 1;
  for (int64_t size : ArrayRef(full.getShape()).take_back(numDims))
    count *= size;
  return count;
}

template <typename NormOp, typename GradientOp>
struct NormAnswers : RowAnswers<NormOp, NormAnswers<NormOp, GradientOp>> {
  using Op = NormOp;
  static ShardingRule rule(Op op) { return buildRowRule(op, getRowDims(op)); }
  static OpCost cost(Op op) {
    return buildRowCost(op, isa<LayerNormOp>(op) ? 5 : 3);
  }
  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    buildNorm(op, b, results);
  }

  /// Of layer_norm; an rms_norm has one sum.
  static void buildTerms(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                         SmallVectorImpl<Value> &terms) {
    RowParts(b, op.getLoc(), op.getOperand(), getRowDims(op), parts)
        .buildMoments(op.getOperand(), terms);
  }
  static void buildJoined(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                          ValueRange terms, SmallVectorImpl<Value> &results) {
    RowParts joined(b, op.getLoc(), op.getOperand(), getRowDims(op), parts);
    auto [mean, square] = joined.joinMoments(terms);
    RowBuilder rows = makeRows(op, b, op.getLoc());
    Value x = rows.sub(rows.widen(op.getOperand()), rows.spread(mean));
    buildNormResults(op, rows, x, square, results);
  }

  /// What the cotangent of rstd adds: - y * rstd^2 * h / n.
  static Value buildRstdTerm(Op op, DerivativeCall &call, Value h) {
    RowBuilder rows = makeRows(op, call.builder, call.loc);
    Value square = rows.mul(op.getRstd(), op.getRstd());
    Value slope =
        rows.mul(rows.mul(square, h), rows.constant(square, -1 / rows.size()));
    Value term = rows.mul(rows.widen(op.getResult()), rows.spread(slope));
    return rows.narrow(term, op.getOperand());
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    if (!call.needed[0])
      return success();
    Value sum;
    if (Value g = call.cotangents[0])
      sum = GradientOp::create(call.builder, call.loc, op.getResult(),
                               op.getRstd(), g, op.getDims());
    if (Value h = call.cotangents[1]) {
      Value term = buildRstdTerm(op, call, h);
      sum = sum ? hlo::add(call.builder, call.loc, sum, term) : term;
    }
    call.gradients[0] = sum;
    return success();
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    HostTensor result(getRankedType(op.getResult())),
        rstd(getRankedType(op.getRstd()));
    int64_t size = countRow(call.operands[0], op.getDims());
    std::vector<double> row(size);
    for (int64_t i = 0; i < rstd.getNumElements(); ++i) {
      loadFloats(call.operands[0], i * size, row);
      double mean = 0, square = 0;
      for (double x : row)
        mean += isa<LayerNormOp>(op) ? x / size : 0;
      for (double &x : row)
        x -= mean;
      for (double x : row)
        square += x * x / size;
      double root = 1 / std::sqrt(square + op.getEpsilon().convertToDouble());
      for (double &x : row)
        x *= root;
      rstd.setFloat(i, root);
      storeFloats(result, i * size, row);
    }
    call.results.push_back(std::move(result));
    call.results.push_back(std::move(rstd));
    return success();
  }
};

template <typename GradientOp>
struct NormGradientAnswers
    : RowAnswers<GradientOp, NormGradientAnswers<GradientOp>> {
  using Op = GradientOp;
  /// Linear in the cotangent.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildRowRule(op, getRowDims(op));
    rule.addLinear(ReductionKind::sum, {{2}});
    return rule;
  }
  static OpCost cost(Op op) {
    return buildRowCost(op, isa<LayerNormGradOp>(op) ? 7 : 5);
  }
  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    buildNormGradient(op, b, results);
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    HostTensor result(getRankedType(op.getResult()));
    int64_t size = countRow(call.operands[0], op.getDims());
    std::vector<double> y(size), g(size);
    for (int64_t i = 0; i < call.operands[1].getNumElements(); ++i) {
      loadFloats(call.operands[0], i * size, y);
      loadFloats(call.operands[2], i * size, g);
      double rstd = call.operands[1].getFloat(i), mean = 0, along = 0;
      for (int64_t j = 0; j < size; ++j) {
        mean += isa<LayerNormGradOp>(op) ? g[j] / size : 0;
        along += g[j] * y[j] / size;
      }
      for (int64_t j = 0; j < size; ++j)
        g[j] = (g[j] - mean - y[j] * along) * rstd;
      storeFloats(result, i * size, g);
    }
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void nn::registerNormModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachRowAnswers<LayerNormOp, NormAnswers<LayerNormOp, LayerNormGradOp>>(
        context);
    attachAnswers<RmsNormOp, NormAnswers<RmsNormOp, RmsNormGradOp>>(context);
    attachGradient<LayerNormGradOp, NormGradientAnswers<LayerNormGradOp>>(
        context);
    attachGradient<RmsNormGradOp, NormGradientAnswers<RmsNormGradOp>>(context);
    LayerNormGradOp::attachInterface<RoundableModel<LayerNormGradOp>>(*context);
    RmsNormGradOp::attachInterface<RoundableModel<RmsNormGradOp>>(*context);
  });
}
