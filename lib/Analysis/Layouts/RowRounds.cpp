//===- RowRounds.cpp - How often parts of a row meet ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/RowRounds.h"

#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "llmc/Analysis/Layouts/Remaking.h"
#include "llmc/Analysis/Layouts/UsesInPlace.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/HostTensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace llmc;
using dist::AxisAttr;
using dist::LayoutAttr;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

std::optional<RowSplit> llmc::findRowSplit(Operation *op,
                                           dist::MeshAxesAttr mesh) {
  Value full = op->getOperand(0);
  LayoutAttr layout = getDecidedLayout(full);
  graph::ShardingRule rule =
      cast<graph::ShardingRuleOpInterface>(op).getShardingRule();
  if (!layout)
    return std::nullopt;
  RowSplit split;
  auto type = cast<RankedTensorType>(full.getType());
  for (auto [dim, factors] : llvm::enumerate(rule.operands[0])) {
    split.parts.push_back(1);
    if (factors.size() != 1 ||
        !llvm::is_contained(rule.distributed, factors.front()))
      continue;
    dist::DimAttr lies = layout.getDims()[dim];
    int64_t parts = lies.getNumParts(mesh);
    if (lies.isPadded() || type.getDimSize(dim) % parts != 0)
      return std::nullopt;
    split.parts.back() = parts;
    split.members *= parts;
    llvm::append_range(split.axes, lies.getAxes());
  }
  return split.members > 1 ? std::optional(split) : std::nullopt;
}

/// With whole rows.
static LayoutAttr withoutParts(LayoutAttr layout, const RowSplit &split) {
  for (auto [dim, parts] : llvm::enumerate(split.parts))
    if (layout && parts > 1)
      layout = layout.withDim(dim, dist::DimAttr::get(layout.getContext()));
  return layout;
}

/// Whether a product makes the rows that could have them whole for nothing,
/// which placement decides (WholeResults.h).
static bool couldBeWhole(Value value, const RowSplit &split,
                         dist::MeshAxesAttr mesh) {
  value = skipConstraints(value);
  Operation *op = value.getDefiningOp();
  auto model = dyn_cast_or_null<graph::ShardingRuleOpInterface>(op);
  if (!model || isLight(op) || op->getNumResults() != 1)
    return false;
  LayoutAttr whole = withoutParts(getDecidedLayout(value), split);
  graph::ShardingRule rule = model.getShardingRule();
  LayoutProblem problem{op, rule, mesh, {}, {whole}};
  for (Value operand : op->getOperands())
    problem.operands.push_back(getDecidedLayout(operand));
  OpLayouts runs = getOpLayouts(problem);
  return runs.results.front() == whole &&
         llvm::all_of(llvm::zip(problem.operands, runs.operands),
                      [](auto pair) {
                        auto [have, read] = pair;
                        return !have || isReadableAs(have, read);
                      });
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// Bytes of what a device stores of the value.
static double getBytes(Value value, LayoutAttr layout,
                       dist::MeshAxesAttr mesh) {
  auto type = cast<RankedTensorType>(value.getType());
  return double(getLocalElements(type, layout, mesh)) *
         double(getElementBytes(type.getElementType()));
}

namespace {
struct Exchange {
  int64_t rounds = 0;
  /// Received by a device.
  double bytes = 0;
};
} // namespace

/// Whether the op adds up along one of the axes.
static bool addsUp(Operation *op, ArrayRef<AxisAttr> axes,
                   dist::MeshAxesAttr mesh) {
  graph::ShardingRule rule =
      cast<graph::ShardingRuleOpInterface>(op).getShardingRule();
  bool isSum = false;
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands))
    if (LayoutAttr layout = getDecidedLayout(operand))
      projectToFactors(layout, tensor, rule.factors, mesh, "",
                       [&](int factor, const FactorSplit &lies) {
                         isSum |= rule.factors[factor].kind ==
                                      graph::FactorKind::Reduced &&
                                  llvm::any_of(lies.axes, [&](AxisAttr axis) {
                                    return llvm::is_contained(axes, axis);
                                  });
                       });
  return isSum;
}

/// What the sums of a form receive. Those of which none waits for another are
/// one round.
static Exchange findSums(ArrayRef<Operation *> form, const RowSplit &split,
                         dist::MeshAxesAttr mesh) {
  llvm::DenseMap<Value, int64_t> waits;
  Exchange all;
  double share = double(split.members - 1) / double(split.members);
  for (Operation *op : form) {
    int64_t rounds = 0;
    for (Value operand : op->getOperands())
      rounds = std::max(rounds, waits.lookup(operand));
    bool isSum = addsUp(op, split.axes, mesh);
    for (Value result : op->getResults()) {
      waits[result] = rounds + isSum;
      if (isSum)
        all.bytes +=
            2 * share * getBytes(result, getDecidedLayout(result), mesh);
    }
    all.rounds = std::max(all.rounds, rounds + isSum);
  }
  return all;
}

/// One gather of values that travel together. Buckets put them together
/// (Transforms/Ordering); without buckets they are gathers of which none waits
/// for another.
static Exchange findGather(ArrayRef<Value> values, ArrayRef<LayoutAttr> whole,
                           const RowSplit &split, dist::MeshAxesAttr mesh) {
  Exchange all;
  all.rounds = 1;
  double share = double(split.members - 1) / double(split.members);
  for (auto [value, layout] : llvm::zip(values, whole))
    all.bytes += share * getBytes(value, layout, mesh);
  return all;
}

static double getSeconds(const Exchange &exchange,
                         const MachineModel::Link &link) {
  return double(exchange.rounds) * link.latency +
         exchange.bytes / link.bandwidth;
}

bool llmc::hasRounds(Operation *op, const RowSplit &split,
                     ArrayRef<Operation *> distributed,
                     dist::MeshAxesAttr mesh) {
  return findSums(distributed, split, mesh).rounds > 1 &&
         !couldBeWhole(op->getOperand(0), split, mesh);
}

bool llmc::isOneRoundShorter(const RowForms &forms, dist::MeshAxesAttr mesh,
                             const MachineModel &machine) {
  const RowSplit &split = forms.split;
  std::vector<int32_t> axes;
  for (AxisAttr axis : split.axes)
    axes.push_back(static_cast<int32_t>(*mesh.find(axis.getName().getValue())));
  const MachineModel::Link &link = machine.linkOf(axes);
  Value full = forms.op->getOperand(0);
  LayoutAttr whole = withoutParts(getDecidedLayout(full), split);
  Exchange sums = findSums(forms.distributed, split, mesh);
  double apart = getSeconds(sums, link);
  double together =
      getSeconds(findGather(forms.terms, forms.gathered, split, mesh), link);
  double gather = getSeconds(findGather({full}, {whole}, split, mesh), link);
  bool isTaken = together < apart && together < gather;
  if (link.latency > 0)
    (isTaken ? remark::passed : remark::missed)(
        forms.op->getLoc(),
        remark::RemarkOpts::name("OneRound").category("layouts"))
        << llvm::formatv("{0} rounds of sums over {1} {2}: {3:e2} s, one "
                         "round of the parts' terms {4:e2} s, a gather of the "
                         "operand {5:e2} s",
                         sums.rounds, showAxes(split.axes),
                         isTaken ? "made one" : "left", apart, together, gather)
               .str();
  return isTaken;
}
