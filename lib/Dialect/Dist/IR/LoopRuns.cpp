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
/// Of which loop an op is, and of which of its runs.
struct Membership {
  /// In the directions of the run; null where the op is of none.
  LoopAttr loop;
  /// Of a forward run that a reversed one may belong to. A loop that is itself
  /// of the backward, as in a text that has its derivative, or that has no
  /// derivative, has none by its name but where ops enter that.
  bool isForward = false;
};
} // namespace

static bool isOfBackward(Operation *op) {
  auto phase = op->getAttrOfType<PhaseAttr>(DistDialect::kPhase);
  return phase && phase.getValue() != Phase::Forward;
}

static Membership getEntered(EnterOp enter) {
  LoopAttr loop = enter.getLoop();
  return {loop, loop == loop.getForward() && !loop.getConditional() &&
                    !isOfBackward(enter)};
}

/// The run of `inner`, or of one in it, in which a value of the run `other` is
/// there too: reversed from the first loop on that is so in `other`.
static LoopAttr followInto(LoopAttr inner, LoopAttr other) {
  std::vector<LoopAttr> others = other.getPath();
  LoopAttr followed;
  bool isReversed = false;
  for (auto [level, loop] : llvm::enumerate(inner.getPath())) {
    isReversed |= level < others.size() && others[level].getReversed() &&
                  !loop.getReversed();
    loop = loop.withIn(followed);
    followed = isReversed ? loop.getOwnReversed() : loop;
  }
  return followed;
}

/// The innermost loop of those of two values that one op reads.
static LoopAttr join(LoopAttr a, LoopAttr b) {
  if (!a || !b)
    return a ? a : b;
  return a.getDepth() < b.getDepth() ? followInto(b, a) : followInto(a, b);
}

/// The loop of what `op` reads, the innermost of several. An op of the backward
/// that reads the forward run is of the reversed one.
static Membership join(Operation *op,
                       const llvm::DenseMap<Operation *, Membership> &members) {
  Membership found{LoopAttr(), true};
  for (Value operand : getAllOperands(op)) {
    auto known = members.find(operand.getDefiningOp());
    if (known == members.end())
      continue;
    const auto &[loop, isForward] = known->second;
    bool isTurned = isForward && isOfBackward(op);
    found.loop = join(found.loop, isTurned ? loop.getReverse() : loop);
    found.isForward &= isForward && !isTurned;
  }
  return found;
}

int LoopRuns::findRun(LoopAttr loop) {
  if (auto known = numbers.find(loop); known != numbers.end())
    return known->second;
  int in = loop.getIn() ? findRun(loop.getIn()) : -1;
  runs.push_back({loop, in, {}, {}});
  return numbers[loop] = static_cast<int>(runs.size()) - 1;
}

void LoopRuns::add(Operation *op, LoopAttr loop) {
  int run = findRun(loop);
  runOf[op] = run;
  for (; run >= 0; run = runs[run].in)
    runs[run].ops.push_back(op);
}

LoopRuns::LoopRuns(Block &block) : block(block) {
  llvm::DenseMap<Operation *, Membership> members;
  if (llvm::none_of(block, llvm::IsaPred<EnterOp>))
    return;
  for (Operation &op : block) {
    auto enter = dyn_cast<EnterOp>(op);
    Membership found = enter ? getEntered(enter) : join(&op, members);
    if (!found.loop || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto leave = dyn_cast<LeaveOp>(op)) {
      if (int run = getLeft(leave); run >= 0)
        runs[run].leaves.push_back(leave);
      LoopAttr around = leave.getLoop().getIn();
      if (!around)
        continue;
      found.loop = followInto(around, found.loop);
    }
    members[&op] = found;
    add(&op, found.loop);
  }
}

int LoopRuns::getRunOf(Operation *op) const {
  auto known = runOf.find(op);
  return known == runOf.end() ? -1 : known->second;
}

int LoopRuns::getRunOf(Value value) const {
  return value.getDefiningOp() ? getRunOf(value.getDefiningOp()) : -1;
}

int LoopRuns::getRunIn(int run, int level) const {
  while (run >= 0 && runs[run].in != level)
    run = runs[run].in;
  return run;
}

bool LoopRuns::isNested() const {
  return llvm::any_of(runs, [](const LoopRun &run) { return run.in >= 0; });
}

namespace {
/// Puts the steps of a block, or of a trip, in order, depth first.
class StepOrder {
public:
  StepOrder(const LoopRuns &loops, Block &block, int level)
      : loops(loops), block(block), level(level),
        isRunDone(loops.getRuns().size(), false) {}

  std::vector<LoopStep> get() {
    if (level < 0)
      for (Operation &op : block.without_terminator())
        visit(&op);
    else
      for (Operation *op : loops.getRuns()[level].ops)
        visit(op);
    return std::move(steps);
  }

private:
  /// Whether the op is of what is put in order here.
  bool isHere(Operation *op) const {
    return op && op->getBlock() == &block &&
           (level < 0 || loops.getRunOf(op) == level ||
            loops.getRunIn(loops.getRunOf(op), level) >= 0);
  }
  void visitOperands(Operation *op, int run) {
    for (Value operand : getAllOperands(op)) {
      Operation *def = operand.getDefiningOp();
      if (isHere(def) &&
          (run < 0 || loops.getRunIn(loops.getRunOf(def), level) != run))
        visit(def);
    }
  }
  void visit(Operation *op) {
    int run = loops.getRunIn(loops.getRunOf(op), level);
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
  int level;
  std::vector<bool> isRunDone;
  llvm::DenseSet<Operation *> isDone;
  std::vector<LoopStep> steps;
};
} // namespace

std::vector<LoopStep> LoopRuns::getSteps(int run) const {
  return StepOrder(*this, block, run).get();
}

bool dist::isOfCarried(Operation *op) {
  auto enter = dyn_cast<EnterOp>(op);
  auto leave = dyn_cast<LeaveOp>(op);
  return isa<NextOp>(op) || (enter && enter.isCarry()) ||
         (leave && leave.isLast());
}

void dist::closeLeaves(Block &block) {
  LoopRuns loops(block);
  auto isClosed = [&](LeaveOp leave) {
    int run = loops.getLeft(leave);
    return run >= 0 && loops.getRuns()[run].loop.getForward() ==
                           leave.getLoop().getForward();
  };
  for (auto leave : block.getOps<LeaveOp>()) {
    if (isClosed(leave))
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
