//===- OneRound.cpp - Rows of split ops combined in one round -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneRound.h"

#include "LayoutFiller.h"
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
using dist::DistDialect;
using dist::LayoutAttr;

void DistributedForm::erase() {
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  ops.clear();
}

SmallVector<Operation *> llmc::getOpsBetween(Operation *after,
                                             Operation *before) {
  SmallVector<Operation *> ops;
  for (Operation *op = after ? after->getNextNode()
                             : &before->getBlock()->front();
       op != before; op = op->getNextNode())
    ops.push_back(op);
  return ops;
}

/// Bytes of what a device stores of the value.
static double getBytes(Value value, LayoutAttr layout,
                       dist::MeshAxesAttr mesh) {
  auto type = cast<RankedTensorType>(value.getType());
  return double(getLocalElements(type, layout, mesh)) *
         double(getElementBytes(type.getElementType()));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
/// How the rows of an op's first operand lie.
struct RowSplit {
  /// For each dim; 1 where it is not of the rows.
  SmallVector<int64_t> parts;
  /// That split rows, and the devices that have parts of one.
  SmallVector<AxisAttr> axes;
  int64_t members = 1;
};
} // namespace

/// None where rows are not split, or in parts that differ.
static std::optional<RowSplit> findRowSplit(Operation *op,
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

/// Whether a product makes the rows that could have them whole for nothing,
/// which placement decides (WholeResults.h).
static bool couldBeWhole(Value value, const RowSplit &split,
                         dist::MeshAxesAttr mesh) {
  value = skipConstraints(value);
  Operation *op = value.getDefiningOp();
  auto model = dyn_cast_or_null<graph::ShardingRuleOpInterface>(op);
  if (!model || isLight(op) || op->getNumResults() != 1)
    return false;
  LayoutAttr whole = getDecidedLayout(value);
  for (auto [dim, parts] : llvm::enumerate(split.parts))
    if (whole && parts > 1)
      whole = whole.withDim(dim, dist::DimAttr::get(op->getContext()));
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
static Exchange findSums(const DistributedForm &form, const RowSplit &split,
                         dist::MeshAxesAttr mesh) {
  llvm::DenseMap<Value, int64_t> waits;
  Exchange all;
  double share = double(split.members - 1) / double(split.members);
  for (Operation *op : form.ops) {
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

//===----------------------------------------------------------------------===//
// The form
//===----------------------------------------------------------------------===//

namespace {
class OneRoundBuilder {
public:
  OneRoundBuilder(Operation *op, RowSplit split, dist::MeshAxesAttr mesh,
                  const MachineModel &machine)
      : op(op), split(std::move(split)), mesh(mesh), machine(machine),
        builder(op) {}

  std::optional<DistributedForm> run(const DistributedForm &form);

private:
  LogicalResult buildTerms();
  bool isShorter(const Exchange &sums) const;
  LogicalResult join();
  void fixResults(LayoutFiller &filler);

  Operation *op;
  RowSplit split;
  dist::MeshAxesAttr mesh;
  const MachineModel &machine;
  OpBuilder builder;
  DistributedForm made;
  /// Of the parts; as all devices get them.
  SmallVector<Value> terms;
  SmallVector<LayoutAttr> whole;
};
} // namespace

LogicalResult OneRoundBuilder::buildTerms() {
  Operation *before = op->getPrevNode();
  cast<graph::OneRoundOpInterface>(op).buildPartTerms(builder, split.parts,
                                                      terms);
  made.ops = getOpsBetween(before, op);
  LayoutFiller filler(made.ops, mesh, getDecidedLayout(op->getResult(0)));
  for (Value operand : op->getOperands())
    filler.fix(operand, getDecidedLayout(operand));
  if (failed(filler.run()))
    return failure();
  for (Value term : terms)
    whole.push_back(getDecidedLayout(term).withDim(
        0, dist::DimAttr::get(op->getContext())));
  return success();
}

bool OneRoundBuilder::isShorter(const Exchange &sums) const {
  std::vector<int32_t> axes;
  for (AxisAttr axis : split.axes)
    axes.push_back(static_cast<int32_t>(*mesh.find(axis.getName().getValue())));
  const MachineModel::Link &link = machine.linkOf(axes);
  Value full = op->getOperand(0);
  LayoutAttr layout = getDecidedLayout(full);
  for (auto [dim, parts] : llvm::enumerate(split.parts))
    if (parts > 1)
      layout = layout.withDim(dim, dist::DimAttr::get(op->getContext()));
  double together = getSeconds(findGather(terms, whole, split, mesh), link);
  double apart = getSeconds(sums, link);
  double gather = getSeconds(findGather({full}, {layout}, split, mesh), link);
  bool isTaken = together < apart && together < gather;
  if (link.latency > 0)
    (isTaken ? remark::passed : remark::missed)(
        op->getLoc(), remark::RemarkOpts::name("OneRound").category("layouts"))
        << llvm::formatv("{0} rounds of sums over {1} {2}: {3:e2} s, one "
                         "round of the parts' terms {4:e2} s, a gather of the "
                         "operand {5:e2} s",
                         sums.rounds, showAxes(split.axes),
                         isTaken ? "made one" : "left", apart, together, gather)
               .str();
  return isTaken;
}

/// A result that is stored split by axes of the rows is made whole, and cut by
/// who stores it: its sums are whole already.
void OneRoundBuilder::fixResults(LayoutFiller &filler) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  for (auto [result, made] : llvm::zip(op->getResults(), made.results)) {
    LayoutAttr layout = getDecidedLayout(result);
    bool isSplit = layout && layout.getRank() < rank &&
                   llvm::any_of(
                       split.axes,
                       [&](AxisAttr axis) {
                         return layout.getDimSplitBy(axis.getName().getValue());
                       });
    if (!isSplit)
      filler.fix(made, layout);
  }
}

LogicalResult OneRoundBuilder::join() {
  SmallVector<Value> gathered;
  for (auto [term, layout] : llvm::zip(terms, whole)) {
    auto all = dist::ConstraintOp::create(builder, op->getLoc(), term.getType(),
                                          term, layout, /*hint=*/false);
    all->setAttr(DistDialect::kLayouts, builder.getArrayAttr({layout}));
    gathered.push_back(all);
    made.ops.push_back(all);
  }
  Operation *before = op->getPrevNode();
  cast<graph::OneRoundOpInterface>(op).buildFromTerms(builder, split.parts,
                                                      gathered, made.results);
  SmallVector<Operation *> joins = getOpsBetween(before, op);
  LayoutFiller filler(joins, mesh, getDecidedLayout(op->getResult(0)));
  for (Value operand : op->getOperands())
    filler.fix(operand, getDecidedLayout(operand));
  for (auto [value, layout] : llvm::zip(gathered, whole))
    filler.fix(value, layout);
  fixResults(filler);
  llvm::append_range(made.ops, joins);
  return filler.run();
}

std::optional<DistributedForm>
OneRoundBuilder::run(const DistributedForm &form) {
  Exchange sums = findSums(form, split, mesh);
  if (sums.rounds < 2 || couldBeWhole(op->getOperand(0), split, mesh))
    return std::nullopt;
  if (succeeded(buildTerms()) && isShorter(sums) && succeeded(join()))
    return made;
  made.erase();
  return std::nullopt;
}

std::optional<DistributedForm>
llmc::buildOneRound(Operation *op, const DistributedForm &form,
                    dist::MeshAxesAttr mesh, const MachineModel &machine) {
  if (!isa<graph::OneRoundOpInterface>(op))
    return std::nullopt;
  std::optional<RowSplit> split = findRowSplit(op, mesh);
  return split ? OneRoundBuilder(op, *split, mesh, machine).run(form)
               : std::nullopt;
}
