//===- Import.cpp - Phase 0: a StableHLO text becomes a program -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the steps; see Import.h for what comes out.
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/StableHLO/Import.h"
#include "Parts.h"
#include "llmc/Import/Text/ReadModule.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// The entry function: the only public one, or "main".
static rt::Result<func::FuncOp> findMain(ModuleOp module) {
  func::FuncOp main;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    if (func.getName() == "main")
      return func;
    if (main)
      return rt::makeError(ErrorKind::diagnosed,
                           describePlace(func.getLoc()) +
                               "expected one public function or '@main', got "
                               "several");
    main = func;
  }
  if (!main)
    return rt::makeError(ErrorKind::diagnosed,
                         describePlace(module.getLoc()) +
                             "expected a public function with a body, got "
                             "none");
  return main;
}

static MeshAxes axesOf(sdy::MeshAttr mesh) {
  MeshAxes axes;
  if (mesh)
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      axes.emplace_back(axis.getName().str(), axis.getSize());
  return axes;
}

rt::Result<OwningOpRef<ModuleOp>>
import::importStableHLO(MLIRContext &context, const std::string &path,
                        const Options &options) {
  LLMC_TRY_ASSIGN(OwningOpRef<ModuleOp> module, readModule(context, path));
  LLMC_TRY_ASSIGN(func::FuncOp main, findMain(*module));
  LLMC_TRY(inlineCalls(*module, main));
  LLMC_TRY_ASSIGN(Shardings shardings, readShardings(main));
  LLMC_TRY_ASSIGN(Graph graph, readNames(main));
  LLMC_TRY_ASSIGN(dist::MeshOp mesh,
                  makeProgram(graph, options, axesOf(shardings.mesh)));
  LLMC_TRY(applyShardings(*module, main, mesh, shardings));
  FirstError error(context);
  if (failed(verify(*module)))
    return error.status(ErrorKind::internal, path + ": import failed");
  return module;
}
