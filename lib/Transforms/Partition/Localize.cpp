//===- Localize.cpp - Global shapes become local ones ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value's local shape follows from its layout; states get a buffer with the
// box that a device holds. The mesh's coordinates and masks come with meshes of
// several devices; a layout that splits is refused by phase 2 until then.
//
// Test: test/Transforms/Partition/localize.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
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

/// The type of what one device holds of a value of `type`.
static Type localType(Type type, dist::MeshAxesAttr mesh) {
  dist::LayoutAttr layout = dist::getLayout(type);
  if (!layout)
    return type;
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(layout.getLocalShape(tensor.getShape(), mesh),
                               tensor.getElementType());
}

static void localizeOp(Operation &op, dist::MeshAxesAttr mesh) {
  for (Value result : op.getResults())
    result.setType(localType(result.getType(), mesh));
  for (NamedAttribute attribute : op.getAttrs())
    if (auto value = dyn_cast<DenseElementsAttr>(attribute.getValue()))
      if (dist::getLayout(value.getType()))
        op.setAttr(attribute.getName(), value.reshape(cast<ShapedType>(
                                            localType(value.getType(), mesh))));
}

static void localizeFunction(func::FuncOp function, dist::MeshAxesAttr mesh) {
  SmallVector<Type> arguments, results;
  for (BlockArgument argument : function.getArguments()) {
    argument.setType(localType(argument.getType(), mesh));
    arguments.push_back(argument.getType());
  }
  for (Type type : function.getResultTypes())
    results.push_back(localType(type, mesh));
  for (Operation &op : function.getBody().front())
    localizeOp(op, mesh);
  function.setType(
      FunctionType::get(function.getContext(), arguments, results));
}

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
  llvm::SetVector<Operation *> functions;
  for (ProgramFunction &program : programs)
    functions.insert(program.function);
  for (Operation *function : functions)
    localizeFunction(cast<func::FuncOp>(function), mesh->getAxes());
}
