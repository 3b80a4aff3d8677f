//===- LogSumExp.cpp - Answers of log_sum_exp -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x one row, m its maximum (0 where that is not finite and the op is
// safe), g the result's cotangent:
//
//   y = m + log sum exp(x - m)        dx = exp(x - y) * g
//
// Rows split freely. When a row is split, the op is replaced by the global ops
// above: a maximum and a sum over devices, and the rest is local. The gradient
// reads one number for each row, so it splits along all dims. The kernels are
// formed from the same ops. f16 and bf16 are computed in f32.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/LogSumExpTest.cpp
//===----------------------------------------------------------------------===//

#include "RowForms.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/HostElements.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
struct LogSumExpAnswers : RowAnswers<LogSumExpOp, LogSumExpAnswers> {
  static ShardingRule rule(Op op) { return buildRowRule(op, op.getDims()); }
  static OpCost cost(Op op) { return buildRowCost(op, 4, 1); }

  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    RowBuilder rows(b, op.getLoc(), op.getOperand(), op.getDims());
    Value x = rows.widen(op.getOperand()), max = rows.max(x);
    if (op.getSafe())
      max = buildFiniteOrZero(b, op.getLoc(), max);
    Value sum = rows.sum(rows.exp(rows.sub(x, rows.spread(max))));
    results.push_back(rows.add(max, rows.log(sum)));
  }

  static void buildTerms(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                         SmallVectorImpl<Value> &terms) {
    RowParts(b, op.getLoc(), op.getOperand(), op.getDims(), parts)
        .buildExponentials(op.getOperand(), terms);
  }
  static void buildJoined(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                          ValueRange terms, SmallVectorImpl<Value> &results) {
    RowParts joined(b, op.getLoc(), op.getOperand(), op.getDims(), parts);
    RowBuilder rows(b, op.getLoc(), op.getOperand(), op.getDims());
    Value max = joined.max(terms[0]);
    if (op.getSafe())
      max = buildFiniteOrZero(b, op.getLoc(), max);
    Value sum = joined.joinExponentials(terms, max);
    results.push_back(rows.add(max, rows.log(sum)));
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    if (call.needed[0] && g)
      call.gradients[0] = LogSumExpGradOp::create(
          call.builder, call.loc,
          cast<RankedTensorType>(op.getOperand().getType()), op.getOperand(),
          op.getResult(), g, op.getDimsAttr());
    return success();
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &x = call.operands[0];
    HostTensor result(getRankedType(op.getResult()));
    std::vector<int64_t> rows =
        numberRows(getRankedType(op.getOperand()), op.getDims());
    std::vector<double> max(result.getNumElements(), -INFINITY),
        sum(max.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      double value = x.getFloat(i), &most = max[rows[i]];
      most = std::isnan(value) || value > most ? value : most;
    }
    for (double &most : max)
      most = op.getSafe() && !std::isfinite(most) ? 0 : most;
    for (size_t i = 0; i < rows.size(); ++i)
      sum[rows[i]] += std::exp(x.getFloat(i) - max[rows[i]]);
    for (size_t i = 0; i < max.size(); ++i)
      result.setFloat(i, max[i] + std::log(sum[i]));
    call.results.push_back(std::move(result));
    return success();
  }
};

struct LogSumExpGradAnswers
    : RowAnswers<LogSumExpGradOp, LogSumExpGradAnswers> {
  /// No dim is reduced. Linear in the cotangent.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildRowRule(op, op.getDims());
    for (int factor : rule.distributed)
      rule.factors[factor].kind = FactorKind::Pass;
    rule.distributed.clear();
    rule.addLinear(ReductionKind::sum, {{2}});
    return rule;
  }
  static OpCost cost(Op op) { return buildRowCost(op, 2, 1); }

  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    RowBuilder rows(b, op.getLoc(), op.getOperand(), op.getDims());
    Value x = rows.widen(op.getOperand());
    Value softmax = rows.exp(rows.sub(x, rows.spread(op.getOutput())));
    Value result = rows.mul(softmax, rows.spread(op.getCotangent()));
    results.push_back(rows.narrow(result, op.getResult()));
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &x = call.operands[0];
    HostTensor result(getRankedType(op.getResult()));
    std::vector<int64_t> rows =
        numberRows(getRankedType(op.getOperand()), op.getDims());
    for (size_t i = 0; i < rows.size(); ++i)
      result.setFloat(
          i, std::exp(x.getFloat(i) - call.operands[1].getFloat(rows[i])) *
                 call.operands[2].getFloat(rows[i]));
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void nn::registerLogSumExpModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachRowAnswers<LogSumExpOp, LogSumExpAnswers>(context);
    attachGradient<LogSumExpGradOp, LogSumExpGradAnswers>(context);
  });
}
