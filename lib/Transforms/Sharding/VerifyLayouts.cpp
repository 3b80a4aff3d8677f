//===- VerifyLayouts.cpp - What holds after phase 2 -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Sharding/verify-layouts.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

namespace llmc {
#define GEN_PASS_DEF_VERIFYLAYOUTSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct VerifyLayoutsPass
    : llmc::impl::VerifyLayoutsPassBase<VerifyLayoutsPass> {
  void runOnOperation() override;
};
} // namespace

namespace {
/// Checks the layouts of one function.
struct LayoutVerifier {
  dist::MeshOp mesh;
  bool isPinned;

  LogicalResult verify(func::FuncOp function);
  LogicalResult verifyValue(Operation *op, Type type, Attribute attribute,
                            const Twine &what);
};
} // namespace

/// A layout that the tensor can be stored in, neither open nor partial yet, at
/// some stages where there are several.
LogicalResult LayoutVerifier::verifyValue(Operation *op, Type type,
                                          Attribute attribute,
                                          const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  auto layout = dyn_cast_or_null<dist::LayoutAttr>(attribute);
  if (!layout)
    return op->emitOpError() << "expected " << what << " after phase 2";
  if (failed(dist::verifyLayoutOnMesh(layout, tensor.getShape(), mesh.getAxes(),
                                      [&] { return op->emitOpError(); })))
    return failure();
  for (dist::DimAttr dim : layout.getDims())
    if (dim.getIsOpen() || dim.hasPriority())
      return op->emitOpError()
             << "expected closed dims after phase 2, got " << layout;
  if (layout.isPartial())
    return op->emitOpError()
           << "expected no partial value after phase 2, got " << layout;
  if (layout.getAt().empty() == isPinned)
    return op->emitOpError()
           << "expected " << (isPinned ? "stages" : "no stages")
           << " after phase 2, got " << layout;
  return success();
}

LogicalResult LayoutVerifier::verify(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(verifyValue(function, function.getArgument(i).getType(),
                           dist::getLayout(dist::getArgumentPort(function, i)),
                           "a layout of argument " + Twine(i))))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(verifyValue(function, function.getResultTypes()[i],
                           dist::getLayout(dist::getResultPort(function, i)),
                           "a layout of result " + Twine(i))))
      return failure();
  for (Operation &op : function.getBody().front().without_terminator()) {
    // One for each result, as the dialect has checked.
    auto layouts = op.getAttrOfType<ArrayAttr>(DistDialect::kLayouts);
    for (auto [i, type] : llvm::enumerate(op.getResultTypes()))
      if (failed(verifyValue(&op, type, layouts ? layouts[i] : Attribute(),
                             "layouts")))
        return failure();
  }
  return success();
}

void VerifyLayoutsPass::runOnOperation() {
  markAllAnalysesPreserved();
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  LayoutVerifier verifier{*mesh, getPipelineSize(*mesh) > 1};
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (!program.getChunks()) {
      program.owner->emitOpError() << "expected 'chunks' after phase 2";
      return signalPassFailure();
    }
    if (failed(verifier.verify(program.function)))
      return signalPassFailure();
  }
}
