//===- LoopRuns.cpp - Which ops run in each trip of a loop ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopRuns.h. Tested by test/Interpreter/LoopsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

SmallVector<Value> dist::getAllOperands(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          values.push_back(operand);
    });
  return values;
}

namespace {
/// Whether an op is of a loop, and of its reversed run.
struct Membership {
  LoopAttr loop;
  bool isReversed = false;
  /// The forward run has no reversed one: it is itself of the backward, as in a
  /// text that has its derivative, or has no derivative.
  bool isAlone = false;
};
} // namespace

/// Both directions of a loop, in its forward form.
static LoopAttr getForward(LoopAttr loop) {
  return loop.getReversed() ? loop.getReverse() : loop;
}

static bool isOfBackward(Operation *op) {
  auto phase = op->getAttrOfType<PhaseAttr>(DistDialect::kPhase);
  return phase && phase.getValue() != Phase::Forward;
}

LoopRuns::LoopRuns(Block &block) : block(block) {
  llvm::DenseMap<Operation *, Membership> members;
  if (llvm::none_of(block, llvm::IsaPred<EnterOp>))
    return;
  llvm::DenseMap<Attribute, int> numbers;
  auto add = [&](Operation *op, LoopAttr loop, bool isReversed, bool isAlone) {
    members[op] = {loop, isReversed, isAlone};
    LoopAttr own = isReversed ? loop.getReverse() : loop;
    auto [known, isNew] = numbers.insert({own, static_cast<int>(runs.size())});
    if (isNew)
      runs.push_back({own, {}, {}});
    runs[known->second].ops.push_back(op);
    runOf[op] = known->second;
  };
  for (Operation &op : block) {
    if (auto enter = dyn_cast<EnterOp>(op)) {
      bool isReversed = enter.getLoop().getReversed();
      add(&op, getForward(enter.getLoop()), isReversed,
          enter.getLoop().getConditional() ||
              (!isReversed && isOfBackward(enter)));
      continue;
    }
    Membership found;
    for (Value operand : getAllOperands(&op)) {
      auto known = members.find(operand.getDefiningOp());
      if (known == members.end())
        continue;
      found.loop = known->second.loop;
      found.isReversed |= known->second.isReversed;
      found.isAlone |= known->second.isAlone;
    }
    if (!found.loop)
      continue;
    if (auto leave = dyn_cast<LeaveOp>(op)) {
      if (int run = getLeft(leave); run >= 0)
        runs[run].leaves.push_back(leave);
    } else if (!op.hasTrait<OpTrait::IsTerminator>()) {
      add(&op, found.loop,
          found.isReversed || (!found.isAlone && isOfBackward(&op)),
          found.isAlone);
    }
  }
}

int LoopRuns::getRunOf(Operation *op) const {
  auto known = runOf.find(op);
  return known == runOf.end() ? -1 : known->second;
}

int LoopRuns::getRunOf(Value value) const {
  return value.getDefiningOp() ? getRunOf(value.getDefiningOp()) : -1;
}

namespace {
/// Puts the steps of a block in order, depth first.
class StepOrder {
public:
  StepOrder(const LoopRuns &loops, Block &block)
      : loops(loops), block(block), isRunDone(loops.getRuns().size(), false) {}

  std::vector<LoopStep> get() {
    for (Operation &op : block.without_terminator())
      visit(&op);
    return std::move(steps);
  }

private:
  void visitOperands(Operation *op, int run) {
    for (Value operand : getAllOperands(op)) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == &block &&
          (run < 0 || loops.getRunOf(def) != run))
        visit(def);
    }
  }
  void visit(Operation *op) {
    int run = loops.getRunOf(op);
    if (run < 0) {
      if (!isDone.insert(op).second)
        return;
      visitOperands(op, run);
      steps.push_back({op, -1});
      return;
    }
    if (isRunDone[run])
      return;
    isRunDone[run] = true;
    for (Operation *member : loops.getRuns()[run].ops)
      visitOperands(member, run);
    steps.push_back({nullptr, run});
  }

  const LoopRuns &loops;
  Block &block;
  std::vector<bool> isRunDone;
  llvm::DenseSet<Operation *> isDone;
  std::vector<LoopStep> steps;
};
} // namespace

std::vector<LoopStep> LoopRuns::getSteps() const {
  return StepOrder(*this, block).get();
}

bool dist::isOfCarried(Operation *op) {
  auto enter = dyn_cast<EnterOp>(op);
  auto leave = dyn_cast<LeaveOp>(op);
  return isa<NextOp>(op) || (enter && enter.isCarry()) ||
         (leave && leave.isLast());
}

void dist::closeLeaves(Block &block) {
  LoopRuns loops(block);
  for (auto leave : block.getOps<LeaveOp>()) {
    if (loops.getLeft(leave) >= 0)
      continue;
    OpBuilder builder(leave);
    auto enter = EnterOp::create(builder, leave.getLoc(), leave.getInput(),
                                 EnterKind::Same, leave.getLoop());
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      if (Attribute value = leave->getAttr(mark))
        enter->setAttr(mark, value);
    leave.getInputMutable().assign(enter);
  }
}

std::string dist::getConditionName(LoopAttr loop, int64_t chunk) {
  return ("c" + Twine(chunk) + "." + loop.getName().getValue()).str();
}

EnterOp dist::findCondition(Block &block, LoopAttr loop) {
  for (auto enter : block.getOps<EnterOp>())
    if (enter.getLoop() == loop && enter.isCondition())
      return enter;
  return {};
}

void dist::eraseRun(const LoopRun &run) {
  for (LeaveOp leave : run.leaves)
    leave->erase();
  for (Operation *op : llvm::reverse(run.ops)) {
    op->dropAllUses();
    op->erase();
  }
}

void dist::eraseDeadLoops(Block &block) {
  if (llvm::none_of(block, llvm::IsaPred<EnterOp>))
    return;
  // A next that leads nowhere is dead where what it carries is read by nothing
  // but what leads to it.
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    llvm::DenseSet<Operation *> needed;
    SmallVector<Operation *> work;
    auto need = [&](Operation *op) {
      if (op && op->getBlock() == &block && needed.insert(op).second)
        work.push_back(op);
    };
    for (Operation &op : block)
      if (!isa<NextOp>(op) && !isMemoryEffectFree(&op))
        need(&op);
    need(block.getTerminator());
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      for (Value operand : getAllOperands(op))
        need(operand.getDefiningOp());
      auto enter = dyn_cast<EnterOp>(op);
      if (enter && enter.isCarry())
        need(enter.getNext());
      if (enter && enter.getLoop().getConditional())
        need(findCondition(block, enter.getLoop()));
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (!needed.contains(&op) && op.use_empty() &&
          (isa<NextOp>(op) || isOpTriviallyDead(&op))) {
        op.erase();
        isChanged = true;
      }
  }
}
