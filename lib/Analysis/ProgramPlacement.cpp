//===- ProgramPlacement.cpp - Reductions of a program ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts are kept in a table while axes are placed, and written once. Order of
// everything: functions of microbatches and entries, then updates; in each
// function the ops in order.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/ProgramPlacement.h"

#include "llmc/Analysis/OpLayouts.h"
#include "llmc/Analysis/ReductionPlacement.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace llmc;
using dist::AxisAttr;
using dist::DistDialect;
using dist::LayoutAttr;
using graph::Reduction;

namespace {

/// A result of a function: what it returns, and the argument of `@update` that
/// takes the sum of all microbatches, if one does.
struct Exit {
  func::FuncOp function;
  unsigned result;
  BlockArgument taker;
  /// What the row says of the gradient; null when it says nothing.
  LayoutAttr rowLayout;
};

struct Item {
  Operation *op;
  graph::ShardingRule rule;
  OpLayouts runs;
};

/// Functions, their ops and layouts.
class Table {
public:
  explicit Table(ModuleOp module) : module(module) {}

  void read();
  /// Asks again how each op runs.
  void refresh(dist::MeshAxesAttr mesh);
  void write();

  LayoutAttr layoutOf(Value value) const { return layouts.lookup(value); }
  /// Of what the exit's function returns.
  LayoutAttr layoutOf(const Exit &exit) const {
    return results.lookup({exit.function, exit.result});
  }
  Value valueOf(const Exit &exit) const {
    func::FuncOp function = exit.function;
    return function.getBody().front().getTerminator()->getOperand(exit.result);
  }
  bool isUpdate(func::FuncOp function) const {
    return updates.contains(function);
  }
  int64_t timesOf(Value value) const {
    Region *region = value.getParentRegion();
    return times.lookup(region->getParentOp());
  }

  ModuleOp module;
  std::vector<Item> items;
  SmallVector<Exit> exits;
  /// In `items`, where those of the updates begin.
  size_t firstUpdate = 0;
  llvm::DenseMap<Value, LayoutAttr> layouts;
  llvm::DenseMap<std::pair<Operation *, unsigned>, LayoutAttr> results;

private:
  void collect();
  void readFunction(func::FuncOp function);
  void addExits(func::FuncOp function);
  void connect(dist::StepOp step);
  LayoutAttr rowOf(StringRef state);
  void writeFunction(func::FuncOp function);

  llvm::SetVector<Operation *> functions, updates;
  llvm::DenseMap<Operation *, int64_t> times;
};

} // namespace

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void Table::collect() {
  for (ProgramFunction &program : getProgramFunctions(module)) {
    int64_t count = 1;
    if (program.kind == FunctionKind::Microbatch)
      count = cast<dist::StepOp>(program.owner).getMicrobatches();
    int64_t &known = times[program.function];
    known = std::max(known, count);
    if (program.kind == FunctionKind::Update)
      updates.insert(program.function);
    else
      functions.insert(program.function);
  }
}

void Table::readFunction(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (auto layout = function.getArgAttrOfType<LayoutAttr>(
            argument.getArgNumber(), DistDialect::kLayout))
      layouts[argument] = layout;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto layout =
            function.getResultAttrOfType<LayoutAttr>(i, DistDialect::kLayout))
      results[{function, i}] = layout;
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto list = op.getAttrOfType<ArrayAttr>(DistDialect::kLayouts);
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      if (list && i < list.size())
        layouts[result] = dyn_cast<LayoutAttr>(list[i]);
    Item item{&op, {}, {}};
    if (auto model = dyn_cast<graph::ShardingRuleOpInterface>(op))
      item.rule = model.getShardingRule();
    items.push_back(std::move(item));
  }
}

void Table::addExits(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    exits.push_back({function, i, {}, {}});
}

/// The row's layout of the state's gradient, that of the whole for a part.
LayoutAttr Table::rowOf(StringRef name) {
  for (auto state = module.lookupSymbol<dist::StateOp>(name); state;) {
    if (dist::RowAttr row = state.getRowAttr())
      return row.getGradient();
    if (!state.getPartOf())
      return {};
    state = module.lookupSymbol<dist::StateOp>(*state.getPartOf());
  }
  return {};
}

/// Gradients, loss sum and count of a microbatch go to the arguments of the
/// update that are marked alike.
void Table::connect(dist::StepOp step) {
  auto from = module.lookupSymbol<func::FuncOp>(step.getMicrobatch());
  auto to = module.lookupSymbol<func::FuncOp>(step.getUpdate());
  llvm::DenseMap<std::pair<Attribute, Attribute>, BlockArgument> takers;
  for (BlockArgument argument : to.getArguments()) {
    unsigned i = argument.getArgNumber();
    Attribute gradient = to.getArgAttr(i, DistDialect::kGradientOf);
    Attribute role = to.getArgAttr(i, DistDialect::kRole);
    if ((gradient || role) && !to.getArgAttr(i, DistDialect::kReads) &&
        !to.getArgAttr(i, DistDialect::kHyper))
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
    Exit exit{from, result, taker->second,
              gradient ? rowOf(gradient.getValue()) : LayoutAttr()};
    if (exits[i].taker)
      exits.push_back(exit);
    else
      exits[i] = exit;
  }
}

void Table::read() {
  collect();
  for (Operation *function : functions)
    readFunction(cast<func::FuncOp>(function));
  firstUpdate = items.size();
  for (Operation *function : updates)
    if (!functions.contains(function))
      readFunction(cast<func::FuncOp>(function));
  functions.insert(updates.begin(), updates.end());
  for (Operation *function : functions)
    addExits(cast<func::FuncOp>(function));
  for (auto step : module.getOps<dist::StepOp>())
    connect(step);
}

void Table::refresh(dist::MeshAxesAttr mesh) {
  for (Item &item : items) {
    if (item.rule.operands.size() != item.op->getNumOperands())
      continue;
    LayoutProblem problem{item.op, item.rule, mesh, {}, {}};
    for (Value operand : item.op->getOperands())
      problem.operands.push_back(layoutOf(operand));
    for (Value result : item.op->getResults())
      problem.results.push_back(layoutOf(result));
    item.runs = getOpLayouts(problem);
  }
}

void Table::writeFunction(func::FuncOp function) {
  SmallVector<Attribute> arguments, returned;
  for (BlockArgument argument : function.getArguments())
    arguments.push_back(layoutOf(argument));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    returned.push_back(results.lookup({function, i}));
  setArgumentMarks(function, DistDialect::kLayout, arguments);
  setResultMarks(function, DistDialect::kLayout, returned);
}

void Table::write() {
  for (Operation *function : functions)
    writeFunction(cast<func::FuncOp>(function));
  for (Item &item : items) {
    SmallVector<Attribute> list;
    for (Value result : item.op->getResults())
      if (LayoutAttr layout = layoutOf(result))
        list.push_back(layout);
    if (!list.empty() && list.size() == item.op->getNumResults())
      item.op->setAttr(DistDialect::kLayouts,
                       ArrayAttr::get(module.getContext(), list));
  }
}

//===----------------------------------------------------------------------===//
// One axis and one kind
//===----------------------------------------------------------------------===//

/// The dim that `axis` splits, and whether it is the minor-most axis there.
static std::optional<std::pair<int64_t, bool>> findSplit(LayoutAttr layout,
                                                         AxisAttr axis) {
  for (auto [i, dim] : llvm::enumerate(layout.getDims()))
    for (AxisAttr candidate : dim.getAxes())
      if (candidate.overlaps(axis))
        return std::pair(int64_t(i), candidate == dim.getAxes().back());
  return std::nullopt;
}

/// Partial over `axis` instead of split by it; what stands behind the axis in
/// the list of its dim leaves the dim too.
static LayoutAttr asPartial(LayoutAttr layout, AxisAttr axis, Reduction kind) {
  if (auto split = findSplit(layout, axis)) {
    dist::DimAttr dim = layout.getDims()[split->first];
    ArrayRef<AxisAttr> kept = dim.getAxes().take_until(
        [&](AxisAttr candidate) { return candidate.overlaps(axis); });
    MLIRContext *context = layout.getContext();
    layout = layout.withDim(
        split->first, kept.empty()
                          ? dist::DimAttr::get(context)
                          : dist::DimAttr::get(context, kept, dim.getSizes(),
                                               dim.getExtents()));
  }
  return layout.withPartialOver(axis, static_cast<dist::ReductionKind>(kind));
}

namespace {
class AxisPlacer {
public:
  AxisPlacer(Table &table, LayoutReshards &reshards, AxisAttr axis,
             Reduction kind)
      : table(table), reshards(reshards), axis(axis), kind(kind) {}

  LogicalResult run(SmallVectorImpl<PlacedReduction> &placed);

private:
  bool isPipeline() const {
    const rt::Mesh &mesh = reshards.getMesh();
    return mesh.pipelineAxis >= 0 &&
           mesh.axes[mesh.pipelineAxis].name == axis.getName().getValue();
  }
  bool isInsidePin(LayoutAttr inner, LayoutAttr outer) const;
  int32_t define(Value value);
  PlacementProblem::Use use(Value value, LayoutAttr want);
  void addItem(const Item &item);
  void addExit(const Exit &exit);
  bool isSource(const Item &item) const;
  bool mayCarry(const Item &item) const;
  void addGroups(const Item &item, PlacementProblem::Op &op) const;
  bool isLegalGroup(const Item &item, ArrayRef<int> group) const;
  void addGroup(const Item &item, ArrayRef<int> group,
                PlacementProblem::Op &op) const;
  std::optional<int> findHome(const Item &item) const;
  LogicalResult price(int32_t value);
  FailureOr<int64_t> priceOf(Value value, LayoutAttr from, LayoutAttr to);
  void apply(const ReductionPlacement &placement,
             SmallVectorImpl<PlacedReduction> &placed);

  Table &table;
  LayoutReshards &reshards;
  AxisAttr axis;
  Reduction kind;
  PlacementProblem problem;
  /// By number: the value, and the layouts that its uses want.
  SmallVector<Value> values;
  SmallVector<llvm::SmallSetVector<LayoutAttr, 2>> wants;
  llvm::DenseMap<Value, int32_t> numbers;
};
} // namespace

/// Along the pipeline axis a term may live at some of the sum's coordinates.
bool AxisPlacer::isInsidePin(LayoutAttr inner, LayoutAttr outer) const {
  StringRef name = axis.getName();
  ArrayRef<int64_t> all = outer.getPin(name), some = inner.getPin(name);
  return all.size() > 1 && !some.empty() && llvm::all_of(some, [&](int64_t c) {
           return llvm::is_contained(all, c);
         });
}

int32_t AxisPlacer::define(Value value) {
  auto number = static_cast<int32_t>(values.size());
  numbers[value] = number;
  values.push_back(value);
  wants.emplace_back();
  problem.values.emplace_back();
  return number;
}

/// A use of `value` that wants this layout where it reads it full.
PlacementProblem::Use AxisPlacer::use(Value value, LayoutAttr want) {
  auto number = numbers.find(value);
  if (number == numbers.end() || !want)
    return {};
  want = want.withoutPartialOver(axis);
  auto &list = wants[number->second];
  list.insert(want);
  return {number->second,
          static_cast<int32_t>(llvm::find(list, want) - list.begin())};
}

/// The factor that the axis splits in this op.
std::optional<int> AxisPlacer::findHome(const Item &item) const {
  for (auto [factor, split] : llvm::enumerate(item.runs.splits))
    if (split && llvm::any_of(split->axes, [&](AxisAttr candidate) {
          return candidate.overlaps(axis);
        }))
      return static_cast<int>(factor);
  return std::nullopt;
}

/// The op reduces a factor that the axis splits, or adds values that live at
/// different coordinates.
bool AxisPlacer::isSource(const Item &item) const {
  for (auto [candidate, reduction] : item.runs.reduced)
    if (candidate.overlaps(axis) && reduction == kind)
      return true;
  return isPipeline() &&
         llvm::any_of(item.runs.carried, [&](const CarriedAxis &carried) {
           return carried.axis == axis && carried.kind == kind;
         });
}

/// No result is decided otherwise: partial by another kind, or stated to be
/// split by the axis.
bool AxisPlacer::mayCarry(const Item &item) const {
  for (Value result : item.op->getResults()) {
    LayoutAttr layout = table.layoutOf(result);
    if (!layout || layout.getPartialKind(axis.getName()))
      return false;
    if (auto split = findSplit(layout, axis); split && !split->second)
      return false;
  }
  auto constraint = dyn_cast<dist::ConstraintOp>(item.op);
  return !constraint || !findSplit(constraint.getLayout(), axis);
}

/// What stands outside must not be split by the axis; what stands inside and is
/// full becomes a term for free: kept on one coordinate, or embedded.
bool AxisPlacer::isLegalGroup(const Item &item, ArrayRef<int> group) const {
  if (kind == Reduction::Product && group.size() != 1)
    return false;
  for (auto [i, operand] : llvm::enumerate(item.op->getOperands())) {
    LayoutAttr layout = table.layoutOf(operand);
    auto split = layout ? findSplit(layout, axis) : std::nullopt;
    if (!split)
      continue;
    bool isInside = llvm::is_contained(group, static_cast<int>(i));
    bool isAlone = group.size() == 1;
    if (!isInside || (!isAlone && (kind != Reduction::Sum || !split->second)))
      return false;
  }
  return true;
}

void AxisPlacer::addGroup(const Item &item, ArrayRef<int> group,
                          PlacementProblem::Op &op) const {
  std::vector<int32_t> uses;
  for (int i : group) {
    LayoutAttr layout = table.layoutOf(item.op->getOperand(i));
    LayoutAttr result = table.layoutOf(item.op->getResult(0));
    if (!isPipeline() || (layout && isInsidePin(layout, result)))
      uses.push_back(i);
  }
  if (!uses.empty())
    op.groups.push_back(std::move(uses));
}

void AxisPlacer::addGroups(const Item &item, PlacementProblem::Op &op) const {
  const graph::ShardingRule &rule = item.rule;
  auto has = [&](int operand, int factor) {
    return llvm::any_of(rule.operands[operand], [&](ArrayRef<int> dim) {
      return llvm::is_contained(dim, factor);
    });
  };
  std::optional<int> home = findHome(item);
  if (home && rule.factors[*home].kind == graph::FactorKind::Reduced) {
    if (rule.factors[*home].reduction != kind)
      return;
    // Terms without the factor; one operand with it may be carried unsplit.
    SmallVector<int> terms, holders;
    for (int i : rule.addends)
      if (!has(i, *home))
        terms.push_back(i);
    for (size_t i = 0; i < rule.operands.size(); ++i)
      if (has(static_cast<int>(i), *home))
        holders.push_back(static_cast<int>(i));
    if (!terms.empty())
      addGroup(item, terms, op);
    if (holders.size() != 1 || !terms.empty())
      return;
  }
  for (const graph::Linearity &linearity : rule.carries)
    if (linearity.kind == kind)
      for (ArrayRef<int> group : linearity.groups)
        if (isLegalGroup(item, group))
          addGroup(item, group, op);
}

void AxisPlacer::addItem(const Item &item) {
  PlacementProblem::Op op;
  bool hasRule = !item.runs.operands.empty() || !item.runs.results.empty();
  for (auto [i, operand] : llvm::enumerate(item.op->getOperands())) {
    LayoutAttr want = hasRule ? item.runs.operands[i] : table.layoutOf(operand);
    op.uses.push_back(use(operand, want));
  }
  bool isOpen = hasRule && item.op->getNumResults() > 0 && mayCarry(item);
  if (hasRule)
    op.isSource = isSource(item);
  if (isOpen)
    addGroups(item, op);
  for (Value result : item.op->getResults())
    if (table.layoutOf(result))
      op.results.push_back(define(result));
  problem.ops.push_back(std::move(op));
}

void AxisPlacer::addExit(const Exit &exit) {
  Value value = table.valueOf(exit);
  LayoutAttr own = table.layoutOf(value), want = table.layoutOf(exit);
  PlacementProblem::Op op;
  op.uses.push_back(use(value, want));
  bool isRefused = exit.rowLayout && findSplit(exit.rowLayout, axis);
  if (exit.taker && own && want && !isRefused) {
    auto split = findSplit(want, axis);
    bool isOther = want.getPartialKind(axis.getName()).has_value();
    bool isInside = !isPipeline() || isInsidePin(own, want);
    if ((!split || split->second) && !isOther && isInside)
      op.groups.push_back({0});
    // A term that lives at some of the coordinates: the sum, once, is cheaper
    // than sending it to the others for each microbatch.
    op.isSource = isPipeline() && kind == Reduction::Sum && !isOther &&
                  isInside &&
                  own.getPin(axis.getName()) != want.getPin(axis.getName());
  }
  if (exit.taker && !numbers.count(exit.taker))
    op.results.push_back(define(exit.taker));
  problem.ops.push_back(std::move(op));
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

FailureOr<int64_t> AxisPlacer::priceOf(Value value, LayoutAttr from,
                                       LayoutAttr to) {
  std::string error;
  auto type = cast<RankedTensorType>(value.getType());
  FailureOr<int64_t> cost = reshards.price(type, from, to, error);
  if (failed(cost))
    return emitError(value.getLoc()) << "cannot bring a value from " << from
                                     << " to " << to << ": " << error;
  return cost;
}

/// Beyond what the full value costs anyway.
LogicalResult AxisPlacer::price(int32_t number) {
  Value value = values[number];
  LayoutAttr full = table.layoutOf(value);
  LayoutAttr partial = asPartial(full, axis, kind);
  for (LayoutAttr want : wants[number]) {
    FailureOr<int64_t> reduced = priceOf(value, partial, want);
    FailureOr<int64_t> moved = priceOf(value, full, want);
    if (failed(reduced) || failed(moved))
      return failure();
    problem.values[number].prices.push_back(
        std::max<int64_t>(*reduced - *moved, 0) * table.timesOf(value));
  }
  return success();
}

void AxisPlacer::apply(const ReductionPlacement &placement,
                       SmallVectorImpl<PlacedReduction> &placed) {
  for (auto [number, layout] : placement.cuts) {
    Value value = values[number];
    placed.push_back({value, asPartial(table.layoutOf(value), axis, kind),
                      wants[number][layout], axis, kind, table.timesOf(value)});
  }
  for (auto [number, value] : llvm::enumerate(values))
    if (placement.isPartial[number])
      table.layouts[value] = asPartial(table.layoutOf(value), axis, kind);
  for (const Exit &exit : table.exits)
    if (exit.taker && placement.isPartial[numbers.lookup(exit.taker)])
      table.results[{exit.function, exit.result}] = table.layoutOf(exit.taker);
}

LogicalResult AxisPlacer::run(SmallVectorImpl<PlacedReduction> &placed) {
  for (size_t i = 0; i < table.firstUpdate; ++i)
    addItem(table.items[i]);
  for (const Exit &exit : table.exits)
    if (!table.isUpdate(exit.function))
      addExit(exit);
  for (size_t i = table.firstUpdate; i < table.items.size(); ++i)
    addItem(table.items[i]);
  for (const Exit &exit : table.exits)
    if (table.isUpdate(exit.function))
      addExit(exit);
  PlacementFlow flow = findPartialFlow(problem);
  for (size_t number = 0; number < values.size(); ++number)
    if (flow.mayBePartial[number] &&
        failed(price(static_cast<int32_t>(number))))
      return failure();
  apply(placeReductions(problem), placed);
  return success();
}

//===----------------------------------------------------------------------===//
// All axes
//===----------------------------------------------------------------------===//

/// Kinds of reductions that some op makes over the axis, in the order of their
/// numbers.
static SmallVector<Reduction> findKinds(const Table &table, AxisAttr axis,
                                        bool isPipeline) {
  llvm::SmallSet<int, 4> found;
  // Values that leave a microbatch may have terms at some stages only.
  if (isPipeline)
    found.insert(static_cast<int>(Reduction::Sum));
  for (const Item &item : table.items) {
    for (auto [candidate, kind] : item.runs.reduced)
      if (candidate.overlaps(axis))
        found.insert(static_cast<int>(kind));
    for (const CarriedAxis &carried : item.runs.carried)
      if (carried.axis == axis)
        found.insert(static_cast<int>(carried.kind));
  }
  SmallVector<Reduction> kinds;
  for (int kind = 0; kind <= static_cast<int>(Reduction::Or); ++kind)
    if (found.contains(kind))
      kinds.push_back(static_cast<Reduction>(kind));
  return kinds;
}

LogicalResult
llmc::placeProgramReductions(ModuleOp module, LayoutReshards &reshards,
                             SmallVectorImpl<PlacedReduction> &placed) {
  dist::MeshAxesAttr mesh = reshards.getAxes();
  Table table(module);
  table.read();
  for (size_t i = mesh.getNumAxes(); i-- > 0;) {
    if (mesh.getSizes()[i] == 1)
      continue;
    auto axis = AxisAttr::get(module.getContext(), mesh.getNames()[i]);
    table.refresh(mesh);
    bool isPipeline =
        reshards.getMesh().pipelineAxis == static_cast<int32_t>(i);
    for (Reduction kind : findKinds(table, axis, isPipeline)) {
      if (failed(AxisPlacer(table, reshards, axis, kind).run(placed)))
        return failure();
      table.refresh(mesh);
    }
  }
  table.write();
  return success();
}
