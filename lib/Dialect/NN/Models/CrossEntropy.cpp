//===- CrossEntropy.cpp - Answers of softmax_cross_entropy ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x the logits of one row, c its target:
//
//   m = max x,  s = sum exp(x - m),  p = sum of x[j] where j == c
//   logsumexp = m + log s,  loss = logsumexp - p
//
// and with g, h the cotangents of loss and logsumexp
//
//   dx = (exp(x - logsumexp) - onehot c) * g + exp(x - logsumexp) * h
//
// where each term is one softmax_cross_entropy_grad; the second has no target
// (-1). A target outside of the classes picks 0.
//
// Rows split freely. When the classes are split, both ops are replaced by the
// global ops above: one maximum and two sums over devices (s and p), the rest
// is local; or all join the three numbers of each part (RowParts). The kernels
// are formed from the same ops. f16 and bf16 are computed in f32, as is the
// picked logit.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/CrossEntropyTest.cpp
//===----------------------------------------------------------------------===//

#include "RowForms.h"
#include "llmc/Dialect/Graph/IR/IndexLimits.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Support/HostElements.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
template <typename Op> int64_t getClassDim(Op op) {
  return getRankedType(op.getLogits()).getRank() - 1;
}

template <typename Op> RowBuilder makeClassRows(Op op, OpBuilder &b) {
  return RowBuilder(b, op.getLoc(), op.getLogits(), getClassDim(op));
}

/// Where the class is the row's target. Classes need not fit the type of the
/// targets.
Value buildIsTarget(RowBuilder &rows, Value targets) {
  OpBuilder &b = rows.b;
  Type integer = getRankedType(targets).getElementType();
  if (integer.getIntOrFloatBitWidth() < 32)
    integer = b.getI32Type();
  Value numbers =
      hlo::iota(b, rows.loc, rows.type.clone(integer), rows.dims.front());
  Value wanted = rows.spread(hlo::convertTo(b, rows.loc, targets, integer));
  return hlo::compare(b, rows.loc, hlo::ComparisonDirection::EQ, numbers,
                      wanted);
}

/// The logits, 0 where the class is not the row's target.
Value buildPicked(SoftmaxCrossEntropyOp op, RowBuilder &rows) {
  Value logits = rows.widen(op.getLogits());
  return hlo::select(rows.b, rows.loc, buildIsTarget(rows, op.getTargets()),
                     logits, rows.constant(logits, 0));
}

void buildLossResults(SoftmaxCrossEntropyOp op, RowBuilder &rows, Value max,
                      Value sum, Value pick, SmallVectorImpl<Value> &results) {
  Value logsumexp = rows.add(max, rows.log(sum));
  Value loss = rows.sub(logsumexp, pick);
  results.append(
      {rows.narrow(loss, op.getLoss()), rows.narrow(logsumexp, op.getLoss())});
}

void buildLoss(SoftmaxCrossEntropyOp op, OpBuilder &b,
               SmallVectorImpl<Value> &results) {
  RowBuilder rows = makeClassRows(op, b);
  Value logits = rows.widen(op.getLogits()), max = rows.max(logits);
  Value sum = rows.sum(rows.exp(rows.sub(logits, rows.spread(max))));
  buildLossResults(op, rows, max, sum, rows.sum(buildPicked(op, rows)),
                   results);
}

void buildLossGradient(SoftmaxCrossEntropyGradOp op, OpBuilder &b,
                       SmallVectorImpl<Value> &results) {
  RowBuilder rows = makeClassRows(op, b);
  Value shifted = rows.sub(rows.widen(op.getLogits()),
                           rows.spread(rows.widen(op.getLogsumexp())));
  Value softmax = rows.exp(shifted);
  Value reduced = rows.sub(softmax, rows.constant(softmax, 1));
  Value difference = hlo::select(
      b, rows.loc, buildIsTarget(rows, op.getTargets()), reduced, softmax);
  Value product =
      rows.mul(difference, rows.spread(rows.widen(op.getCotangent())));
  results.push_back(rows.narrow(product, op.getResult()));
}

//===----------------------------------------------------------------------===//
// softmax_cross_entropy
//===----------------------------------------------------------------------===//

struct LossAnswers : RowAnswers<SoftmaxCrossEntropyOp, LossAnswers> {
  using Op = SoftmaxCrossEntropyOp;
  static ShardingRule rule(Op op) { return buildRowRule(op, getClassDim(op)); }
  static OpCost cost(Op op) { return buildRowCost(op, 5, 1); }
  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    buildLoss(op, b, results);
  }

  static void buildTerms(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                         SmallVectorImpl<Value> &terms) {
    RowParts cut(b, op.getLoc(), op.getLogits(), getClassDim(op), parts);
    cut.buildExponentials(op.getLogits(), terms);
    RowBuilder rows = makeClassRows(op, b);
    Value pick = cut.part.sum(cut.cut(buildPicked(op, rows)));
    terms.push_back(cut.number(pick));
  }
  static void buildJoined(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                          ValueRange terms, SmallVectorImpl<Value> &results) {
    RowParts joined(b, op.getLoc(), op.getLogits(), getClassDim(op), parts);
    RowBuilder rows = makeClassRows(op, b);
    Value max = joined.max(terms[0]);
    Value sum = joined.joinExponentials(terms, max);
    buildLossResults(op, rows, max, sum, joined.sum(terms[2]), results);
  }

  static Value buildNoTargets(Op op, DerivativeCall &call) {
    RankedTensorType type = getRankedType(op.getTargets());
    return hlo::constantSplat(call.builder, call.loc,
                              type.clone(call.builder.getI32Type()), -1);
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    if (!call.needed[0])
      return success();
    Value sum;
    for (auto [i, g] : llvm::enumerate(call.cotangents)) {
      if (!g)
        continue;
      Value targets =
          i == 0 ? Value(op.getTargets()) : buildNoTargets(op, call);
      Value term = SoftmaxCrossEntropyGradOp::create(
          b, call.loc, op.getLogits(), targets, op.getLogsumexp(), g);
      sum = sum ? hlo::add(b, call.loc, sum, term) : term;
    }
    call.gradients[0] = sum;
    return success();
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &logits = call.operands[0], &targets = call.operands[1];
    HostTensor loss(getRankedType(op.getLoss())),
        logsumexp(getRankedType(op.getLogsumexp()));
    int64_t classes = logits.getShape().back();
    std::vector<double> row(classes);
    for (int64_t i = 0; i < loss.getNumElements(); ++i) {
      loadFloats(logits, i * classes, row);
      double max = -INFINITY, sum = 0;
      for (double x : row)
        max = std::isnan(x) || x > max ? x : max;
      for (double x : row)
        sum += std::exp(x - max);
      double total = max + std::log(sum);
      int64_t target = targets.getInt(i);
      bool isClass = target >= 0 && target < classes;
      logsumexp.setFloat(i, total);
      loss.setFloat(i, total - (isClass ? row[target] : 0.0));
    }
    call.results.push_back(std::move(loss));
    call.results.push_back(std::move(logsumexp));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// softmax_cross_entropy_grad
//===----------------------------------------------------------------------===//

struct LossGradientAnswers
    : RowAnswers<SoftmaxCrossEntropyGradOp, LossGradientAnswers> {
  using Op = SoftmaxCrossEntropyGradOp;
  /// Linear in the cotangent of the loss.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildRowRule(op, getClassDim(op));
    rule.addLinear(ReductionKind::sum, {{3}});
    return rule;
  }
  static OpCost cost(Op op) { return buildRowCost(op, 3, 1); }
  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    buildLossGradient(op, b, results);
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &logits = call.operands[0], &targets = call.operands[1];
    HostTensor result(getRankedType(op.getResult()));
    int64_t classes = logits.getShape().back();
    std::vector<double> row(classes);
    for (int64_t i = 0; i < targets.getNumElements(); ++i) {
      loadFloats(logits, i * classes, row);
      double logsumexp = call.operands[2].getFloat(i);
      double g = call.operands[3].getFloat(i);
      int64_t target = targets.getInt(i);
      for (int64_t j = 0; j < classes; ++j)
        row[j] = (std::exp(row[j] - logsumexp) - (j == target ? 1 : 0)) * g;
      storeFloats(result, i * classes, row);
    }
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

namespace {
/// Each target names a class.
struct LossIndex
    : graph::IndexOpInterface::ExternalModel<LossIndex, SoftmaxCrossEntropyOp> {
  int64_t getIndexLimit(Operation *op, unsigned operand) const {
    auto logits = cast<RankedTensorType>(op->getOperand(0).getType());
    return operand == 1 ? logits.getShape().back() : 0;
  }
};
} // namespace

void nn::registerCrossEntropyModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachRowAnswers<SoftmaxCrossEntropyOp, LossAnswers>(context);
    SoftmaxCrossEntropyOp::attachInterface<LossIndex>(*context);
    attachGradient<SoftmaxCrossEntropyGradOp, LossGradientAnswers>(context);
  });
}
