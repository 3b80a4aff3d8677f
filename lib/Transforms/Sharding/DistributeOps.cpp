//===- DistributeOps.cpp - Global forms of ops with split factors ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts of the new ops follow from the op's own: each factor of a new op
// is split as one of its tensors with a known layout says, forth and back
// until nothing changes. Large tensors speak first: that a mean over the batch
// is stored split must not move the batch. For logits [{"data"}, {"tensor"}]:
//
//   max [{"data"}], its broadcast [{"data"}, {"tensor"}], sums [{"data"}]
//
// Partial sums are not written here: placement makes them.
//
// Test: test/Transforms/Sharding/distribute-ops.mlir
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Layouts/UsesInPlace.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_DISTRIBUTEOPSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct DistributeOpsPass
    : llmc::impl::DistributeOpsPassBase<DistributeOpsPass> {
  void runOnOperation() override;
};

/// Finds layouts for new ops between values that have one.
class LayoutFiller {
public:
  LayoutFiller(ArrayRef<Operation *> ops, dist::MeshAxesAttr mesh,
               LayoutAttr like)
      : ops(ops), mesh(mesh), like(like) {}

  /// Values from outside, and results that are given.
  void fix(Value value, LayoutAttr layout) {
    if (layout)
      given.push_back({value, layout});
  }
  LogicalResult run();

private:
  LogicalResult open();
  void spread();
  void write();
  bool visit(Operation *op, const graph::ShardingRule &rule);
  bool write(Value value, const graph::TensorFactors &tensor,
             const graph::ShardingRule &rule, const FactorSplits &splits);

  ArrayRef<Operation *> ops;
  dist::MeshAxesAttr mesh;
  LayoutAttr like;
  SmallVector<std::pair<Value, LayoutAttr>> given;
  std::vector<graph::ShardingRule> rules;
  llvm::DenseMap<Value, LayoutAttr> layouts;
  /// Values that may be written.
  llvm::DenseSet<Value> isOpen;
};
} // namespace

/// Numbers of the values, of the largest one first.
template <typename Values>
static SmallVector<size_t> orderBySize(const Values &values) {
  SmallVector<std::pair<int64_t, size_t>> order;
  for (auto [i, value] : llvm::enumerate(values)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    order.push_back({type ? -type.getNumElements() : 0, i});
  }
  llvm::sort(order);
  return llvm::to_vector(llvm::make_second_range(order));
}

/// Takes a layout whose axes are all new to it, or none.
bool LayoutFiller::write(Value value, const graph::TensorFactors &tensor,
                         const graph::ShardingRule &rule,
                         const FactorSplits &splits) {
  if (!isOpen.contains(value))
    return false;
  LayoutAttr layout =
      layoutFromFactors(tensor, rule.factors, splits, mesh, like);
  if (!layout || layout == layouts.lookup(value))
    return false;
  layouts[value] = layout;
  return true;
}

bool LayoutFiller::visit(Operation *op, const graph::ShardingRule &rule) {
  FactorSplits splits(rule.factors.size());
  SmallVector<dist::AxisAttr> taken;
  auto read = [&](Value value, const graph::TensorFactors &tensor) {
    LayoutAttr layout = layouts.lookup(value);
    if (!layout)
      return;
    projectToFactors(layout, tensor, rule.factors, mesh, "",
                     [&](int factor, const FactorSplit &split) {
                       bool isTaken =
                           llvm::any_of(split.axes, [&](dist::AxisAttr axis) {
                             return llvm::is_contained(taken, axis);
                           });
                       if (split.isWhole() || splits[factor] || isTaken)
                         return;
                       splits[factor] = split;
                       llvm::append_range(taken, split.axes);
                     });
  };
  // The largest first, results before operands.
  SmallVector<std::pair<Value, const graph::TensorFactors *>> tensors;
  for (auto [result, tensor] : llvm::zip(op->getResults(), rule.results))
    tensors.push_back({result, &tensor});
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands))
    tensors.push_back({operand, &tensor});
  for (size_t i : orderBySize(llvm::make_first_range(tensors)))
    read(tensors[i].first, *tensors[i].second);
  bool isChanged = false;
  for (auto [result, tensor] : llvm::zip(op->getResults(), rule.results))
    isChanged |= write(result, tensor, rule, splits);
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands))
    isChanged |= write(operand, tensor, rule, splits);
  return isChanged;
}

LogicalResult LayoutFiller::open() {
  for (Operation *op : ops) {
    auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
    if (!model)
      return graph::emitMissingAnswer(op, graph::Answer::Rule);
    rules.push_back(model.getShardingRule());
    isOpen.insert(op->result_begin(), op->result_end());
  }
  for (auto [value, layout] : given)
    isOpen.erase(value);
  return success();
}

/// Splits are only added, so that this ends; the bound is for safety.
void LayoutFiller::spread() {
  bool isChanged = true;
  for (size_t round = 0; isChanged && round < ops.size() + 2; ++round) {
    isChanged = false;
    for (size_t i = 0; i < ops.size(); ++i)
      isChanged |= visit(ops[i], rules[i]);
    for (size_t i = ops.size(); i-- > 0;)
      isChanged |= visit(ops[i], rules[i]);
  }
}

void LayoutFiller::write() {
  for (Operation *op : ops) {
    SmallVector<Attribute> list;
    for (Value result : op->getResults()) {
      LayoutAttr layout = layouts.lookup(result);
      auto type = cast<RankedTensorType>(result.getType());
      if (!layout)
        layout = LayoutAttr::getReplicated(like.getMesh(), type.getRank())
                     .withPins(like.getAt());
      list.push_back(layout);
    }
    op->setAttr(DistDialect::kLayouts, ArrayAttr::get(op->getContext(), list));
  }
}

LogicalResult LayoutFiller::run() {
  if (failed(open()))
    return failure();
  for (size_t i : orderBySize(llvm::make_first_range(given))) {
    layouts[given[i].first] = given[i].second;
    spread();
  }
  write();
  return success();
}

/// Whether a factor with a distributed form is split by an operand or result.
static bool isDistributed(Operation *op, const graph::ShardingRule &rule,
                          dist::MeshAxesAttr mesh) {
  bool isSplit = false;
  auto look = [&](Value value, const graph::TensorFactors &tensor) {
    if (LayoutAttr layout = getDecidedLayout(value))
      projectToFactors(layout, tensor, rule.factors, mesh, "",
                       [&](int factor, const FactorSplit &split) {
                         isSplit |=
                             llvm::is_contained(rule.distributed, factor) &&
                             !split.axes.empty();
                       });
  };
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands))
    look(operand, tensor);
  for (auto [result, tensor] : llvm::zip(op->getResults(), rule.results))
    look(result, tensor);
  return isSplit;
}

static LogicalResult distribute(graph::ShardingRuleOpInterface model,
                                dist::MeshAxesAttr mesh) {
  Operation *op = model, *before = op->getPrevNode();
  OpBuilder builder(op);
  SmallVector<Value> replacements;
  if (failed(model.buildDistributedForm(builder, replacements)))
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected a distributed form for a factor that is split, got "
              "none; keep its dimension whole by a layout";
  SmallVector<Operation *> ops;
  for (Operation *made = before ? before->getNextNode()
                                : &op->getBlock()->front();
       made != op; made = made->getNextNode())
    ops.push_back(made);
  LayoutFiller filler(ops, mesh, getDecidedLayout(op->getResult(0)));
  for (Value operand : op->getOperands())
    filler.fix(operand, getDecidedLayout(operand));
  for (auto [result, replacement] : llvm::zip(op->getResults(), replacements))
    filler.fix(replacement, getDecidedLayout(result));
  if (failed(filler.run()))
    return failure();
  for (Operation *made : ops)
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      if (Attribute value = op->getAttr(mark))
        made->setAttr(mark, value);
  op->replaceAllUsesWith(replacements);
  op->erase();
  return success();
}

void DistributeOpsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  llvm::SetVector<Operation *> found;
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    for (Operation &op : program.function.getBody().front())
      if (auto model = dyn_cast<graph::ShardingRuleOpInterface>(op))
        if (graph::ShardingRule rule = model.getShardingRule();
            !rule.distributed.empty() &&
            isDistributed(&op, rule, mesh->getAxes()))
          found.insert(&op);
  if (found.empty())
    return markAllAnalysesPreserved();
  for (Operation *op : found)
    if (failed(distribute(cast<graph::ShardingRuleOpInterface>(op),
                          mesh->getAxes())))
      return signalPassFailure();
}
