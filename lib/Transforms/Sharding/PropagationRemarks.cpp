//===- PropagationRemarks.cpp - What propagation says of its choices ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Category `layouts` has what each relation did. Category `costs` names, of two
// lists that wanted one dimension, who gave them, and what is received where
// they meet:
//
//   conflict: 'stablehlo.add' meets {"a"}, as input "x" says, and {"b"}, as
//   input "y" says, in one dimension of size 8: {"a"} is kept, and 16 B are
//   received here
//
// Test: test/Transforms/Sharding/propagate-conflicts.mlir
//===----------------------------------------------------------------------===//

#include "CostRemarks.h"
#include "PropagationProblem.h"
#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/FirstError.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;

/// Where axes came from: the op with its rule, or that they were given.
std::string PropagationProblem::describe(int relation) {
  if (relation < 0)
    return "given";
  return "'" + ops[relation]->getName().getStringRef().str() + "', " +
         engine.getRule(relation).str() + ", step " + std::to_string(relation);
}

void PropagationProblem::emitRemarks() {
  auto options = [](StringRef name) {
    return remark::RemarkOpts::name(name).category("layouts");
  };
  for (const LayoutRefusal &refusal : engine.getRefusals()) {
    int8_t axis[] = {refusal.axis};
    remark::missed(ops[refusal.relation]->getLoc(), options("refused"))
        << show(axis) + " not taken on dim " + std::to_string(refusal.dim) +
               " of " + nameOf(refusal.variable) + ": " + refusal.reason;
  }
  for (auto [relation, factor] : engine.getOpaque())
    remark::missed(ops[relation]->getLoc(), options("opaque"))
        << "factor " + std::to_string(factor) +
               " passes no axes: its boundaries and those of other ops are no "
               "chain of divisors";
  for (const LayoutConflict &conflict : engine.findConflicts())
    remark::missed(ops[conflict.relation]->getLoc(), options("conflict"))
        << "kept " + show(conflict.kept) + " (" +
               describe(conflict.keptOrigin) + "), runner-up " +
               show(conflict.other) + " (" + describe(conflict.otherOrigin) +
               ") on factor " + std::to_string(conflict.factor);
  emitConflicts();
}

/// "state @w", `input "x"`, or a constraint with its place.
std::string PropagationProblem::describeGiver(int variable,
                                              ArrayRef<int8_t> list) const {
  int giver = engine.findGiver(variable, list.back());
  std::string place = names[giver].op ? describeLocation(names[giver].loc) : "";
  return nameOf(giver) + (place.empty() ? "" : " at " + place);
}

/// What a device receives before the op for what it reads.
int64_t PropagationProblem::priceAt(int relation, LayoutReshards &reshards) {
  Operation *op = ops[relation];
  auto model = cast<graph::ShardingRuleOpInterface>(op);
  LayoutProblem problem{op, model.getShardingRule(), mesh.getAxes(), {}, {}};
  for (Value operand : op->getOperands())
    problem.operands.push_back(getLayout(operand));
  for (Value result : op->getResults())
    problem.results.push_back(getLayout(result));
  OpLayouts runs = getOpLayouts(problem);
  int64_t bytes = 0;
  llvm::DenseSet<std::pair<Value, Attribute>> moved;
  for (auto [operand, want] : llvm::zip(op->getOperands(), runs.operands)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    std::string error;
    if (!type || !want || !moved.insert({operand, want}).second)
      continue;
    FailureOr<LayoutPlan> plan =
        reshards.plan(type, getLayout(operand), want, error);
    bytes += succeeded(plan) ? plan->bytes : 0;
  }
  return bytes;
}

void PropagationProblem::emitConflicts() {
  if (!wantsRemarks(*mesh.getContext()))
    return;
  FailureOr<LayoutReshards> reshards = LayoutReshards::of(mesh);
  if (failed(reshards))
    return;
  CostRemarks remarks;
  for (const LayoutConflict &conflict : engine.findConflicts()) {
    Operation *op = ops[conflict.relation];
    int64_t size =
        engine.getRule(conflict.relation).factors[conflict.factor].size;
    remarks.add("conflict", op->getLoc(),
                "'" + op->getName().getStringRef().str() + "' meets " +
                    show(conflict.kept) + ", as " +
                    describeGiver(conflict.keptVariable, conflict.kept) +
                    " says, and " + show(conflict.other) + ", as " +
                    describeGiver(conflict.otherVariable, conflict.other) +
                    " says, in one dimension of size " + std::to_string(size) +
                    ": " + show(conflict.kept) + " is kept, and " +
                    std::to_string(priceAt(conflict.relation, *reshards)) +
                    " B are received here");
  }
  remarks.emit();
}
