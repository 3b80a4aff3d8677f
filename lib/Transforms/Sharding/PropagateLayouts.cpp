//===- PropagateLayouts.cpp - Every value gets a layout -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads rows of states, layouts of inputs and constraints; lets axes spread
// (Analysis/Layouts/LayoutPropagation.h); adds pins (Pins.h); writes the side
// table.
//
// Tests: test/Transforms/Sharding/propagate-layouts.mlir, propagate-pins.mlir
//===----------------------------------------------------------------------===//

#include "Pins.h"
#include "PropagationProblem.h"
#include "SourceClones.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_PROPAGATELAYOUTSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct PropagateLayoutsPass
    : llmc::impl::PropagateLayoutsPassBase<PropagateLayoutsPass> {
  void runOnOperation() override;
};

/// Writes what was decided.
struct SideTable {
  PropagationProblem &problem;
  const Pins &pins;

  LayoutAttr pinned(LayoutAttr layout, StageSet stages) {
    return layout ? layout.withPins(pins.getAt(stages)) : layout;
  }
  void write(func::FuncOp function);
  void write(Operation &op);
};
} // namespace

void SideTable::write(Operation &op) {
  SmallVector<Attribute> layouts;
  for (Value result : op.getResults())
    if (LayoutAttr layout = pinned(problem.getLayout(result), pins.of(result)))
      layouts.push_back(layout);
  if (layouts.size() == op.getNumResults() && !layouts.empty())
    op.setAttr(DistDialect::kLayouts, ArrayAttr::get(op.getContext(), layouts));
}

/// A metric is whole, everywhere.
static LayoutAttr getWhole(LayoutAttr layout) {
  return layout ? LayoutAttr::getReplicated(layout.getMesh(), layout.getRank())
                : layout;
}

void SideTable::write(func::FuncOp function) {
  dist::Signature signature(function);
  SmallVector<LayoutAttr> arguments, results;
  for (BlockArgument argument : function.getArguments())
    arguments.push_back(
        pinned(problem.getArgumentLayout(argument), pins.of(argument)));
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    LayoutAttr layout = problem.getResultLayout(function, i);
    if (dist::isPort(signature.results[i], dist::PortKind::Metric))
      layout = getWhole(layout);
    results.push_back(pinned(layout, pins.ofResult(function, i)));
  }
  signature.setLayouts(arguments, results);
  signature.write(function);
  for (Operation &op : function.front().without_terminator())
    write(op);
}

void PropagateLayoutsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  SmallVector<ProgramFunction> functions = getProgramFunctions(getOperation());
  StateRows rows(getOperation());
  llvm::SetVector<Operation *> distinct;
  for (const ProgramFunction &program : functions)
    distinct.insert(program.function);
  SourceClones clones;
  for (Operation *function : distinct)
    clones.split(cast<func::FuncOp>(function));
  FailureOr<Pins> pins = Pins::compute(functions, *mesh, rows);
  if (failed(pins))
    return signalPassFailure();
  std::optional<PropagationProblem> problem;
  for (bool isSolved = false; !isSolved;) {
    problem.emplace(*mesh, rows);
    if (failed(problem->build(functions)))
      return signalPassFailure();
    FailureOr<bool> solved = problem->solve();
    if (failed(solved))
      return signalPassFailure();
    isSolved = *solved;
  }
  problem->emitRemarks();
  problem->emitOrigins(functions);
  SideTable table{*problem, *pins};
  for (Operation *function : distinct)
    table.write(cast<func::FuncOp>(function));
  clones.merge();
  problem->writeRows();
}
