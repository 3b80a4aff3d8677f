//===- Softmax.cpp - Answers of softmax and log_softmax -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x one row along the dimension, m its maximum, g the result's cotangent:
//
//   softmax      y = exp(x - m) / sum exp(x - m)      dx = y (g - sum(g y))
//   log_softmax  y = (x - m) - log sum exp(x - m)     dx = g - exp(y) sum(g)
//
// Rows split freely. When a row is split, each op is replaced by the global ops
// above: a maximum and a sum over devices, or one sum, the rest is local; or
// all join maxima and sums of the parts (RowParts). The kernels are formed from
// the same ops. f16 and bf16 are computed in f32.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/SoftmaxTest.cpp
//===----------------------------------------------------------------------===//

#include "RowForms.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Support/HostElements.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;

namespace {
template <typename Op>
Value buildWeights(Op op, RowBuilder &rows, Value shifted, Value exponential,
                   Value sum) {
  Value result = isa<SoftmaxOp>(op)
                     ? rows.div(exponential, rows.spread(sum))
                     : rows.sub(shifted, rows.spread(rows.log(sum)));
  return rows.narrow(result, op.getOperand());
}

template <typename Op>
void buildSoftmax(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
  RowBuilder rows(b, op.getLoc(), op.getOperand(), op.getDim());
  Value x = rows.widen(op.getOperand());
  Value shifted = rows.sub(x, rows.spread(rows.max(x)));
  Value exponential = rows.exp(shifted);
  results.push_back(
      buildWeights(op, rows, shifted, exponential, rows.sum(exponential)));
}

template <typename Op>
void buildJoinedSoftmax(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                        ValueRange terms, SmallVectorImpl<Value> &results) {
  RowParts joined(b, op.getLoc(), op.getOperand(), op.getDim(), parts);
  Value max = joined.max(terms[0]);
  Value sum = joined.joinExponentials(terms, max);
  RowBuilder rows(b, op.getLoc(), op.getOperand(), op.getDim());
  Value shifted = rows.sub(rows.widen(op.getOperand()), rows.spread(max));
  Value exponential = isa<SoftmaxOp>(op) ? rows.exp(shifted) : Value();
  results.push_back(buildWeights(op, rows, shifted, exponential, sum));
}

template <typename Op>
void buildSoftmaxGradient(Op op, OpBuilder &b,
                          SmallVectorImpl<Value> &results) {
  RowBuilder rows(b, op.getLoc(), op.getOutput(), op.getDim());
  Value y = rows.widen(op.getOutput()), g = rows.widen(op.getCotangent());
  Value result;
  if (isa<SoftmaxGradOp>(op)) {
    Value along = rows.spread(rows.sum(rows.mul(g, y)));
    result = rows.mul(y, rows.sub(g, along));
  } else {
    Value term = rows.mul(rows.exp(y), rows.spread(rows.sum(g)));
    result = rows.sub(g, term);
  }
  results.push_back(rows.narrow(result, op.getOutput()));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Calls `step` with the numbers of the elements of each row.
template <typename Step>
void forEachRow(RankedTensorType type, int64_t dim, Step step) {
  int64_t size = type.getDimSize(dim), stride = 1;
  for (int64_t later : type.getShape().drop_front(dim + 1))
    stride *= later;
  std::vector<int64_t> row(size);
  for (int64_t first = 0; first < type.getNumElements(); ++first) {
    if (first / stride % size != 0)
      continue;
    for (int64_t i = 0; i < size; ++i)
      row[i] = first + i * stride;
    step(row);
  }
}

template <typename Op>
LogicalResult evaluateSoftmax(Op op, EvaluationCall &call) {
  const HostTensor &x = call.operands[0];
  HostTensor result(x.getElementType(), x.getShape());
  forEachRow(getRankedType(op->getOperand(0)), op.getDim(),
             [&](ArrayRef<int64_t> row) {
               double max = -INFINITY, sum = 0;
               for (int64_t i : row) {
                 double value = x.getFloat(i);
                 max = std::isnan(value) || value > max ? value : max;
               }
               for (int64_t i : row)
                 sum += std::exp(x.getFloat(i) - max);
               for (int64_t i : row) {
                 double shifted = x.getFloat(i) - max;
                 result.setFloat(i, isa<SoftmaxOp>(op)
                                        ? std::exp(shifted) / sum
                                        : shifted - std::log(sum));
               }
             });
  call.results.push_back(std::move(result));
  return success();
}

template <typename Op>
LogicalResult evaluateSoftmaxGradient(Op op, EvaluationCall &call) {
  const HostTensor &y = call.operands[0], &g = call.operands[1];
  HostTensor result(y.getElementType(), y.getShape());
  bool isLog = isa<LogSoftmaxGradOp>(op);
  forEachRow(getRankedType(op->getOperand(0)), op.getDim(),
             [&](ArrayRef<int64_t> row) {
               double sum = 0;
               for (int64_t i : row)
                 sum += isLog ? g.getFloat(i) : g.getFloat(i) * y.getFloat(i);
               for (int64_t i : row)
                 result.setFloat(
                     i, isLog ? g.getFloat(i) - std::exp(y.getFloat(i)) * sum
                              : y.getFloat(i) * (g.getFloat(i) - sum));
             });
  call.results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

template <typename SoftmaxLikeOp, typename GradientOp>
struct SoftmaxAnswers
    : RowAnswers<SoftmaxLikeOp, SoftmaxAnswers<SoftmaxLikeOp, GradientOp>> {
  using Op = SoftmaxLikeOp;
  static ShardingRule rule(Op op) { return buildRowRule(op, op.getDim()); }
  static OpCost cost(Op op) { return buildRowCost(op, 4, 1); }
  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    buildSoftmax(op, b, results);
  }
  static void buildTerms(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                         SmallVectorImpl<Value> &terms) {
    RowParts(b, op.getLoc(), op.getOperand(), op.getDim(), parts)
        .buildExponentials(op.getOperand(), terms);
  }
  static void buildJoined(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                          ValueRange terms, SmallVectorImpl<Value> &results) {
    buildJoinedSoftmax(op, b, parts, terms, results);
  }
  static LogicalResult derive(Op op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    if (call.needed[0] && g)
      call.gradients[0] =
          GradientOp::create(call.builder, call.loc, g.getType(),
                             op.getResult(), g, op.getDimAttr());
    return success();
  }
  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    return evaluateSoftmax(op, call);
  }
};

template <typename GradientOp>
struct SoftmaxGradientAnswers
    : RowAnswers<GradientOp, SoftmaxGradientAnswers<GradientOp>> {
  using Op = GradientOp;
  /// Linear in the cotangent.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildRowRule(op, op.getDim());
    rule.addLinear(ReductionKind::sum, {{1}});
    return rule;
  }
  static OpCost cost(Op op) {
    return buildRowCost(op, isa<SoftmaxGradOp>(op) ? 4 : 3,
                        isa<SoftmaxGradOp>(op) ? 0 : 1);
  }
  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    buildSoftmaxGradient(op, b, results);
  }
  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    return evaluateSoftmaxGradient(op, call);
  }
};
} // namespace

void nn::registerSoftmaxModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachRowAnswers<SoftmaxOp, SoftmaxAnswers<SoftmaxOp, SoftmaxGradOp>>(
        context);
    attachRowAnswers<LogSoftmaxOp,
                     SoftmaxAnswers<LogSoftmaxOp, LogSoftmaxGradOp>>(context);
    attachGradient<SoftmaxGradOp, SoftmaxGradientAnswers<SoftmaxGradOp>>(
        context);
    attachGradient<LogSoftmaxGradOp, SoftmaxGradientAnswers<LogSoftmaxGradOp>>(
        context);
  });
}
