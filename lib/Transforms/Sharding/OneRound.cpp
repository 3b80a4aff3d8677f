//===- OneRound.cpp - Rows of split ops combined in one round -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneRound.h"

#include "LayoutFiller.h"
#include "llmc/Analysis/Layouts/RowRounds.h"
#include "llmc/Analysis/Layouts/UsesInPlace.h"
#include "llmc/Dialect/Graph/IR/OneRound.h"

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
  if (!hasRounds(op, split, form.ops, mesh))
    return std::nullopt;
  if (succeeded(buildTerms()) &&
      isOneRoundShorter({op, split, form.ops, terms, whole}, mesh, machine) &&
      succeeded(join()))
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
