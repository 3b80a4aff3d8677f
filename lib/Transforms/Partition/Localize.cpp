//===- Localize.cpp - Global shapes become local ones ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value's local shape follows from its layout, an op's local form from its
// own answer (LocalForm.h). States get a buffer with the box that a device
// holds. What an op needs of its place (offsets, masks of padding) is computed
// from `dist.coordinate`, so that shapes and code are the same on all devices.
//
// Test: test/Transforms/Partition/localize.mlir
//===----------------------------------------------------------------------===//

#include "LocalFunction.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Transforms/Partition/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

namespace llmc {
#define GEN_PASS_DEF_LOCALIZEPASS
#include "llmc/Transforms/Partition/Passes.h.inc"
} // namespace llmc

namespace {
struct LocalizePass : llmc::impl::LocalizePassBase<LocalizePass> {
  void runOnOperation() override;
};
} // namespace

/// The layouts in which programs read their states, by the state's name.
static llvm::MapVector<StringAttr, dist::LayoutAttr>
readStateLayouts(ArrayRef<ProgramFunction> programs) {
  llvm::MapVector<StringAttr, dist::LayoutAttr> layouts;
  for (const ProgramFunction &program : programs) {
    func::FuncOp function = program.function;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto state = function.getArgAttrOfType<FlatSymbolRefAttr>(
              i, DistDialect::kReads))
        layouts.insert({state.getAttr(),
                        dist::getLayout(function.getArgument(i).getType())});
  }
  return layouts;
}

/// `dist.buffer @w.local` behind `dist.state @w`.
static void addBuffer(dist::StateOp state, dist::LayoutAttr layout,
                      dist::MeshAxesAttr mesh) {
  OpBuilder builder(state.getContext());
  builder.setInsertionPointAfter(state);
  auto type = RankedTensorType::get(
      layout.getLocalShape(state.getTensorType().getShape(), mesh),
      state.getTensorType().getElementType());
  SmallVector<int64_t> offsets(type.getRank(), 0);
  auto box = dist::BoxAttr::get(
      builder.getContext(), FlatSymbolRefAttr::get(state.getSymNameAttr()),
      layout, DenseI64ArrayAttr::get(builder.getContext(), offsets));
  dist::BufferOp::create(builder, state.getLoc(),
                         builder.getStringAttr(state.getSymName() + ".local"),
                         TypeAttr::get(type), builder.getArrayAttr({box}));
}

void LocalizePass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  SmallVector<ProgramFunction> programs = getProgramFunctions(getOperation());
  SymbolTable symbols(getOperation());
  for (auto &[name, layout] : readStateLayouts(programs)) {
    auto state = symbols.lookup<dist::StateOp>(name);
    if (!state || !layout) {
      mlir::emitError(getOperation().getLoc())
          << "expected a state '" << name.getValue()
          << "' that is read in a layout";
      return signalPassFailure();
    }
    addBuffer(state, layout, mesh->getAxes());
  }
  llvm::SmallPtrSet<Operation *, 8> done;
  for (ProgramFunction &program : programs)
    if (done.insert(program.function).second &&
        failed(localizeFunction(program, *mesh)))
      return signalPassFailure();
}
