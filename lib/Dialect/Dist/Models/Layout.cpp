//===- Layout.cpp - Answers of constraint, reshard, keep, join, fence -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On global values these are the identity (join: the sum), and moving nothing
// they cost nothing; what a reshard moves is priced by the planner. What is
// made after differentiation has no derivative, and what is gone before kernels
// are formed has no kernel (Refusals.def). The cotangent of a constrained value
// has the same constraint.
//
// A keep whose types have no layouts is local: it is the value on its
// coordinate and zero elsewhere.
//
// Test: test/Dialect/Dist/Models/LayoutTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/Parts.h"
#include "llmc/Dialect/Graph/IR/Precision.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::dist;

namespace {
RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Operand and result share every dimension.
void addIdentity(ShardingRule &rule, RankedTensorType type, unsigned number) {
  for (int64_t d = 0; d < type.getRank(); ++d)
    rule.operands[number][d] =
        rule.results[number][d] = {rule.addFactor(type.getDimSize(d))};
}

//===----------------------------------------------------------------------===//
// constraint
//===----------------------------------------------------------------------===//

struct ConstraintAnswers : AnswerDefaults<ConstraintOp> {
  static ShardingRule rule(ConstraintOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    addIdentity(rule, typeOf(op.getResult()), 0);
    for (const ReductionTraits &traits : reductionTraits)
      rule.addLinear(traits.kind, {{0}});
    return rule;
  }

  static OpCost cost(ConstraintOp) { return {}; }
  static constexpr bool mayBeAlias = true;
  static KernelForm form(ConstraintOp) { return KernelForm::Alias; }

  static LogicalResult derive(ConstraintOp op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    call.gradients[0] = ConstraintOp::create(
        call.builder, call.loc, g.getType(), g, op.getLayout(), op.getHint());
    return success();
  }

  static LogicalResult evaluate(ConstraintOp, EvaluationCall &call) {
    call.results.push_back(call.operands[0]);
    return success();
  }
};

/// A part of a value that is hinted to lie somewhere is hinted to lie there,
/// where the cut dimension is not split.
struct ConstraintPart
    : PartOpInterface::ExternalModel<ConstraintPart, ConstraintOp> {
  Value buildPart(Operation *op, OpBuilder &builder, DimRange range,
                  PartOf partOf) const {
    auto constraint = cast<ConstraintOp>(op);
    LayoutAttr layout = constraint.getLayout();
    if (!constraint.getHint() || !layout.getDims()[range.dim].getAxes().empty())
      return {};
    Value part = partOf(constraint.getInput(), range);
    return ConstraintOp::create(builder, op->getLoc(), part.getType(), part,
                                layout, constraint.getHint());
  }
};

//===----------------------------------------------------------------------===//
// reshard, keep, join
//===----------------------------------------------------------------------===//

struct ReshardAnswers : AnswerDefaults<ReshardOp> {
  static OpCost cost(ReshardOp) { return {}; }
  static LogicalResult evaluate(ReshardOp, EvaluationCall &call) {
    call.results.push_back(call.operands[0]);
    return success();
  }
};

struct KeepAnswers : AnswerDefaults<KeepOp> {
  static OpCost cost(KeepOp) { return {}; }
  static LogicalResult evaluate(KeepOp op, EvaluationCall &call) {
    RankedTensorType type = typeOf(op.getResult());
    std::optional<uint64_t> coordinate = op.getCoordinate();
    bool isLocal = !type.getEncoding() && coordinate;
    bool isHere = !isLocal || call.scope.getCoordinate(op.getAxis()) ==
                                  static_cast<int64_t>(*coordinate);
    call.results.push_back(isHere ? call.operands[0] : HostTensor(type));
    return success();
  }
};

struct JoinAnswers : AnswerDefaults<JoinOp> {
  static OpCost cost(JoinOp) { return {}; }
  static LogicalResult evaluate(JoinOp, EvaluationCall &call) {
    HostTensor sum = call.operands[0];
    for (const HostTensor &x : call.operands.drop_front())
      for (int64_t i = 0; i < sum.getNumElements(); ++i)
        if (sum.isFloat())
          sum.setFloat(i, sum.getFloat(i) + x.getFloat(i));
        else
          sum.setInt(i,
                     static_cast<int64_t>(static_cast<uint64_t>(sum.getInt(i)) +
                                          static_cast<uint64_t>(x.getInt(i))));
    call.results.push_back(std::move(sum));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// fence and coordinate
//===----------------------------------------------------------------------===//

/// Values after which a fence stands bind no layout.
struct FenceAnswers : AnswerDefaults<FenceOp> {
  static ShardingRule rule(FenceOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    size_t n = op.getInputs().size();
    for (auto [k, operand] : llvm::enumerate(op->getOperands())) {
      RankedTensorType type = typeOf(operand);
      if (k < n) {
        addIdentity(rule, type, k);
        continue;
      }
      for (int64_t d = 0; d < type.getRank(); ++d)
        rule.operands[k][d] = {rule.addFactor(type.getDimSize(d))};
    }
    return rule;
  }

  static OpCost cost(FenceOp) { return {}; }
  static constexpr bool mayBeAlias = true;
  static KernelForm form(FenceOp) { return KernelForm::Alias; }

  static LogicalResult evaluate(FenceOp op, EvaluationCall &call) {
    llvm::append_range(call.results,
                       call.operands.take_front(op.getInputs().size()));
    return success();
  }
};

/// The size of the axis in the op's mesh, by default the first that has it.
int64_t getAxisSize(CoordinateOp op, StringRef axis) {
  if (auto module = op->getParentOfType<ModuleOp>())
    for (auto mesh : module.getOps<MeshOp>())
      if ((!op.getMesh() || mesh.getSymName() == *op.getMesh()) &&
          mesh.getAxes().contains(axis))
        return mesh.getAxes().getSize(axis);
  return 1;
}

/// The number of the device by its coordinates, major to minor.
struct CoordinateAnswers : AnswerDefaults<CoordinateOp> {
  static ShardingRule rule(CoordinateOp op) { return ShardingRule::forOp(op); }
  static OpCost cost(CoordinateOp) { return {}; }
  static bool inactive(CoordinateOp) { return true; }
  static LogicalResult derive(CoordinateOp, DerivativeCall &) {
    return success();
  }

  static LogicalResult evaluate(CoordinateOp op, EvaluationCall &call) {
    int64_t number = 0;
    for (auto axis : op.getAxes().getAsRange<StringAttr>())
      number = number * getAxisSize(op, axis) + call.scope.getCoordinate(axis);
    HostTensor result(typeOf(op.getResult()));
    result.setInt(0, number);
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void dist::registerLayoutModels(DialectRegistry &registry) {
  using graph::detail::CostModel, graph::detail::DerivativeModel,
      graph::detail::EvaluationModel, graph::detail::KernelModel,
      graph::detail::RuleModel;
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    attachAnswers<ConstraintOp, ConstraintAnswers>(context);
    ConstraintOp::attachInterface<ConstraintPart>(*context);
    ConstraintOp::attachInterface<graph::MoveModel<ConstraintOp>>(*context);
    attachSomeAnswers<ReshardOp, ReshardAnswers, CostModel, EvaluationModel>(
        context);
    attachSomeAnswers<KeepOp, KeepAnswers, CostModel, EvaluationModel>(context);
    attachSomeAnswers<JoinOp, JoinAnswers, CostModel, EvaluationModel>(context);
    attachSomeAnswers<FenceOp, FenceAnswers, RuleModel, CostModel, KernelModel,
                      EvaluationModel>(context);
    attachSomeAnswers<CoordinateOp, CoordinateAnswers, RuleModel,
                      DerivativeModel, CostModel, EvaluationModel>(context);
  });
}
