//===- Answers.h - Attaching the five answers of an op ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op's five answers are static functions of one struct; `attachAnswers`
// turns them into external models of the five interfaces:
//
//   struct TransposeAnswers : AnswerDefaults<TransposeOp> {
//     static ShardingRule rule(TransposeOp op) { ... }
//     static LogicalResult derive(TransposeOp op, DerivativeCall &call) {...}
//     static Value emitElement(TransposeOp op, ElementCall &call) { ... }
//     static LogicalResult evaluate(TransposeOp op, EvaluationCall &call) {...}
//   };
//   attachAnswers<TransposeOp, TransposeAnswers>(context);
//
// What a struct does not define is the default of AnswerDefaults.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_ANSWERS_H
#define LLMC_DIALECT_GRAPH_IR_ANSWERS_H

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/KernelForms.h"

namespace llmc::graph {

/// See DerivativeOpInterface::buildDerivative.
struct DerivativeCall {
  OpBuilder &builder;
  Location loc;
  ValueRange cotangents;
  ArrayRef<bool> needed;
  SmallVectorImpl<Value> &gradients;
};

/// See KernelOpInterface::emitElement.
struct ElementCall {
  OpBuilder &builder;
  Location loc;
  unsigned result;
  ValueRange indices;
  ElementSource source;
};

/// See EvaluationOpInterface::evaluate.
struct EvaluationCall {
  ArrayRef<HostTensor> operands;
  EvaluationScope &scope;
  SmallVectorImpl<HostTensor> &results;
};

template <typename Op> struct AnswerDefaults {
  static bool inactive(Op) { return false; }
  static bool ofTrips(Op) { return false; }
  static OpCost cost(Op op) { return getTrafficCost(op); }
  static KernelForm form(Op) { return KernelForm::Element; }
  /// `form` may be Alias; of the other forms the function below each tells.
  static constexpr bool mayBeAlias = false;
  static Value emitElement(Op, ElementCall &) { return {}; }
  static ReductionShape reduction(Op) { return {}; }
  static SmallVector<Value> emitCombine(Op, OpBuilder &, Location, ValueRange,
                                        ValueRange) {
    return {};
  }
  static Operation *buildLibraryCall(Op, OpBuilder &) { return nullptr; }
  static SmallVector<int64_t> updateShape(Op) { return {}; }
  static unsigned changedOperand(Op) { return 0; }
  static std::optional<UpdateOrder> updateOrder(Op) { return std::nullopt; }
  static UpdateTarget emitUpdateTarget(Op, ElementCall &) { return {}; }
  static Value emitUpdateElement(Op, Value, ElementCall &) { return {}; }
  static unsigned aliasedOperand(Op, unsigned result) { return result; }
  static LogicalResult decompose(Op, OpBuilder &, SmallVectorImpl<Value> &) {
    return failure();
  }
  static LogicalResult distribute(Op, OpBuilder &, SmallVectorImpl<Value> &) {
    return failure();
  }
  static LogicalResult localize(Op, LocalForm &form) {
    form.cloneOp();
    return llvm::success();
  }
  static bool needsNeutralPadding(Op, unsigned) { return true; }
  static bool uniform(Op) { return false; }
};

namespace detail {
template <typename Op, typename Answers>
struct RuleModel
    : ShardingRuleOpInterface::ExternalModel<RuleModel<Op, Answers>, Op> {
  ShardingRule getShardingRule(Operation *op) const {
    return Answers::rule(cast<Op>(op));
  }
  LogicalResult buildDistributedForm(Operation *op, OpBuilder &builder,
                                     SmallVectorImpl<Value> &results) const {
    return Answers::distribute(cast<Op>(op), builder, results);
  }
  LogicalResult buildLocalForm(Operation *op, LocalForm &form) const {
    return Answers::localize(cast<Op>(op), form);
  }
  bool needsNeutralPadding(Operation *op, unsigned operand) const {
    return Answers::needsNeutralPadding(cast<Op>(op), operand);
  }
  bool isUniform(Operation *op) const { return Answers::uniform(cast<Op>(op)); }
};

template <typename Op, typename Answers>
struct DerivativeModel
    : DerivativeOpInterface::ExternalModel<DerivativeModel<Op, Answers>, Op> {
  LogicalResult buildDerivative(Operation *op, OpBuilder &builder,
                                ValueRange cotangents, ArrayRef<bool> needed,
                                SmallVectorImpl<Value> &gradients) const {
    DerivativeCall call{builder, op->getLoc(), cotangents, needed, gradients};
    return Answers::derive(cast<Op>(op), call);
  }
  bool isInactive(Operation *op) const {
    return Answers::inactive(cast<Op>(op));
  }
  bool isOfTrips(Operation *op) const { return Answers::ofTrips(cast<Op>(op)); }
};

template <typename Op, typename Answers>
struct CostModel : CostOpInterface::ExternalModel<CostModel<Op, Answers>, Op> {
  OpCost getCost(Operation *op) const { return Answers::cost(cast<Op>(op)); }
};

template <typename Op, typename Answers>
struct KernelModel
    : KernelOpInterface::ExternalModel<KernelModel<Op, Answers>, Op> {
  KernelForm getKernelForm(Operation *op) const {
    return Answers::form(cast<Op>(op));
  }
  Value emitElement(Operation *op, OpBuilder &builder, Location loc,
                    unsigned result, ValueRange indices,
                    ElementSource source) const {
    ElementCall call{builder, loc, result, indices, source};
    return Answers::emitElement(cast<Op>(op), call);
  }
  ReductionShape getReduction(Operation *op) const {
    return Answers::reduction(cast<Op>(op));
  }
  SmallVector<Value> emitCombine(Operation *op, OpBuilder &builder,
                                 Location loc, ValueRange accumulators,
                                 ValueRange elements) const {
    return Answers::emitCombine(cast<Op>(op), builder, loc, accumulators,
                                elements);
  }
  Operation *buildLibraryCall(Operation *op, OpBuilder &builder) const {
    return Answers::buildLibraryCall(cast<Op>(op), builder);
  }
  SmallVector<int64_t> getUpdateShape(Operation *op) const {
    return Answers::updateShape(cast<Op>(op));
  }
  unsigned getChangedOperand(Operation *op) const {
    return Answers::changedOperand(cast<Op>(op));
  }
  std::optional<UpdateOrder> getUpdateOrder(Operation *op) const {
    return Answers::updateOrder(cast<Op>(op));
  }
  UpdateTarget emitUpdateTarget(Operation *op, OpBuilder &builder, Location loc,
                                ValueRange indices,
                                ElementSource source) const {
    ElementCall call{builder, loc, 0, indices, source};
    return Answers::emitUpdateTarget(cast<Op>(op), call);
  }
  Value emitUpdateElement(Operation *op, OpBuilder &builder, Location loc,
                          Value old, ValueRange indices,
                          ElementSource source) const {
    ElementCall call{builder, loc, 0, indices, source};
    return Answers::emitUpdateElement(cast<Op>(op), old, call);
  }
  unsigned getAliasedOperand(Operation *op, unsigned result) const {
    return Answers::aliasedOperand(cast<Op>(op), result);
  }
  LogicalResult decompose(Operation *op, OpBuilder &builder,
                          SmallVectorImpl<Value> &results) const {
    return Answers::decompose(cast<Op>(op), builder, results);
  }
};

template <typename Member> constexpr bool differ(Member one, Member other) {
  return one != other;
}
template <typename Member, typename Other>
constexpr bool differ(Member, Other) {
  return true;
}

/// The forms for which `Answers` defines what is asked.
template <typename Op, typename Answers>
struct KernelFormsModel
    : KernelFormsOpInterface::ExternalModel<KernelFormsModel<Op, Answers>, Op> {
  static SmallVector<KernelForm> getKernelForms() {
    using Defaults = AnswerDefaults<Op>;
    const std::pair<KernelForm, bool> defined[] = {
        {KernelForm::Element,
         differ(&Answers::emitElement, &Defaults::emitElement)},
        {KernelForm::Reduction,
         differ(&Answers::reduction, &Defaults::reduction)},
        {KernelForm::Library,
         differ(&Answers::buildLibraryCall, &Defaults::buildLibraryCall)},
        {KernelForm::Update,
         differ(&Answers::updateShape, &Defaults::updateShape)},
        {KernelForm::Alias, Answers::mayBeAlias},
        {KernelForm::Decompose,
         differ(&Answers::decompose, &Defaults::decompose)}};
    SmallVector<KernelForm> forms;
    for (auto [form, isDefined] : defined)
      if (isDefined)
        forms.push_back(form);
    return forms;
  }
};

template <typename Op, typename Answers>
struct EvaluationModel
    : EvaluationOpInterface::ExternalModel<EvaluationModel<Op, Answers>, Op> {
  LogicalResult evaluate(Operation *op, ArrayRef<HostTensor> operands,
                         EvaluationScope &scope,
                         SmallVectorImpl<HostTensor> &results) const {
    EvaluationCall call{operands, scope, results};
    return Answers::evaluate(cast<Op>(op), call);
  }
};
} // namespace detail

/// Attaches all five answers to `Op`.
template <typename Op, typename Answers>
void attachAnswers(MLIRContext *context) {
  Op::template attachInterface<
      detail::RuleModel<Op, Answers>, detail::DerivativeModel<Op, Answers>,
      detail::CostModel<Op, Answers>, detail::KernelModel<Op, Answers>,
      detail::KernelFormsModel<Op, Answers>,
      detail::EvaluationModel<Op, Answers>>(*context);
}

/// Attaches the named answers (templates of `detail`) to `Op`; Refusals.def has
/// a row for each of the others.
template <typename Op, typename Answers,
          template <typename, typename> class... Models>
void attachSomeAnswers(MLIRContext *context) {
  Op::template attachInterface<Models<Op, Answers>...>(*context);
  if constexpr ((std::is_same_v<Models<Op, Answers>,
                                detail::KernelModel<Op, Answers>> ||
                 ...))
    Op::template attachInterface<detail::KernelFormsModel<Op, Answers>>(
        *context);
}

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_ANSWERS_H
