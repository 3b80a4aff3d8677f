//===- WholeResults.cpp - Products that are made whole --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WholeResults.h"

#include "AxisPlacer.h"
#include "llmc/Analysis/Layouts/MachineOfMesh.h"
#include "llmc/Analysis/Layouts/Remaking.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

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

namespace {
/// Whether a product is to be whole.
class WholePrice {
public:
  WholePrice(const LayoutTable &table, dist::MeshAxesAttr mesh,
             const MachineModel &machine)
      : table(table), mesh(mesh), machine(machine) {
    for (const ProgramOp &item : table.items)
      itemOf[item.op] = &item;
  }

  bool isAddedUp(Value value, AxisAttr axis) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      const ProgramOp *reader = itemOf.lookup(user);
      return reader && addsUp(*reader, value, axis);
    });
  }
  /// Seconds that a device multiplies more.
  double getWork(const ProgramOp &item, LayoutAttr whole, AxisAttr axis) const;
  /// Seconds that the sums take which a whole value saves.
  double getSums(Value value, LayoutAttr whole, AxisAttr axis) const;

private:
  double getBytes(Value value, LayoutAttr layout) const {
    auto type = cast<RankedTensorType>(value.getType());
    return double(getLocalElements(type, layout, mesh)) *
           double(getElementBytes(type.getElementType()));
  }
  double getSize(AxisAttr axis) const { return double(axis.getSize(mesh)); }

  const LayoutTable &table;
  dist::MeshAxesAttr mesh;
  const MachineModel &machine;
  llvm::DenseMap<Operation *, const ProgramOp *> itemOf;
};
} // namespace

double WholePrice::getWork(const ProgramOp &item, LayoutAttr whole,
                           AxisAttr axis) const {
  auto cost = dyn_cast<graph::CostOpInterface>(item.op);
  auto type = cast<RankedTensorType>(item.op->getResult(0).getType());
  if (!cost || type.getNumElements() == 0)
    return std::numeric_limits<double>::infinity();
  double part = double(getLocalElements(type, whole, mesh)) /
                double(type.getNumElements());
  double size = getSize(axis);
  return double(cost.getCost().flops) * part * (size - 1) / size /
         getOperationsPerSecond(machine, item.op);
}

/// Sums of the value and of what light ops make of each of its elements; or a
/// gather of it, if that is shorter.
double WholePrice::getSums(Value value, LayoutAttr whole, AxisAttr axis) const {
  auto number = static_cast<int32_t>(*mesh.find(axis.getName().getValue()));
  const MachineModel::Link &link = machine.linkOf({number});
  double size = getSize(axis), share = (size - 1) / size, sums = 0;
  llvm::SetVector<Value> parts;
  parts.insert(value);
  for (size_t i = 0; i < parts.size(); ++i)
    for (Operation *user : parts[i].getUsers()) {
      const ProgramOp *reader = itemOf.lookup(user);
      if (!reader || !isLight(user) || user->getNumResults() != 1 ||
          reader->runs->results.empty())
        continue;
      Value made = user->getResult(0);
      LayoutAttr layout = reader->runs->results.front();
      if (addsUp(*reader, parts[i], axis))
        sums +=
            link.latency + 2 * share * getBytes(made, layout) / link.bandwidth;
      else if (layout && findSplit(layout, axis))
        parts.insert(made);
    }
  double gather =
      link.latency + share * getBytes(value, whole) / link.bandwidth;
  return std::min(sums, gather);
}

/// Says why a product stays in parts.
static void remarkOn(Operation *op, AxisAttr axis, double work, double sums) {
  remark::analysis(op->getLoc(),
                   remark::RemarkOpts::name("whole").category("layouts"))
      << llvm::formatv("stays split over \"{0}\": whole it would multiply for "
                       "{1:e2} s more, and save sums of {2:e2} s",
                       axis.getName().getValue(), work, sums)
             .str();
}

/// The layout of the product without the axis, where that is wanted and has
/// nothing to receive.
static LayoutAttr findWhole(const ProgramOp &item, AxisAttr axis,
                            const LayoutTable &table, dist::MeshAxesAttr mesh,
                            const WholePrice &price) {
  Value value = item.op->getResult(0);
  LayoutAttr whole = withoutSplit(table.layoutOf(value), axis);
  if (!price.isAddedUp(value, axis) || !runsFor(item, whole, table, mesh))
    return {};
  double work = price.getWork(item, whole, axis),
         sums = price.getSums(value, whole, axis);
  if (work <= sums)
    return whole;
  remarkOn(item.op, axis, work, sums);
  return {};
}

void llmc::makeProductsWhole(LayoutTable &table, dist::MeshAxesAttr mesh,
                             const MachineModel &machine) {
  WholePrice price(table, mesh, machine);
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
        LayoutAttr whole =
            dim.getAxes().empty()
                ? LayoutAttr()
                : findWhole(item, dim.getAxes().back(), table, mesh, price);
        if (!whole)
          continue;
        table.set(value, whole);
        isChanged = true;
        break;
      }
    }
  }
  table.refresh();
}
