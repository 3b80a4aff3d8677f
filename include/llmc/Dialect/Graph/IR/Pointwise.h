//===- Pointwise.h - The five answers of an element-wise op -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element-wise op computes result[i] from operands[i]; operands of rank 0
// are read at every i. What its five answers have in common stands here once;
// what is its own is one constant of type PointwiseAnswers:
//
//   static const PointwiseAnswers tanhAnswers = {
//       /*flops=*/0, /*transcendentals=*/1, noCarries, deriveTanh,
//       emitFloatOp<math::TanhOp>, evaluateUnary<std::tanh>};
//   attachPointwise<TanhOp, tanhAnswers>(context);
//
// Floats are evaluated in double and rounded once (HostElements.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_POINTWISE_H
#define LLMC_DIALECT_GRAPH_IR_POINTWISE_H

#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/KernelForms.h"
#include "llmc/Support/HostElements.h"

namespace llmc::graph {

/// One call of a derivative: the op, the cotangent of its one result, and where
/// the operands' cotangents go.
struct Derivation {
  OpBuilder &builder;
  Operation *op;
  Value cotangent;
  ArrayRef<bool> needed;
  SmallVectorImpl<Value> &gradients;

  Location loc() const { return op->getLoc(); }
  Value operand(unsigned i) const { return op->getOperand(i); }
  Value result() const { return op->getResult(0); }
};

/// The element's scalar code on signless types; `op` tells signedness.
using EmitElement = Value (*)(OpBuilder &builder, Location loc, Operation *op,
                              ValueRange elements);
using Derive = LogicalResult (*)(Derivation &derivation);
/// States which partial values pass through the op (ShardingRule::carries).
using StateCarries = void (*)(Operation *op, ShardingRule &rule);
using Evaluate = LogicalResult (*)(Operation *op, ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results);

struct PointwiseAnswers {
  int64_t flops = 1;
  int64_t transcendentals = 0;
  /// Null: none.
  StateCarries carries = nullptr;
  /// Null: no derivative ever flows through the op.
  Derive derive = nullptr;
  EmitElement emit = nullptr;
  Evaluate evaluate = nullptr;
};

namespace detail {
ShardingRule getPointwiseRule(Operation *op, const PointwiseAnswers &answers);
LogicalResult buildPointwiseDerivative(Operation *op,
                                       const PointwiseAnswers &answers,
                                       OpBuilder &builder,
                                       ValueRange cotangents,
                                       ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &gradients);
Value emitPointwise(Operation *op, const PointwiseAnswers &answers,
                    OpBuilder &builder, Location loc, ValueRange indices,
                    ElementSource source);

LogicalResult buildPointwiseBatched(BatchForm &form);

template <typename Op, const PointwiseAnswers &answers>
struct PointwiseRule
    : ShardingRuleOpInterface::ExternalModel<PointwiseRule<Op, answers>, Op> {
  ShardingRule getShardingRule(Operation *op) const {
    return getPointwiseRule(op, answers);
  }
  bool isUniform(Operation *) const { return true; }
};

template <typename Op, const PointwiseAnswers &answers>
struct PointwiseDerivative
    : DerivativeOpInterface::ExternalModel<PointwiseDerivative<Op, answers>,
                                           Op> {
  LogicalResult buildDerivative(Operation *op, OpBuilder &builder,
                                ValueRange cotangents, ArrayRef<bool> needed,
                                SmallVectorImpl<Value> &gradients) const {
    return buildPointwiseDerivative(op, answers, builder, cotangents, needed,
                                    gradients);
  }
  bool isInactive(Operation *) const { return !answers.derive; }
};

template <typename Op, const PointwiseAnswers &answers>
struct PointwiseCost
    : CostOpInterface::ExternalModel<PointwiseCost<Op, answers>, Op> {
  OpCost getCost(Operation *op) const {
    return getElementwiseCost(op, answers.flops, answers.transcendentals);
  }
};

template <typename Op, const PointwiseAnswers &answers>
struct PointwiseKernel
    : KernelOpInterface::ExternalModel<PointwiseKernel<Op, answers>, Op> {
  KernelForm getKernelForm(Operation *) const { return KernelForm::Element; }
  Value emitElement(Operation *op, OpBuilder &builder, Location loc, unsigned,
                    ValueRange indices, ElementSource source) const {
    return emitPointwise(op, answers, builder, loc, indices, source);
  }
};

template <typename Op, const PointwiseAnswers &answers>
struct PointwiseEvaluation
    : EvaluationOpInterface::ExternalModel<PointwiseEvaluation<Op, answers>,
                                           Op> {
  LogicalResult evaluate(Operation *op, ArrayRef<HostTensor> operands,
                         EvaluationScope &,
                         SmallVectorImpl<HostTensor> &results) const {
    return answers.evaluate(op, operands, results);
  }
};

template <typename Op>
struct PointwiseBatching
    : BatchingOpInterface::ExternalModel<PointwiseBatching<Op>, Op> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    return buildPointwiseBatched(form);
  }
};
} // namespace detail

/// Attaches all five answers to `Op`, and what all devices compute of it.
template <typename Op, const PointwiseAnswers &answers>
void attachPointwise(MLIRContext *context) {
  Op::template attachInterface<
      detail::PointwiseRule<Op, answers>,
      detail::PointwiseDerivative<Op, answers>,
      detail::PointwiseCost<Op, answers>, detail::PointwiseKernel<Op, answers>,
      OneFormModel<Op, KernelForm::Element>,
      detail::PointwiseEvaluation<Op, answers>, detail::PointwiseBatching<Op>>(
      *context);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The element type of a tensor or the scalar type itself.
Type getElement(Value value);
/// f16 or bf16: derivatives with cancellation are computed in f32 instead.
bool isNarrowFloat(Type element);
/// Integers without a sign bit: ui* and i1.
bool isUnsignedElement(Type element);
/// The type of `element` in scalar code: integers without sign semantics.
Type getSignless(Type element);
/// A constant of the signless type.
Value scalarConstant(OpBuilder &builder, Location loc, Type signless,
                     double value);

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

using FloatUnary = double (*)(double);
using FloatBinary = double (*)(double, double);
/// `element` gives width and signedness; results are wrapped when stored.
using IntUnary = int64_t (*)(Type element, int64_t);
using IntBinary = int64_t (*)(Type element, int64_t, int64_t);

/// Elements [first, first + count) of `tensor`, or its one element repeated
/// when it has rank 0 and `repeat` is set.
void loadRun(const HostTensor &tensor, bool repeat, int64_t first,
             llvm::MutableArrayRef<double> out);
void loadRun(const HostTensor &tensor, bool repeat, int64_t first,
             llvm::MutableArrayRef<int64_t> out);

/// The error for an op evaluated on an element type that it does not have.
LogicalResult emitNoEvaluation(Operation *op);

/// Calls `step(first, count)` for runs that cover `numElements`.
template <typename Step> void forEachRun(int64_t numElements, Step step) {
  for (int64_t first = 0; first < numElements; first += kElementRun)
    step(first, std::min(kElementRun, numElements - first));
}

template <FloatUnary floatFn, IntUnary intFn = nullptr>
LogicalResult evaluateUnary(Operation *op, ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0];
  HostTensor result(x.getElementType(), x.getShape());
  if (x.isFloat() ? floatFn == nullptr : intFn == nullptr)
    return emitNoEvaluation(op);
  forEachRun(x.getNumElements(), [&](int64_t first, int64_t count) {
    if constexpr (floatFn != nullptr)
      if (x.isFloat()) {
        double run[kElementRun];
        loadFloats(x, first, {run, size_t(count)});
        for (int64_t i = 0; i < count; ++i)
          run[i] = floatFn(run[i]);
        storeFloats(result, first, {run, size_t(count)});
        return;
      }
    if constexpr (intFn != nullptr) {
      int64_t run[kElementRun];
      loadInts(x, first, {run, size_t(count)});
      for (int64_t i = 0; i < count; ++i)
        run[i] = intFn(x.getElementType(), run[i]);
      storeInts(result, first, {run, size_t(count)});
    }
  });
  results.push_back(std::move(result));
  return llvm::success();
}

template <FloatBinary floatFn, IntBinary intFn = nullptr>
LogicalResult evaluateBinary(Operation *op, ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0], &y = operands[1];
  HostTensor result(x.getElementType(), x.getShape());
  if (x.isFloat() ? floatFn == nullptr : intFn == nullptr)
    return emitNoEvaluation(op);
  forEachRun(x.getNumElements(), [&](int64_t first, int64_t count) {
    if constexpr (floatFn != nullptr)
      if (x.isFloat()) {
        double lhs[kElementRun], rhs[kElementRun];
        loadFloats(x, first, {lhs, size_t(count)});
        loadFloats(y, first, {rhs, size_t(count)});
        for (int64_t i = 0; i < count; ++i)
          lhs[i] = floatFn(lhs[i], rhs[i]);
        storeFloats(result, first, {lhs, size_t(count)});
        return;
      }
    if constexpr (intFn != nullptr) {
      int64_t lhs[kElementRun], rhs[kElementRun];
      loadInts(x, first, {lhs, size_t(count)});
      loadInts(y, first, {rhs, size_t(count)});
      for (int64_t i = 0; i < count; ++i)
        lhs[i] = intFn(x.getElementType(), lhs[i], rhs[i]);
      storeInts(result, first, {lhs, size_t(count)});
    }
  });
  results.push_back(std::move(result));
  return llvm::success();
}

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_POINTWISE_H
