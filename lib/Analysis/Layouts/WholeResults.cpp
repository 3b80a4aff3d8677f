//===- WholeResults.cpp - Products that are made whole --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WholeResults.h"

#include "AxisPlacer.h"
#include "llmc/Analysis/Layouts/Remaking.h"

using namespace mlir;
using namespace llmc;
using dist::AxisAttr;
using dist::LayoutAttr;

/// Whether the op reads the value split by the axis and is left with terms.
static bool addsUp(const ProgramOp &item, Value value, AxisAttr axis) {
  if (!isLight(item.op) || item.runs->reduced.empty())
    return false;
  bool isReduced = llvm::any_of(item.runs->reduced, [&](const auto &made) {
    return made.first.overlaps(axis);
  });
  return isReduced &&
         llvm::any_of(llvm::zip(item.op->getOperands(), item.runs->operands),
                      [&](auto pair) {
                        auto [operand, want] = pair;
                        return operand == value && want &&
                               findSplit(want, axis);
                      });
}

/// Whether the op makes the layout of operands that are there as it reads them.
static bool runsFor(const ProgramOp &item, LayoutAttr want,
                    const LayoutTable &table, dist::MeshAxesAttr mesh) {
  LayoutProblem problem{item.op, *item.rule, mesh, {}, {want}};
  for (Value operand : item.op->getOperands())
    problem.operands.push_back(table.layoutOf(operand));
  OpLayouts runs = getOpLayouts(problem);
  return runs.results.front() == want &&
         llvm::all_of(llvm::zip(problem.operands, runs.operands),
                      [](auto pair) {
                        auto [have, read] = pair;
                        return !have || isReadableAs(have, read);
                      });
}

/// Whether a device multiplies for longer than it would receive.
static bool isSlow(const ProgramOp &item, LayoutAttr whole, AxisAttr axis,
                   dist::MeshAxesAttr mesh, const MachineModel &machine) {
  auto cost = dyn_cast<graph::CostOpInterface>(item.op);
  auto type = cast<RankedTensorType>(item.op->getResult(0).getType());
  if (!cost || type.getNumElements() == 0)
    return true;
  double bytes = double(getLocalElements(type, whole, mesh)) *
                 double(getElementBytes(type.getElementType()));
  double flops = double(cost.getCost().flops) *
                 double(getLocalElements(type, whole, mesh)) /
                 double(type.getNumElements());
  auto number = static_cast<int32_t>(*mesh.find(axis.getName().getValue()));
  return flops / machine.flops > bytes / machine.linkOf({number}).bandwidth;
}

void llmc::makeProductsWhole(LayoutTable &table, dist::MeshAxesAttr mesh,
                             const MachineModel *machine) {
  llvm::DenseMap<Operation *, const ProgramOp *> itemOf;
  for (const ProgramOp &item : table.items)
    itemOf[item.op] = &item;
  for (const ProgramOp &item : table.items) {
    if (isLight(item.op) || item.op->getNumResults() != 1 ||
        item.runs->results.empty() ||
        isa<dist::DistDialect>(item.op->getDialect()))
      continue;
    Value value = item.op->getResult(0);
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      LayoutAttr layout = table.layoutOf(value);
      for (dist::DimAttr dim :
           layout ? layout.getDims() : ArrayRef<dist::DimAttr>()) {
        if (dim.getAxes().empty())
          continue;
        AxisAttr axis = dim.getAxes().back();
        LayoutAttr whole = withoutSplit(layout, axis);
        bool isWanted = llvm::any_of(value.getUsers(), [&](Operation *user) {
          const ProgramOp *reader = itemOf.lookup(user);
          return reader && addsUp(*reader, value, axis);
        });
        if (!isWanted || !runsFor(item, whole, table, mesh) ||
            (machine && isSlow(item, whole, axis, mesh, *machine)))
          continue;
        table.set(value, whole);
        isChanged = true;
        break;
      }
    }
  }
  table.refresh();
}
