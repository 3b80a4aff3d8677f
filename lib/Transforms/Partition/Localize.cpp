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
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/StateBuffers.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Partition/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_LOCALIZEPASS
#include "llmc/Transforms/Partition/Passes.h.inc"
} // namespace llmc

namespace {
struct LocalizePass : llmc::impl::LocalizePassBase<LocalizePass> {
  void runOnOperation() override;
};
} // namespace

using StateLayouts = llvm::MapVector<StringAttr, dist::LayoutAttr>;

/// The layouts in which programs read their states, by the state's name; all
/// programs read a state in one, and none has a layout over parts of an axis.
static LogicalResult readStateLayouts(ArrayRef<ProgramFunction> programs,
                                      StateLayouts &layouts) {
  for (const ProgramFunction &program : programs) {
    func::FuncOp function = program.function;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      FlatSymbolRefAttr state =
          dist::getState(dist::getArgumentPort(function, i));
      if (!state)
        continue;
      dist::LayoutAttr layout =
          dist::getLayout(function.getArgument(i).getType());
      dist::LayoutAttr first =
          layouts.insert({state.getAttr(), layout}).first->second;
      if (first != layout)
        return function.emitOpError()
               << "expected state " << state << " in the layout " << first
               << " of another program, got " << layout;
    }
  }
  return success();
}

/// Every value has a layout; coordinates are those of whole axes.
static LogicalResult checkLayouts(func::FuncOp function) {
  auto check = [](Location loc, Type type) -> LogicalResult {
    dist::LayoutAttr layout = dist::getLayout(type);
    if (!layout)
      return mlir::emitError(loc)
             << "expected a tensor with a layout before phase 4, got " << type;
    for (dist::DimAttr dim : layout.getDims())
      for (dist::AxisAttr axis : dim.getAxes())
        if (axis.isSubAxis())
          return emitRefusal(loc, rt::ErrorKind::unsupported)
                 << "expected dims split by whole axes, got a part of axis "
                 << axis.getName() << ": declare its parts as axes of the mesh";
    return success();
  };
  for (BlockArgument argument : function.getArguments())
    if (failed(check(argument.getLoc(), argument.getType())))
      return failure();
  for (Operation &op : function.getBody().front())
    for (Type type : op.getResultTypes())
      if (failed(check(op.getLoc(), type)))
        return failure();
  return success();
}

/// The `dist.buffer` of `dist.state @w`, after it.
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
  dist::createBuffer(builder, state.getLoc(), state, type, {box});
}

static LogicalResult addBuffers(ModuleOp module, dist::MeshOp mesh,
                                ArrayRef<ProgramFunction> programs) {
  StateLayouts layouts;
  if (failed(readStateLayouts(programs, layouts)))
    return failure();
  SymbolTable symbols(module);
  for (auto &[name, layout] : layouts) {
    auto state = symbols.lookup<dist::StateOp>(name);
    if (!layout)
      return mlir::emitError(module.getLoc())
             << "expected a state '" << name.getValue()
             << "' that is read in a layout";
    addBuffer(state, layout, mesh.getAxes());
  }
  return success();
}

void LocalizePass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  SmallVector<ProgramFunction> programs = getProgramFunctions(getOperation());
  if (failed(addBuffers(getOperation(), *mesh, programs)))
    return signalPassFailure();
  llvm::SmallPtrSet<Operation *, 8> done;
  for (ProgramFunction &program : programs)
    if (done.insert(program.function).second &&
        (failed(checkLayouts(program.function)) ||
         failed(localizeFunction(program, *mesh))))
      return signalPassFailure();
}
