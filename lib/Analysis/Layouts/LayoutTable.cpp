//===- LayoutTable.cpp - Decided layouts of a program ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTable.h"

#include "llmc/Analysis/Layouts/StateUse.h"
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
    if (auto layout =
            function.getArgAttrOfType<LayoutAttr>(i, DistDialect::kLayout))
      layouts[argument] =
          getUseLayout(symbols, {function, kind, nullptr}, i, layout, mesh);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto layout =
            function.getResultAttrOfType<LayoutAttr>(i, DistDialect::kLayout))
      results[{function, i}] = layout;
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
  }
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

/// Gradients, loss sum and count of a microbatch go to the arguments of the
/// update that are marked alike.
void LayoutTable::connect(dist::StepOp step) {
  auto from = symbols.lookup<func::FuncOp>(step.getMicrobatch());
  auto to = symbols.lookup<func::FuncOp>(step.getUpdate());
  llvm::DenseMap<std::pair<Attribute, Attribute>, BlockArgument> takers;
  for (BlockArgument argument : to.getArguments()) {
    unsigned i = argument.getArgNumber();
    Attribute gradient = to.getArgAttr(i, DistDialect::kGradientOf);
    Attribute role = to.getArgAttr(i, DistDialect::kRole);
    if (gradient || role)
      takers[{gradient, role}] = argument;
  }
  size_t count = exits.size();
  for (size_t i = 0; i < count; ++i) {
    if (exits[i].function != from)
      continue;
    unsigned result = exits[i].result;
    auto gradient = from.getResultAttrOfType<FlatSymbolRefAttr>(
        result, DistDialect::kGradientOf);
    Attribute role = from.getResultAttr(result, DistDialect::kRole);
    auto taker = takers.find({gradient, role});
    if ((!gradient && !role) || taker == takers.end())
      continue;
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
  if (!isStale)
    return;
  isStale = false;
  for (ProgramOp &item : items) {
    if (item.rule->operands.size() != item.op->getNumOperands())
      continue;
    LayoutProblem problem{item.op, *item.rule, mesh, {}, {}};
    for (Value operand : item.op->getOperands())
      problem.operands.push_back(layoutOf(operand));
    for (Value result : item.op->getResults())
      problem.results.push_back(layoutOf(result));
    item.runs = &*runs.insert(getOpLayouts(problem)).first;
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void LayoutTable::set(Value value, LayoutAttr layout) {
  layouts[value] = layout;
  isStale = true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    arguments.insert(argument);
  else
    changed.insert(value.getDefiningOp());
}

void LayoutTable::writeFunction(func::FuncOp function) {
  SmallVector<Attribute> taken, returned;
  for (BlockArgument argument : function.getArguments())
    taken.push_back(arguments.contains(argument)
                        ? layoutOf(argument)
                        : function.getArgAttr(argument.getArgNumber(),
                                              DistDialect::kLayout));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    returned.push_back(results.lookup({function, i}));
  setArgumentMarks(function, DistDialect::kLayout, taken);
  setResultMarks(function, DistDialect::kLayout, returned);
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
