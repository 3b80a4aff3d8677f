//===- LayoutTable.cpp - Decided layouts of a program ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTable.h"

#include "llmc/Analysis/Layouts/StateUse.h"
#include "llmc/Analysis/Program/StepInvariants.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void LayoutTable::collect() {
  for (ProgramFunction &program : getProgramFunctions(module)) {
    int64_t count = 1;
    if (program.kind == FunctionKind::Microbatch)
      count = cast<dist::StepOp>(program.owner).getMicrobatches();
    int64_t &known = times[program.function];
    known = std::max(known, count);
    if (program.kind == FunctionKind::Update)
      updates.insert(program.function);
    else
      functions.insert({program.function, program.kind});
  }
}

void LayoutTable::readFunction(func::FuncOp function, FunctionKind kind) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (LayoutAttr layout = dist::getLayout(dist::getArgumentPort(function, i)))
      layouts[argument] =
          getUseLayout(symbols, {function, kind, nullptr}, i, layout, mesh);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (LayoutAttr layout = dist::getLayout(dist::getResultPort(function, i)))
      results[{function, i}] = layout;
  dist::LoopRuns loops(function.getBody().front());
  for (const dist::LoopRun &run : loops.getRuns())
    for (Operation *op : run.ops)
      tripsOf[op] = run.loop.getWeight();
  if (kind == FunctionKind::Microbatch)
    findPrepared(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto list = op.getAttrOfType<ArrayAttr>(DistDialect::kLayouts);
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      if (list && i < list.size())
        layouts[result] = dyn_cast<LayoutAttr>(list[i]);
    auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
    graph::ShardingRule rule =
        model ? model.getShardingRule() : graph::ShardingRule();
    items.push_back({&op, &*rules.insert(std::move(rule)).first,
                     &*runs.insert(OpLayouts()).first});
    stale.insert(&op);
  }
}

/// What PrepareStep.cpp takes out of microbatches, wherever it is moved.
void LayoutTable::findPrepared(func::FuncOp function) {
  ProgramFunction program{function, FunctionKind::Microbatch, nullptr};
  auto layoutOf = [&](BlockArgument argument) {
    return dist::getLayout(
        dist::getArgumentPort(function, argument.getArgNumber()));
  };
  // What is made of states that are gathered for use may come after a gather.
  PassingAxes passing(symbols, program, layoutOf, mesh);
  StepInvariants invariants(function, [&](BlockArgument argument) {
    return !passing.of(argument).empty();
  });
  auto isThere = [&](Value value) {
    return !value.getDefiningOp() || prepared.contains(value);
  };
  for (Operation &op : function.front().without_terminator())
    for (Value result : op.getResults())
      if (!invariants.changes(result) && !tripsOf.contains(&op) &&
          !isa<dist::LeaveOp>(op) &&
          llvm::all_of(dist::getAllOperands(&op), isThere))
        prepared.insert(result);
}

void LayoutTable::addExits(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    exits.push_back({function, i, {}, {}});
}

/// The row's layout of the state's gradient, that of the whole for a part.
LayoutAttr LayoutTable::rowOf(StringRef name) {
  for (auto state = symbols.lookup<dist::StateOp>(name); state;) {
    if (dist::RowAttr row = state.getRowAttr())
      return row.getGradient();
    if (!state.getPartOf())
      return {};
    state = symbols.lookup<dist::StateOp>(*state.getPartOf());
  }
  return {};
}

/// The sums of a microbatch go to the arguments of the update that are the
/// same.
void LayoutTable::connect(dist::StepOp step) {
  auto from = symbols.lookup<func::FuncOp>(step.getMicrobatch());
  auto to = symbols.lookup<func::FuncOp>(step.getUpdate());
  llvm::DenseMap<Attribute, BlockArgument> takers;
  for (BlockArgument argument : to.getArguments())
    if (dist::PortAttr port =
            dist::getArgumentPort(to, argument.getArgNumber());
        dist::isSum(port))
      takers[port.getSlot()] = argument;
  size_t count = exits.size();
  for (size_t i = 0; i < count; ++i) {
    if (exits[i].function != from)
      continue;
    unsigned result = exits[i].result;
    dist::PortAttr port = dist::getResultPort(from, result);
    auto taker = port ? takers.find(port.getSlot()) : takers.end();
    if (taker == takers.end())
      continue;
    FlatSymbolRefAttr gradient = dist::getGradientOf(port);
    ProgramExit exit{from, result, taker->second,
                     gradient ? rowOf(gradient.getValue()) : LayoutAttr()};
    if (exits[i].taker)
      exits.push_back(exit);
    else
      exits[i] = exit;
  }
}

void LayoutTable::read() {
  collect();
  for (auto [function, kind] : functions)
    readFunction(cast<func::FuncOp>(function), kind);
  firstUpdate = items.size();
  for (Operation *function : updates)
    if (functions.insert({function, FunctionKind::Update}).second)
      readFunction(cast<func::FuncOp>(function), FunctionKind::Update);
  for (auto [function, kind] : functions)
    addExits(cast<func::FuncOp>(function));
  for (auto step : module.getOps<dist::StepOp>())
    connect(step);
}

void LayoutTable::refresh() {
  if (stale.empty())
    return;
  for (ProgramOp &item : items) {
    if (!stale.contains(item.op) ||
        item.rule->operands.size() != item.op->getNumOperands())
      continue;
    LayoutProblem problem{item.op, *item.rule, mesh, {}, {}};
    for (Value operand : item.op->getOperands())
      problem.operands.push_back(layoutOf(operand));
    for (Value result : item.op->getResults())
      problem.results.push_back(layoutOf(result));
    item.runs = &*runs.insert(getOpLayouts(problem)).first;
  }
  stale.clear();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void LayoutTable::set(Value value, LayoutAttr layout) {
  layouts[value] = layout;
  for (Operation *user : value.getUsers())
    stale.insert(user);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    arguments.insert(argument);
    return;
  }
  changed.insert(value.getDefiningOp());
  stale.insert(value.getDefiningOp());
}

void LayoutTable::constrain(OpOperand &operand, LayoutAttr layout) {
  Operation *op = operand.getOwner();
  OpBuilder builder(op);
  auto constraint = dist::ConstraintOp::create(
      builder, op->getLoc(), operand.get().getType(), operand.get(), layout,
      /*hint=*/false);
  for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
    if (Attribute value = op->getAttr(mark))
      constraint->setAttr(mark, value);
  constraint->setAttr(DistDialect::kLayouts, builder.getArrayAttr({layout}));
  operand.set(constraint);
  auto at =
      llvm::find_if(items, [&](const ProgramOp &i) { return i.op == op; });
  size_t index = at - items.begin();
  graph::ShardingRule rule =
      cast<graph::ShardingRuleOpInterface>(*constraint).getShardingRule();
  items.insert(at, {constraint, &*rules.insert(std::move(rule)).first,
                    &*runs.insert(OpLayouts()).first});
  firstUpdate += index < firstUpdate;
  if (auto trips = tripsOf.find(op); trips != tripsOf.end())
    tripsOf[constraint] = trips->second;
  layouts[constraint] = layout;
  stale.insert(constraint);
  stale.insert(op);
}

void LayoutTable::writeFunction(func::FuncOp function) {
  dist::Signature signature(function);
  SmallVector<LayoutAttr> taken, returned;
  for (auto [argument, port] :
       llvm::zip_equal(function.getArguments(), signature.arguments))
    taken.push_back(arguments.contains(argument) ? layoutOf(argument)
                                                 : dist::getLayout(port));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    returned.push_back(results.lookup({function, i}));
  signature.setLayouts(taken, returned);
  signature.write(function);
}

void LayoutTable::write() {
  for (auto [function, kind] : functions)
    writeFunction(cast<func::FuncOp>(function));
  for (Operation *op : changed) {
    SmallVector<Attribute> list(
        op->getAttrOfType<ArrayAttr>(DistDialect::kLayouts).getValue());
    for (auto [result, layout] : llvm::zip(op->getResults(), list))
      layout = layoutOf(result);
    op->setAttr(DistDialect::kLayouts,
                ArrayAttr::get(module.getContext(), list));
  }
}
