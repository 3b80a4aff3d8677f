//===- RowForms.h - Ops that combine the elements of a row ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses, softmaxes and norms combine the elements of a row, which lie along
// some dims of the first operand, and take each row by itself. Such an op is
// stated once, by the graph ops that compute it: kernels are formed from them,
// and where a row is split over devices they are its distributed form.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_MODELS_ROWFORMS_H
#define LLMC_DIALECT_NN_MODELS_ROWFORMS_H

#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/OneRound.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

namespace llmc::nn {

inline RankedTensorType getRankedType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Rows pass. The first operand's `dims`, in rising order, are needed whole and
/// have a distributed form. Tensors of less rank have the other dims alone.
graph::ShardingRule buildRowRule(Operation *op, ArrayRef<int64_t> dims);

/// Work for each element of the first operand.
graph::OpCost buildRowCost(Operation *op, int64_t flops,
                           int64_t transcendentals = 0);

/// The number of the row of each element of a tensor.
std::vector<int64_t> numberRows(RankedTensorType type, ArrayRef<int64_t> dims);

/// Graph ops on values of the shape of `full`, and on those with one number for
/// each row. f16 and bf16 are computed in f32.
struct RowBuilder {
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  SmallVector<int64_t> dims;

  RowBuilder(OpBuilder &b, Location loc, RankedTensorType full,
             ArrayRef<int64_t> dims);
  RowBuilder(OpBuilder &b, Location loc, Value full, ArrayRef<int64_t> dims)
      : RowBuilder(b, loc, getRankedType(full), dims) {}

  /// The number of a row's elements.
  double size();
  Value widen(Value value);
  Value narrow(Value value, Value like);
  /// The rows' numbers, or flags, at all elements.
  Value spread(Value rows);
  Value sum(Value full);
  Value max(Value full);
  Value mean(Value full);

  Value constant(Value like, double number);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value div(Value x, Value y);
  Value exp(Value x);
  Value log(Value x);
};

/// Rows that lie in equal parts, of an op that combines them in one round
/// (OneRound.h):
///
///   x 8 x 6 x 4, rows of dims 0 and 1, which lie in 2 and 3 parts
///   cut    2 x 4 x 3 x 2 x 4
///   terms  6 x 4
struct RowParts {
  /// Of the operand, widened, with each dim that lies in parts cut in two: a
  /// row of it is a part.
  RowBuilder part;
  /// What `part` reduces to has these dims, which number parts, and others.
  SmallVector<int64_t> numbers, others;

  RowParts(OpBuilder &b, Location loc, Value full, ArrayRef<int64_t> dims,
           ArrayRef<int64_t> parts);
  Value cut(Value full);
  /// Numbers all parts by the first dim of what `part` has reduced.
  Value number(Value reduced);
  /// What is there of each part. Few are written out, so that all that follows
  /// is one kernel, element by element; many stay one value, of a row for each.
  SmallVector<Value> each(Value term) const;
  /// What rows have, beside one of `each`.
  Value beside(Value one, Value rows) const;
  /// Combines `each` in the order of the parts.
  Value combine(ReductionKind kind, ArrayRef<Value> each) const;
  Value sum(Value term) const {
    return combine(ReductionKind::sum, each(term));
  }
  Value max(Value term) const {
    return combine(ReductionKind::max, each(term));
  }

  /// The sum of each part, and that of squares of what its elements are more
  /// than its mean.
  void buildMoments(Value full, SmallVectorImpl<Value> &terms);
  /// Mean and variance of whole rows (Chan, Golub and LeVeque, 1979: Updating
  /// formulae and a pairwise algorithm for computing sample variances).
  std::pair<Value, Value> joinMoments(ValueRange terms);

  /// The greatest element of each part, and the sum of the exponentials of what
  /// its elements are more than that, or than 0 where it is not finite.
  void buildExponentials(Value full, SmallVectorImpl<Value> &terms);
  /// The same sum of whole rows, of what their elements are more than `max`.
  Value joinExponentials(ValueRange terms, Value max);
};

/// The value, 0 where it is not finite.
Value buildFiniteOrZero(OpBuilder &b, Location loc, Value value);

/// The answers about kernels and layouts of an op that `Answers::build(op,
/// builder, results)` computes.
template <typename OpT, typename Answers>
struct RowAnswers : graph::AnswerDefaults<OpT> {
  using Op = OpT;
  static graph::KernelForm form(Op) { return graph::KernelForm::Decompose; }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    Answers::build(op, b, results);
    return success();
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    Answers::build(op, b, results);
    return success();
  }
};

/// That an op of all five answers has a form of one round too.
template <typename Op, typename Answers>
void attachRowAnswers(MLIRContext *context) {
  graph::attachAnswers<Op, Answers>(context);
  Op::template attachInterface<graph::OneRoundModel<Op, Answers>>(*context);
}

/// All answers but a derivative, which would be a second one.
template <typename Op, typename Answers>
void attachGradient(MLIRContext *context) {
  graph::attachSomeAnswers<Op, Answers, graph::detail::RuleModel,
                           graph::detail::CostModel, graph::detail::KernelModel,
                           graph::detail::EvaluationModel>(context);
}

} // namespace llmc::nn

#endif // LLMC_DIALECT_NN_MODELS_ROWFORMS_H
