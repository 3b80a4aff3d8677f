//===- MakeProgram.cpp - A graph with names becomes a program -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the steps; see MakeProgram.h for what comes out.
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/MakeProgram.h"
#include "Parts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

rt::Result<dist::MeshOp> import::makeProgram(const Graph &graph,
                                             const Options &options,
                                             const MeshAxes &annotated) {
  func::FuncOp main = graph.main;
  auto module = main->getParentOfType<ModuleOp>();
  main.setName("loss");
  LLMC_TRY(makeStates(graph, options));
  LLMC_TRY_ASSIGN(dist::MeshOp mesh, addMesh(module, options, annotated));
  LLMC_TRY(addLayouts(module, main, mesh, options.config));
  if (canTrain(main))
    LLMC_TRY(addRecipe(module, main, options.config));
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  dist::EntryOp::create(builder, module.getLoc(),
                        builder.getStringAttr("forward"), FlatSymbolRefAttr(),
                        FlatSymbolRefAttr::get(main.getNameAttr()),
                        DenseI64ArrayAttr(), dist::TableAttr());
  return mesh;
}
