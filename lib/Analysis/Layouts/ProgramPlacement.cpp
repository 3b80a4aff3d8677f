//===- ProgramPlacement.cpp - Reductions of a program ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts are kept in a table while axes are placed, and written once.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/ProgramPlacement.h"

#include "AxisPlacer.h"
#include "WholeResults.h"
#include "llmc/Analysis/Layouts/MachineOfMesh.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llvm/ADT/SmallSet.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using dist::AxisAttr;
using dist::LayoutAttr;

//===----------------------------------------------------------------------===//
// One axis and one kind
//===----------------------------------------------------------------------===//

/// The dim that `axis` splits, and whether it is the minor-most axis there.
std::optional<std::pair<int64_t, bool>> llmc::findSplit(LayoutAttr layout,
                                                        AxisAttr axis) {
  for (auto [i, dim] : llvm::enumerate(layout.getDims()))
    for (AxisAttr candidate : dim.getAxes())
      if (candidate.overlaps(axis))
        return std::pair(int64_t(i), candidate == dim.getAxes().back());
  return std::nullopt;
}

/// Partial over `axis` instead of split by it; what stands after the axis in
/// the list of its dim leaves the dim too.
LayoutAttr llmc::asPartial(LayoutAttr layout, AxisAttr axis,
                           ReductionKind kind) {
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
  return layout.withPartialOver(axis, kind);
}

/// Not split by `axis`, which is the minor-most one of its dim.
LayoutAttr llmc::withoutSplit(LayoutAttr layout, AxisAttr axis) {
  return asPartial(layout, axis, ReductionKind::sum).withoutPartialOver(axis);
}

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
std::optional<int> AxisPlacer::findHome(const ProgramOp &item) const {
  for (auto [factor, split] : llvm::enumerate(item.runs->splits))
    if (split && llvm::any_of(split->axes, [&](AxisAttr candidate) {
          return candidate.overlaps(axis);
        }))
      return static_cast<int>(factor);
  return std::nullopt;
}

/// The op reduces a factor that the axis splits, or adds values that live at
/// different coordinates.
bool AxisPlacer::isSource(const ProgramOp &item) const {
  for (auto [candidate, reduction] : item.runs->reduced)
    if (candidate.overlaps(axis) && reduction == kind)
      return true;
  return isPipeline() &&
         llvm::any_of(item.runs->carried, [&](const CarriedAxis &carried) {
           return carried.axis == axis && carried.kind == kind;
         });
}

/// No result is decided otherwise: partial by another kind, over any axis, or
/// stated to be split by this one.
bool AxisPlacer::mayCarry(const ProgramOp &item) const {
  for (auto [other, reduction] : item.runs->reduced)
    if (reduction != kind)
      return false;
  for (Value result : item.op->getResults()) {
    LayoutAttr layout = table.layoutOf(result);
    if (!layout || layout.getPartialKind(axis.getName()))
      return false;
    for (dist::PartialAttr part : layout.getPartial())
      if (part.getKind() != kind)
        return false;
    if (auto split = findSplit(layout, axis); split && !split->second)
      return false;
  }
  auto constraint = dyn_cast<dist::ConstraintOp>(item.op);
  return !constraint || !findSplit(constraint.getLayout(), axis);
}

/// What stands outside and is split by the axis must be moved; what stands
/// inside and is full becomes a term for free: kept on one coordinate, or
/// embedded.
bool AxisPlacer::isLegalGroup(const ProgramOp &item,
                              ArrayRef<int> group) const {
  if (isPipeline() && kind == ReductionKind::product && group.size() != 1)
    return false;
  for (auto [i, operand] : llvm::enumerate(item.op->getOperands())) {
    LayoutAttr layout = table.layoutOf(operand);
    auto split = layout ? findSplit(layout, axis) : std::nullopt;
    if (!split)
      continue;
    bool isInside = llvm::is_contained(group, static_cast<int>(i));
    bool isAlone = group.size() == 1;
    if (isInside && !isAlone && (isIdempotent(kind) || !split->second))
      return false;
  }
  return true;
}

void AxisPlacer::addGroup(const ProgramOp &item, ArrayRef<int> group,
                          PlacementProblem::Op &op,
                          std::vector<int32_t> needed) {
  std::vector<int32_t> uses;
  for (int i : group) {
    LayoutAttr layout = table.layoutOf(item.op->getOperand(i));
    LayoutAttr result = table.layoutOf(item.op->getResult(0));
    if (!isPipeline() || (layout && isInsidePin(layout, result)))
      uses.push_back(i);
  }
  if (uses.empty())
    return;
  op.groups.push_back(std::move(uses));
  op.moves.push_back(std::move(needed));
}

void AxisPlacer::addGroups(const ProgramOp &item, PlacementProblem::Op &op) {
  const graph::ShardingRule &rule = *item.rule;
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
          addLinear(item, group, op);
}

void AxisPlacer::addItem(const ProgramOp &item) {
  PlacementProblem::Op op;
  bool hasRule = !item.runs->operands.empty() || !item.runs->results.empty();
  for (auto [i, operand] : llvm::enumerate(item.op->getOperands())) {
    LayoutAttr want =
        hasRule ? item.runs->operands[i] : table.layoutOf(operand);
    op.uses.push_back(use(operand, want));
  }
  bool isOpen = hasRule && item.op->getNumResults() > 0 && mayCarry(item);
  bool isWhole = wholes.contains(item.op);
  if (hasRule)
    op.isSource = isSource(item) && !isWhole;
  if (op.isSource && !op.uses.empty() &&
      !table.isOfUpdate(item.op->getResult(0)))
    addWhole(item, op);
  if (isOpen && !isWhole)
    addGroups(item, op);
  for (Value result : item.op->getResults())
    if (table.layoutOf(result))
      op.results.push_back(define(result));
  opsOf[static_cast<int32_t>(problem.ops.size())] = item.op;
  problem.ops.push_back(std::move(op));
}

void AxisPlacer::addExit(const ProgramExit &exit) {
  Value value = table.valueOf(exit);
  LayoutAttr own = table.layoutOf(value), want = table.layoutOf(exit);
  PlacementProblem::Op op;
  op.uses.push_back(use(value, want));
  // A gradient that is stored split, by its row or its decided layout, is not
  // accumulated whole.
  bool isSplit = (exit.rowLayout && findSplit(exit.rowLayout, axis)) ||
                 (want && findSplit(want, axis));
  if (exit.taker && own && want && !isSplit) {
    bool isOther = want.getPartialKind(axis.getName()).has_value();
    bool isInside = !isPipeline() || isInsidePin(own, want);
    if (!isOther && isInside)
      op.groups.push_back({0});
    // A term that lives at some of the coordinates: the sum, once, is cheaper
    // than sending it to the others for each microbatch.
    op.isSource = isPipeline() && kind == ReductionKind::sum && !isOther &&
                  isInside &&
                  own.getPin(axis.getName()) != want.getPin(axis.getName());
  }
  if (exit.taker)
    sums.insert(static_cast<int32_t>(problem.ops.size()));
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
    return emitError(value.getLoc()) << "expected a way from " << from << " to "
                                     << to << ", got none: " << error;
  return cost;
}

/// A value of a microbatch that lives at several stages has terms in programs
/// that run at different times: it is reduced in the update, if it can be.
bool AxisPlacer::isApart(Value value) const {
  const rt::Mesh &mesh = reshards.getMesh();
  return mesh.pipelineAxis >= 0 && !table.isOfUpdate(value) &&
         table.layoutOf(value)
                 .getPin(mesh.axes[mesh.pipelineAxis].name)
                 .size() > 1;
}

/// More than all that can be reduced in an update.
static constexpr int64_t apart = int64_t(1) << 55;

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
    int64_t cost =
        std::max<int64_t>(*reduced - *moved, 0) * table.timesOf(value);
    problem.values[number].prices.push_back(isApart(value) ? cost + apart
                                                           : cost);
  }
  return success();
}

/// Of two partial factors an op carries the one that is defined last, unless
/// that one is full: where the other is carried, it is read so.
void AxisPlacer::constrainOthers(const ReductionPlacement &placement) {
  PlacementFlow flow = findPartialFlow(problem);
  for (auto [index, group] : llvm::enumerate(placement.groups)) {
    if (group == flow.groups[index])
      continue;
    const PlacementProblem::Op &op = problem.ops[index];
    Operation *of = opsOf.lookup(static_cast<int32_t>(index));
    for (auto [i, use] : llvm::enumerate(op.uses))
      if (use.value >= 0 && placement.isPartial[use.value] &&
          !llvm::is_contained(op.groups[group], static_cast<int32_t>(i)))
        table.constrain(of->getOpOperand(i), wants[use.value][use.layout]);
  }
}

void AxisPlacer::apply(const ReductionPlacement &placement,
                       SmallVectorImpl<PlacedReduction> &placed) {
  for (auto [number, layout] : placement.cuts) {
    Value value = values[number];
    placed.push_back({value, asPartial(table.layoutOf(value), axis, kind),
                      wants[number][layout], axis, kind, table.timesOf(value)});
  }
  for (auto [number, value] : llvm::enumerate(values))
    if (placement.isPartial[number] || isSeeded(Fault::cutValueStaysPartial))
      table.set(value, asPartial(table.layoutOf(value), axis, kind));
  for (const ProgramExit &exit : table.exits)
    if (exit.taker && placement.isPartial[numbers.lookup(exit.taker)])
      table.set(exit, table.layoutOf(exit.taker));
  constrainOthers(placement);
  for (Operation *op : wholes)
    for (OpOperand &operand : op->getOpOperands())
      if (LayoutAttr layout = table.layoutOf(operand.get());
          layout && findSplit(layout, axis))
        table.constrain(operand, withoutSplit(layout, axis));
}

LogicalResult AxisPlacer::pose() {
  problem = {};
  values.clear();
  wants.clear();
  numbers.clear();
  moves.clear();
  opsOf.clear();
  sums.clear();
  wholeMoves.clear();
  remaking.clear();
  for (size_t i = 0; i < table.firstUpdate; ++i)
    addItem(table.items[i]);
  for (const ProgramExit &exit : table.exits)
    if (!table.isUpdate(exit.function))
      addExit(exit);
  for (size_t i = table.firstUpdate; i < table.items.size(); ++i)
    addItem(table.items[i]);
  for (const ProgramExit &exit : table.exits)
    if (table.isUpdate(exit.function))
      addExit(exit);
  PlacementFlow flow = findPartialFlow(problem);
  leaveSums(flow);
  for (size_t number = 0; number < values.size(); ++number)
    if (flow.mayBePartial[number] &&
        failed(price(static_cast<int32_t>(number))))
      return failure();
  return success();
}

/// Solves until no further source runs whole.
LogicalResult AxisPlacer::settle(ReductionPlacement &placement) {
  do {
    if (failed(pose()))
      return failure();
    placement = placeReductions(problem);
  } while (takeWholes(placement.wholes));
  return success();
}

LogicalResult AxisPlacer::run(SmallVectorImpl<PlacedReduction> &placed) {
  for (const ProgramOp &item : table.items) {
    runsOf[item.op] = item.runs;
    for (auto [operand, want] :
         llvm::zip(item.op->getOperands(), item.runs->operands))
      if (want)
        wanted[skipConstraints(operand)].insert(want);
  }
  ReductionPlacement placement;
  if (failed(settle(placement)) || failed(shareMoves(placement)))
    return failure();
  apply(placement, placed);
  return success();
}

//===----------------------------------------------------------------------===//
// All axes
//===----------------------------------------------------------------------===//

/// Kinds of reductions that some op makes over the axis, in the order of their
/// numbers.
static SmallVector<ReductionKind> findKinds(const LayoutTable &table,
                                            AxisAttr axis, bool isPipeline) {
  llvm::SmallSet<ReductionKind, 4> found;
  // Values that leave a microbatch may have terms at some stages only.
  if (isPipeline)
    found.insert(ReductionKind::sum);
  for (const ProgramOp &item : table.items) {
    for (auto [candidate, kind] : item.runs->reduced)
      if (candidate.overlaps(axis))
        found.insert(kind);
    for (const CarriedAxis &carried : item.runs->carried)
      if (carried.axis == axis)
        found.insert(carried.kind);
  }
  SmallVector<ReductionKind> kinds;
  for (const ReductionTraits &traits : reductionTraits)
    if (found.contains(traits.kind))
      kinds.push_back(traits.kind);
  return kinds;
}

LogicalResult
llmc::placeProgramReductions(ModuleOp module, LayoutReshards &reshards,
                             SmallVectorImpl<PlacedReduction> &placed) {
  dist::MeshAxesAttr mesh = reshards.getAxes();
  if (mesh.getNumDevices() == 1)
    return success();
  LayoutTable table(module, mesh);
  table.read();
  table.refresh();
  FailureOr<dist::MeshOp> op = getMesh(module);
  if (failed(op))
    return failure();
  FailureOr<MachineModel> timed = readTimedMachine(*op),
                          machine = readMachine(*op);
  if (failed(timed) || failed(machine))
    return failure();
  makeProductsWhole(table, mesh, *timed);
  std::vector<double> latencies = machine->latencyBytes();
  for (size_t i = mesh.getNumAxes(); i-- > 0;) {
    if (mesh.getSizes()[i] == 1)
      continue;
    auto axis = AxisAttr::get(module.getContext(), mesh.getNames()[i]);
    table.refresh();
    bool isPipeline =
        reshards.getMesh().pipelineAxis == static_cast<int32_t>(i);
    int64_t latency =
        std::llround(std::min(latencies[i], 1e12)) * ReshardPlanner::costUnits;
    for (ReductionKind kind : findKinds(table, axis, isPipeline)) {
      table.refresh();
      if (failed(AxisPlacer(table, reshards, axis, kind, latency).run(placed)))
        return failure();
    }
  }
  table.write();
  return success();
}
