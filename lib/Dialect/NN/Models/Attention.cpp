//===- Attention.cpp - Answers of attention and its gradient --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches, groups and rows split freely, values too; an offset says which rows
// of a causal attention a device has. Where columns or depths are split, or
// rows of a gradient, whose cotangents of key and value are sums over them, the
// op is replaced by its global form (AttentionForms.h).
//
// Evaluation (AttentionEvaluation.h) computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/AttentionTest.cpp
//===----------------------------------------------------------------------===//

#include "AttentionEvaluation.h"
#include "AttentionForms.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/LocalForm.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/BitArithmetic.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/LocalIndex.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
/// The factors of an attention, and where tensors have them.
class RuleBuilder {
public:
  /// Of `whole`, the factors' sizes are those of the scores, depth and values.
  template <typename Op>
  explicit RuleBuilder(Op op)
      : rule(ShardingRule::forOp(op)), batches(op.getNumBatches()) {
    SmallVector<int64_t> scores = op.getScoreShape();
    int64_t rank = scores.size();
    for (int64_t dim = 0; dim < rank - 1; ++dim)
      rows.push_back(rule.addFactor(scores[dim]));
    columns = rule.addFactor(scores.back(), FactorKind::Whole);
    depth = rule.addFactor(op.getQuery().getType().getShape().back(),
                           FactorKind::Whole);
    values = rule.addFactor(op.getValue().getType().getShape().back());
  }

  /// [batches, groups, row, last], or without a last one.
  void setRows(TensorFactors &tensor, std::optional<int> last) {
    for (auto [dim, factor] : llvm::enumerate(rows))
      tensor[dim] = {factor};
    if (last)
      tensor[rows.size()] = {*last};
  }
  /// [batches, column, last].
  void setColumns(TensorFactors &tensor, int last) {
    for (int64_t dim = 0; dim < batches; ++dim)
      tensor[dim] = {rows[dim]};
    tensor[batches] = {columns};
    tensor[batches + 1] = {last};
  }
  /// Dims of size 1 are repeated.
  void setBias(TensorFactors &tensor, RankedTensorType type) {
    setRows(tensor, columns);
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (size == 1)
        tensor[dim].clear();
  }
  /// Key and counter, which every device has.
  template <typename Op> void setState(Op op) {
    for (OpOperand &operand : op.getStateMutable())
      rule.operands[operand.getOperandNumber()][0] = {
          rule.addFactor(2, FactorKind::Whole)};
  }
  void makeWhole(int factor) { rule.factors[factor].kind = FactorKind::Whole; }

  ShardingRule rule;
  int64_t batches;
  SmallVector<int> rows;
  int columns, depth, values;
};

/// `ofDepth` products over scores and depth, and `ofValues` over scores and
/// values; `ofScores` of the first make the scores again.
template <typename Op>
OpCost getAttentionCost(Op op, int64_t ofDepth, int64_t ofValues,
                        int64_t ofScores) {
  OpCost cost = getTrafficCost(op);
  int64_t scores = 1;
  for (int64_t size : op.getScoreShape())
    scores *= size;
  int64_t depth = op.getQuery().getType().getShape().back(),
          values = op.getValue().getType().getShape().back();
  cost.flops = scores * (2 * ofDepth * depth + 2 * ofValues * values + 5);
  cost.transcendentals = scores;
  cost.modelFlops =
      scores * (2 * (ofDepth - ofScores) * depth + 2 * ofValues * values);
  constexpr int64_t perBits = 80;
  cost.flops += op.getDropout() ? perBits * scores : 0;
  if (op.getCausal() && !op.getOffset()) {
    cost.flops /= 2;
    cost.transcendentals /= 2;
  }
  return cost;
}

/// What libraries are not asked for.
template <typename Op> KernelForm formOf(Op op) {
  for (Value operand : op->getOperands())
    if (getTensorType(operand).getNumElements() == 0)
      return KernelForm::Decompose;
  return KernelForm::Library;
}

template <typename Op> dist::DropoutAttr getDropout(OpBuilder &b, Op op) {
  return op.getDropout() ? dist::DropoutAttr::get(b.getContext(),
                                                  op.getDropout()->getValue())
                         : dist::DropoutAttr();
}

/// All dims of the tensor, in order.
DenseI64ArrayAttr getDims(OpBuilder &b, RankedTensorType type) {
  return b.getDenseI64ArrayAttr(
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
}

/// The state from which a device draws the bits of its part: the counter of its
/// first weight.
template <typename Op> Value buildLocalState(Op op, LocalForm &form) {
  OpBuilder &b = form.builder;
  Location loc = form.loc;
  Value state = form.getLocal(op.getState());
  Value moved;
  ArrayRef<int64_t> strides = *op.getBitStrides();
  for (auto [dim, stride] : llvm::enumerate(strides.drop_back())) {
    if (stride == 0 || !form.getDim(op.getQuery(), dim).isSplit())
      continue;
    Value offset = hlo::convertTo(
        b, loc, form.buildOffset(op.getQuery(), dim, b.getI64Type()),
        getTensorType(state).getElementType());
    hlo::BitArithmetic bits(b, loc);
    offset = bits.apply<hlo::MulOp>(offset, stride);
    moved = moved ? hlo::add(b, loc, moved, offset) : offset;
  }
  if (!moved)
    return state;
  moved = hlo::reshape(b, loc, moved, {1});
  Value none = hlo::constantLike(b, loc, moved, 0);
  Value both = hlo::concatenate(b, loc, ValueRange{none, moved}, 0);
  return hlo::add(b, loc, state, both);
}

/// The indices of a device's elements along the dims of which dropout counts
/// them; nothing where these follow one another, so that the first one is all
/// that the device need know.
template <typename Op>
SmallVector<Value> buildScatteredIndices(Op op, LocalForm &form) {
  SmallVector<Value> indices;
  if (!op.getState())
    return indices;
  ArrayRef<int64_t> strides = op.getBitStrides()->drop_back();
  auto dimOf = [&](int64_t dim) { return form.getDim(op.getQuery(), dim); };
  bool isScattered = false;
  for (auto [dim, stride] : llvm::enumerate(strides))
    isScattered |= stride != 0 && !hlo::isContiguous(dimOf(dim));
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (!isScattered)
      break;
    LocalDim local = dimOf(dim);
    Type integer = hlo::getPositionType(op.getContext(), local);
    Value offset;
    if (local.isSplit())
      offset = form.buildOffset(op.getQuery(), dim, integer);
    Value positions =
        hlo::buildPositions(form.builder, form.loc, local, offset, integer);
    indices.push_back(
        hlo::buildIndices(form.builder, form.loc, local, positions));
  }
  return indices;
}

void buildForm(AttentionOp op, OpBuilder &b, SmallVectorImpl<Value> &results,
               ArrayRef<Value> indices) {
  buildAttention(op, b, results, indices);
}
void buildForm(AttentionGradOp op, OpBuilder &b,
               SmallVectorImpl<Value> &results, ArrayRef<Value> indices) {
  buildAttentionGrad(op, b, results, indices);
}

/// On a device's part, with the diagonal moved by `offset` where there is one.
template <typename Op>
LogicalResult localizeWithDropout(Op op, LocalForm &form,
                                  Value offset = Value()) {
  SmallVector<Value> indices = buildScatteredIndices(op, form);
  if (!indices.empty()) {
    auto local = cast<Op>(form.cloneOp());
    if (offset)
      local.getOffsetMutable().assign(offset);
    form.results.truncate(form.results.size() - local->getNumResults());
    buildForm(local, form.builder, form.results, indices);
    local.erase();
    return success();
  }
  Value state;
  if (op.getState())
    state = buildLocalState(op, form);
  auto local = cast<Op>(form.cloneOp());
  if (state)
    local.getStateMutable().assign(state);
  if (offset)
    local.getOffsetMutable().assign(offset);
  return success();
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

struct AttentionAnswers : AnswerDefaults<AttentionOp> {
  using Op = AttentionOp;

  static ShardingRule rule(Op op) {
    RuleBuilder with(op);
    ShardingRule &rule = with.rule;
    with.setRows(rule.operands[0], with.depth);
    with.setColumns(rule.operands[1], with.depth);
    with.setColumns(rule.operands[2], with.values);
    if (op.getBias())
      with.setBias(rule.operands[3], op.getBias().getType());
    with.setState(op);
    with.setRows(rule.results[0], with.values);
    with.setRows(rule.results[1], std::nullopt);
    rule.distributed = {with.columns, with.depth};
    return rule;
  }
  static OpCost cost(Op op) { return getAttentionCost(op, 1, 1, 0); }

  /// A device that has a part of the rows sees them from its first one on.
  static LogicalResult localize(Op op, LocalForm &form) {
    int64_t rows = op.getQuery().getType().getRank() - 2;
    if (!op.getCausal() || !form.getDim(op.getQuery(), rows).isSplit())
      return localizeWithDropout(op, form);
    Type integer = form.builder.getI32Type();
    Value offset = form.buildOffset(op.getQuery(), rows, integer);
    if (op.getOffset())
      offset = hlo::add(form.builder, form.loc, offset,
                        form.getLocal(op.getOffset()));
    return localizeWithDropout(op, form, offset);
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    Location loc = call.loc;
    if (llvm::none_of(call.needed, [](bool needed) { return needed; }))
      return success();
    Type element = getTensorType(op.getLogsumexp()).getElementType();
    Value cotangent = call.cotangents[0];
    if (!cotangent)
      cotangent = hlo::constantLike(b, loc, op.getResult(), 0);
    Value product = hlo::mul(b, loc, hlo::convertTo(b, loc, cotangent, element),
                             hlo::convertTo(b, loc, op.getResult(), element));
    Value delta =
        hlo::reduceAdd(b, loc, product, {getTensorType(product).getRank() - 1});
    if (call.cotangents[1])
      delta = hlo::sub(b, loc, delta, call.cotangents[1]);
    if (call.needed[0] || call.needed[1] || call.needed[2]) {
      auto gradient = AttentionGradOp::create(b, loc, op, delta, cotangent);
      for (unsigned i = 0; i < 3; ++i)
        if (call.needed[i])
          call.gradients[i] = gradient.getResult(i);
    }
    if (op.getBias() && call.needed[3])
      call.gradients[3] = buildBiasCotangent(op, b, delta, cotangent);
    return success();
  }

  static KernelForm form(Op op) { return formOf(op); }
  static Operation *buildLibraryCall(Op op, OpBuilder &b) {
    return dist::AttendOp::create(
        b, op.getLoc(), op.getResultTypes(), op.getQuery(), op.getKey(),
        op.getValue(), op.getBias(), op.getOffset(), op.getState(),
        op.getBitStridesAttr(), getDropout(b, op), op.getScaleAttr(),
        op.getCausalAttr(), op.getSafeAttr(),
        getDims(b, op.getQuery().getType()), getDims(b, op.getKey().getType()),
        getDims(b, op.getValue().getType()));
  }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    buildAttention(op, b, results);
    return success();
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return decompose(op, b, results);
  }
  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    evaluateAttention(op, call.operands, call.results);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// attention_grad
//===----------------------------------------------------------------------===//

struct AttentionGradAnswers : AnswerDefaults<AttentionGradOp> {
  using Op = AttentionGradOp;

  /// Linear in delta and the cotangent together.
  static ShardingRule rule(Op op) {
    RuleBuilder with(op);
    ShardingRule &rule = with.rule;
    for (TensorFactors *tensor : {&rule.operands[0], &rule.results[0]})
      with.setRows(*tensor, with.depth);
    for (TensorFactors *tensor : {&rule.operands[1], &rule.results[1]})
      with.setColumns(*tensor, with.depth);
    for (TensorFactors *tensor : {&rule.operands[2], &rule.results[2]})
      with.setColumns(*tensor, with.values);
    with.setRows(rule.operands[3], std::nullopt);
    with.setRows(rule.operands[4], std::nullopt);
    with.setRows(rule.operands[5], with.values);
    if (op.getBias())
      with.setBias(rule.operands[6], op.getBias().getType());
    with.setState(op);
    rule.distributed = {with.columns, with.depth};
    SmallVector<int> whole(llvm::drop_begin(with.rows, with.batches));
    whole.push_back(with.values);
    for (int factor : whole) {
      with.makeWhole(factor);
      rule.distributed.push_back(factor);
    }
    rule.addLinear(ReductionKind::sum, {{4, 5}});
    return rule;
  }
  static OpCost cost(Op op) { return getAttentionCost(op, 3, 2, 1); }

  static LogicalResult localize(Op op, LocalForm &form) {
    return localizeWithDropout(op, form);
  }

  static KernelForm form(Op op) { return formOf(op); }
  static Operation *buildLibraryCall(Op op, OpBuilder &b) {
    return dist::AttendGradOp::create(
        b, op.getLoc(), op.getResultTypes(), op.getQuery(), op.getKey(),
        op.getValue(), op.getLogsumexp(), op.getDelta(), op.getCotangent(),
        op.getBias(), op.getOffset(), op.getState(), op.getBitStridesAttr(),
        getDropout(b, op), op.getScaleAttr(), op.getCausalAttr(),
        op.getSafeAttr(), getDims(b, op.getQuery().getType()),
        getDims(b, op.getKey().getType()), getDims(b, op.getValue().getType()),
        getDims(b, op.getCotangent().getType()));
  }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    buildAttentionGrad(op, b, results);
    return success();
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return decompose(op, b, results);
  }
  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    evaluateAttentionGrad(op, call.operands, call.results);
    return success();
  }
};

/// Query, key, value and the cotangent; the scores and their softmax are made
/// in the type of the row's statistics.
struct AttentionGradPrecision
    : PrecisionOpInterface::ExternalModel<AttentionGradPrecision,
                                          AttentionGradOp> {
  SmallVector<unsigned> getFactors(Operation *) const { return {0, 1, 2, 5}; }
  SmallVector<unsigned> getFactorResults(Operation *) const {
    return {0, 1, 2};
  }
};
} // namespace

void nn::registerAttentionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    context->loadDialect<dist::DistDialect>();
    attachAnswers<AttentionOp, AttentionAnswers>(context);
    AttentionOp::attachInterface<FactorModel<AttentionOp, 3, 1>>(*context);
    AttentionGradOp::attachInterface<AttentionGradPrecision>(*context);
    attachSomeAnswers<AttentionGradOp, AttentionGradAnswers,
                      graph::detail::RuleModel, graph::detail::CostModel,
                      graph::detail::KernelModel,
                      graph::detail::EvaluationModel>(context);
  });
}
