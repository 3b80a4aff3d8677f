//===- PropagateLayouts.cpp - Every value gets a layout -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a mesh of one device the fixpoint is known: every value is whole.
//
// Test: test/Transforms/Sharding/propagate-layouts.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

namespace llmc {
#define GEN_PASS_DEF_PROPAGATELAYOUTSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct PropagateLayoutsPass
    : llmc::impl::PropagateLayoutsPassBase<PropagateLayoutsPass> {
  void runOnOperation() override;
};
} // namespace

static dist::LayoutAttr getWhole(dist::MeshOp mesh, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dist::LayoutAttr::getReplicated(
                      FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
                      tensor.getRank())
                : dist::LayoutAttr();
}

/// Writes the layouts of `function`'s arguments, results and ops.
static void annotate(func::FuncOp function, dist::MeshOp mesh) {
  auto layoutsOf = [&](ArrayRef<Type> types) {
    SmallVector<Attribute> layouts;
    for (Type type : types)
      layouts.push_back(getWhole(mesh, type));
    return layouts;
  };
  setArgumentMarks(function, DistDialect::kLayout,
                   layoutsOf(function.getArgumentTypes()));
  setResultMarks(function, DistDialect::kLayout,
                 layoutsOf(function.getResultTypes()));
  for (Operation &op : function.getBody().front().without_terminator()) {
    SmallVector<Attribute> layouts;
    for (Type type : op.getResultTypes())
      if (dist::LayoutAttr layout = getWhole(mesh, type))
        layouts.push_back(layout);
    if (layouts.size() == op.getNumResults() && !layouts.empty())
      op.setAttr(DistDialect::kLayouts,
                 ArrayAttr::get(function.getContext(), layouts));
  }
}

void PropagateLayoutsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  if (int64_t devices = mesh->getAxes().getNumDevices(); devices != 1) {
    mesh->emitOpError() << "expected a mesh of one device, got " << devices
                        << ": splitting a program over devices is not "
                           "supported yet";
    return signalPassFailure();
  }
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    annotate(program.function, *mesh);
}
