//===- ExpandReshards.cpp - Changes of layout become collectives ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each `dist.reshard` becomes the cheapest plan between its two layouts. What
// comes before a move between stages runs where the value is made, what comes
// after it where it is used:
//
//   partial @[0] -> full @[1]
//   becomes
//   dist.reduce_scatter; dist.transfer @t0 along "pipe" 0 -> 1; dist.all_gather
//
// Two plans from one value that begin with the same move between stages share
// it: a cotangent that a stage reads split and gathered is sent there once.
//
// Every move that sends is reported with its bytes and its reason.
//
// Test: test/Transforms/Sharding/expand-reshards.mlir
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_EXPANDRESHARDSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct ExpandReshardsPass
    : llmc::impl::ExpandReshardsPassBase<ExpandReshardsPass> {
  void runOnOperation() override;
};

class Expander {
public:
  Expander(dist::MeshOp mesh, const ProgramFunction &program,
           LayoutReshards &reshards, StepBuilder &steps)
      : function(program.function), kind(program.kind), reshards(reshards),
        steps(steps), marks(mesh, program) {}

  LogicalResult run();

private:
  Operation *findFirstUser(Value value) const;
  LogicalResult expand(dist::ReshardOp op);
  LogicalResult build(dist::ReshardOp op, const LayoutPlan &plan);
  Value findMade(Value value, const ReshardStep &step, Operation *like) const;
  void mark(Value before, Value after, LayoutAttr layout, Operation *like);
  void report(dist::ReshardOp op, const ReshardStep &step);

  func::FuncOp function;
  FunctionKind kind;
  LayoutReshards &reshards;
  StepBuilder &steps;
  SegmentMarks marks;
  /// What moves between stages have made of each value.
  llvm::DenseMap<std::pair<Value, Attribute>, SmallVector<Value, 1>> moved;
};
} // namespace

/// The op that uses the value first, or null when it is only returned. What
/// stands after another op may run before it.
Operation *Expander::findFirstUser(Value value) const {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      continue;
    bool isFirst =
        !first || marks.isEarlier(user, first) ||
        (!marks.isEarlier(first, user) && user->isBeforeInBlock(first));
    if (isFirst)
      first = user;
  }
  return first;
}

static std::string describe(Operation *op) {
  return op ? "'" + op->getName().getStringRef().str() + "'" : "the function";
}

/// What moves, how much, and which two ops it stands between.
void Expander::report(dist::ReshardOp op, const ReshardStep &step) {
  std::string axes;
  for (dist::AxisAttr axis : step.axes)
    axes += (axes.empty() ? "\"" : ", \"") + axis.getName().str() + "\"";
  std::string layouts;
  llvm::raw_string_ostream(layouts)
      << dist::getLayout(op.getInput().getType()) << " where "
      << describe(findFirstUser(op.getResult())) << " wants "
      << dist::getLayout(op.getResult().getType());
  remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name(nameOf(*step.kind)).category("layouts"))
      << std::string(nameOf(*step.kind)) + " over " + axes + ", " +
             std::to_string(step.bytes) +
             " B received: " + describe(op.getInput().getDefiningOp()) +
             " makes " + layouts;
}

/// What an earlier plan has made of `value` by the same move in the segment of
/// `like`, or null.
Value Expander::findMade(Value value, const ReshardStep &step,
                         Operation *like) const {
  for (Value made : moved.lookup({value, step.layout})) {
    Operation *op = made.getDefiningOp();
    if (op->getBlock() == like->getBlock() && !marks.isEarlier(op, like) &&
        !marks.isEarlier(like, op))
      return made;
  }
  return Value();
}

/// The ops that made `after` of `before` run in the segment of `like`.
void Expander::mark(Value before, Value after, LayoutAttr layout,
                    Operation *like) {
  for (Operation *made = after.getDefiningOp();
       made && made != before.getDefiningOp();
       made = made->getOperand(0).getDefiningOp())
    marks.set(made, like,
              layout ? layout : dist::getLayout(made->getOperand(0).getType()));
}

LogicalResult Expander::build(dist::ReshardOp op, const LayoutPlan &plan) {
  OpBuilder builder(op);
  Operation *user = findFirstUser(op.getResult()), *like = op;
  // The copy may have been asked for by a later segment first.
  if (user && marks.isEarlier(user, op))
    like = user;
  Value value = op.getInput();
  for (const ReshardStep &step : plan.steps) {
    Value before = value;
    bool isMoved =
        dist::getLayout(before.getType()).getAt() != step.layout.getAt() &&
        !step.isLocal();
    if (Value made = isMoved ? findMade(value, step, like) : Value()) {
      value = made;
    } else {
      FailureOr<Value> after =
          steps.build(builder, op.getLoc(), value, step, kind);
      if (failed(after))
        return failure();
      value = *after;
      mark(before, value, isMoved ? LayoutAttr() : step.layout, like);
      if (isMoved)
        moved[{before, step.layout}].push_back(value);
      if (!step.isLocal())
        report(op, step);
    }
    if (isMoved && user)
      like = user;
  }
  op.getResult().replaceAllUsesWith(value);
  op.erase();
  return success();
}

LogicalResult Expander::expand(dist::ReshardOp op) {
  std::string error;
  FailureOr<LayoutPlan> plan =
      reshards.plan(cast<RankedTensorType>(op.getInput().getType()),
                    dist::getLayout(op.getInput().getType()),
                    dist::getLayout(op.getResult().getType()), error);
  if (failed(plan))
    return op.emitOpError()
           << "expected layouts with a way between them: " << error;
  return build(op, *plan);
}

LogicalResult Expander::run() {
  SmallVector<dist::ReshardOp> ops(
      function.getBody().front().getOps<dist::ReshardOp>());
  for (dist::ReshardOp op : ops)
    if (failed(expand(op)))
      return failure();
  return success();
}

void ExpandReshardsPass::runOnOperation() {
  auto rewrite = [](dist::MeshOp mesh, const ProgramFunction &program,
                    LayoutReshards &reshards, StepBuilder &steps) {
    return Expander(mesh, program, reshards, steps).run();
  };
  if (failed(rewriteFunctions(getOperation(), rewrite)))
    signalPassFailure();
}
