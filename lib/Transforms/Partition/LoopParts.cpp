//===- LoopParts.cpp - Programs of a chunk around its loops ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopParts.h.
//
// Test: test/Transforms/Partition/cut-loops.mlir
//===----------------------------------------------------------------------===//

#include "LoopParts.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

//===----------------------------------------------------------------------===//
// What goes in and out
//===----------------------------------------------------------------------===//

static void copyMarks(Operation *from, Operation *to) {
  for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
    if (Attribute value = from->getAttr(mark))
      to->setAttr(mark, value);
}

static Value makeFence(OpBuilder &builder, Operation *like, Value value) {
  auto fence = dist::FenceOp::create(builder, like->getLoc(), value);
  copyMarks(like, fence);
  return fence.getResult(0);
}

/// A number that no carried value of a loop has.
static int64_t findFreeNumber(Block &block) {
  int64_t number = 0;
  for (auto enter : block.getOps<dist::EnterOp>())
    if (enter.getNumber())
      number = std::max<int64_t>(number, *enter.getNumber() + 1);
  return number;
}

/// leave sum %t  ->  leave last (next %s, %s + %t) of %s, which starts from 0
static void carrySums(Block &block) {
  int64_t number = findFreeNumber(block);
  for (auto leave : llvm::make_early_inc_range(block.getOps<dist::LeaveOp>())) {
    if (!leave.isSum())
      continue;
    OpBuilder builder(leave);
    Location loc = leave.getLoc();
    Value term = leave.getInput();
    Value zero = stablehlo::constantLike(builder, loc, term, 0);
    auto enter = dist::EnterOp::create(
        builder, loc, zero, dist::EnterKind::Carry, leave.getLoop(), number++);
    Value sum = stablehlo::add(builder, loc, enter, term);
    auto next = dist::NextOp::create(builder, loc, enter, sum);
    for (Operation *op : {zero.getDefiningOp(), enter.getOperation(),
                          sum.getDefiningOp(), next.getOperation()})
      copyMarks(leave, op);
    leave.getInputMutable().assign(next);
    leave.setKind(dist::LeaveKind::Last);
  }
}

bool llmc::isConstantCone(Operation *op) {
  constexpr int mostOps = 16;
  SmallVector<Operation *> work = {op};
  for (int count = 0; !work.empty(); ++count) {
    Operation *next = work.pop_back_val();
    if (isMadeAnywhere(next))
      continue;
    auto kernel = dyn_cast<graph::KernelOpInterface>(next);
    bool isCheap = kernel && isPure(next) && next->getNumRegions() == 0 &&
                   next->getNumResults() == 1 &&
                   (kernel.getKernelForm() == graph::KernelForm::Element ||
                    kernel.getKernelForm() == graph::KernelForm::Alias);
    if (!isCheap || count > mostOps)
      return false;
    for (Value operand : next->getOperands()) {
      if (!operand.getDefiningOp())
        return false;
      work.push_back(operand.getDefiningOp());
    }
  }
  return true;
}

/// Constants need not enter.
static void dropConstantEnters(Block &block) {
  for (auto enter : llvm::make_early_inc_range(block.getOps<dist::EnterOp>())) {
    Operation *def = enter.getInput().getDefiningOp();
    if (enter.getKind() != dist::EnterKind::Same || !def ||
        !isConstantCone(def))
      continue;
    bool isLeft = llvm::any_of(enter.getResult().getUsers(),
                               llvm::IsaPred<dist::LeaveOp, dist::NextOp>);
    if (isLeft)
      continue;
    enter.getResult().replaceAllUsesWith(enter.getInput());
    enter.erase();
  }
}

/// Whether the programs of a loop cannot read the value where it lies: it is
/// received, copied from the host, or made in each program anew.
static bool isBroughtIn(func::FuncOp function, OpOperand &operand) {
  if (auto argument = dyn_cast<BlockArgument>(operand.get()))
    return static_cast<bool>(dist::getInput(
        dist::getArgumentPort(function, argument.getArgNumber())));
  Operation *def = operand.get().getDefiningOp();
  return isa<dist::TransferOp, dist::JoinOp>(def) ||
         (isa<dist::EnterOp>(operand.getOwner()) && isConstantCone(def));
}

/// What is carried starts anew in each trip of the loop around, also where that
/// does not make it.
static void enterAround(dist::EnterOp enter) {
  OpBuilder builder(enter);
  auto around =
      dist::EnterOp::create(builder, enter.getLoc(), enter.getInput(),
                            dist::EnterKind::Same, enter.getLoop().getIn());
  copyMarks(enter, around);
  enter.getInputMutable().assign(around);
}

/// Carried values start in slots of their own, and what is brought in is there
/// before the first trip.
static void fenceEnters(func::FuncOp function) {
  dist::LoopRuns loops(function.front());
  for (auto [number, run] : llvm::enumerate(loops.getRuns())) {
    llvm::DenseMap<Value, Value> fences;
    for (Operation *op : run.ops) {
      if (loops.getRunOf(op) != static_cast<int>(number))
        continue;
      auto enter = dyn_cast<dist::EnterOp>(op);
      bool isStart = enter && enter.isCarry();
      if (isStart && run.in >= 0 && loops.getRunOf(enter.getInput()) != run.in)
        enterAround(enter);
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isStart && !isBroughtIn(function, operand))
          continue;
        Value shared = isStart ? Value() : fences.lookup(operand.get());
        if (!shared) {
          OpBuilder builder(run.ops.front());
          if (isStart)
            builder.setInsertionPoint(op);
          else
            builder.setInsertionPointAfterValue(operand.get());
          shared = makeFence(builder, op, operand.get());
          if (!isStart)
            fences[operand.get()] = shared;
        }
        operand.set(shared);
      }
    }
  }
}

/// Rows of a gradient are added where they are returned.
static bool isReturnedByRows(func::FuncOp function, dist::LeaveOp leave,
                             OpOperand &use) {
  return leave.isStack() && use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
         dist::isPort(dist::getResultPort(function, use.getOperandNumber()),
                      dist::PortKind::Gradient);
}

/// What a loop carries lies where it does for its trips alone, and what is
/// handed on is so by a straight part.
static void fenceLeaves(func::FuncOp function) {
  SmallVector<dist::LeaveOp> leaves(function.front().getOps<dist::LeaveOp>());
  for (dist::LeaveOp leave : leaves) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : leave.getResult().getUses()) {
      Operation *user = use.getOwner();
      bool isHandedOn =
          isCrossing(user) || user->hasTrait<OpTrait::IsTerminator>();
      if (leave.isLast() ||
          (isHandedOn && !isReturnedByRows(function, leave, use)))
        uses.push_back(&use);
    }
    if (uses.empty())
      continue;
    OpBuilder builder(leave->getContext());
    builder.setInsertionPointAfter(leave);
    Value fence = makeFence(builder, leave, leave.getResult());
    for (OpOperand *use : uses)
      use->set(fence);
  }
}

void llmc::prepareLoops(func::FuncOp function) {
  Block &block = function.front();
  if (llvm::none_of(block, llvm::IsaPred<dist::EnterOp>))
    return;
  dist::closeLeaves(block);
  dropConstantEnters(block);
  carrySums(block);
  fenceEnters(function);
  fenceLeaves(function);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The first part of the trip, or of the home, whose parts begin with `around`,
/// in which what `op` reads of it is there.
int64_t LoopParts::findFirst(Operation *op, Home home,
                             ArrayRef<int64_t> around) const {
  int64_t first = 0;
  auto runsAfter = [&](Operation *def, int64_t more) {
    Part part = parts.lookup(def);
    if (homeOf(def) == home && part.size() > around.size() &&
        ArrayRef(part).take_front(around.size()) == around)
      first = std::max(first, part[around.size()] + more);
  };
  for (Value operand : dist::getAllOperands(op)) {
    Operation *def = operand.getDefiningOp();
    if (!def)
      continue;
    if (auto leave = dyn_cast<dist::LeaveOp>(def))
      runsAfter(leave.getInput().getDefiningOp(), 1);
    else if (isCrossing(def))
      first = std::max(first, findFirst(def, home, around));
    else
      runsAfter(def, 0);
  }
  return first;
}

void LoopParts::numberOp(Operation *op, const Part &around, int64_t first) {
  parts[op] = around;
  parts[op].push_back(llvm::alignTo(first, 2));
}

/// Numbers the parts of a run that is in those around it; returns its own
/// number.
int64_t LoopParts::numberRun(int run, const Part &around) {
  ArrayRef<Operation *> ops = loops.getRuns()[run].ops;
  Home home = homeOf(*llvm::find_if(
      ops, [&](Operation *op) { return homeOf(op).has_value(); }));
  int64_t first = 0;
  for (Operation *op : ops)
    first = std::max(first, findFirst(op, home, around));
  Part part = around;
  part.push_back(first | 1);
  while (!taken.insert({*home, part}).second)
    part.back() += 2;
  number(run, part);
  return part.back();
}

/// Numbers the parts of a trip of the run, or of the whole block (-1).
void LoopParts::number(int run, const Part &around) {
  SmallVector<Operation *> nexts;
  int64_t last = 0;
  for (const dist::LoopStep &step : loops.getSteps(run)) {
    if (step.run >= 0) {
      last = std::max(last, numberRun(step.run, around) + 1);
    } else if (isa<dist::NextOp>(step.op)) {
      nexts.push_back(step.op);
    } else if (Home home = homeOf(step.op)) {
      int64_t first = findFirst(step.op, home, around);
      numberOp(step.op, around, first);
      last = std::max(last, first);
    }
  }
  // All parts of this trip read what the trip before has carried.
  for (Operation *next : nexts)
    numberOp(next, around, last);
}

LoopParts::LoopParts(Block &block, llvm::function_ref<Home(Operation *)> homeOf)
    : loops(block), homeOf(homeOf) {
  if (!loops.empty())
    number(-1, {});
}

dist::LoopAttr LoopParts::getLoop(Operation *op) const {
  int run = loops.getRunOf(op);
  return run < 0 ? dist::LoopAttr() : loops.getRuns()[run].loop;
}
