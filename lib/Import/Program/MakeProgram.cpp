//===- MakeProgram.cpp - A graph with names becomes a program -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the steps; see MakeProgram.h for what comes out.
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/MakeProgram.h"
#include "Parts.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

rt::Result<dist::MeshOp> import::makeProgram(const Graph &graph,
                                             const Options &options,
                                             const FileMesh &fileMesh,
                                             std::string *description) {
  func::FuncOp main = graph.main;
  auto module = main->getParentOfType<ModuleOp>();
  if (options.seeGraph)
    options.seeGraph(graph);
  main.setName("loss");
  LLMC_TRY_ASSIGN(Roles roles, makeStates(graph, options));
  if (description)
    *description = describeRoles(roles, module);
  LLMC_TRY_ASSIGN(dist::MeshOp mesh, addMesh(module, options, fileMesh));
  LLMC_TRY(addLayouts(module, main, mesh, options.config));
  LLMC_TRY(addHypers(module, main, options.config));
  if (canTrain(main)) {
    LLMC_TRY(addRecipe(module, main, roles.kind, options.config));
    LLMC_TRY(addPrecisions(module, options.config));
  }
  return mesh;
}

/// What the entry returns: the loss and what is computed without derivatives.
static bool isOfForward(const Graph &graph, unsigned result) {
  dist::PortAttr port = dist::getResultPort(graph.main, result);
  return dist::isPort(port, dist::PortKind::Loss) ||
         (dist::isPort(port, dist::PortKind::Output) &&
          graph.results[result].derivation == Derivation::None);
}

/// A copy of the function that computes no gradient and no new state.
static func::FuncOp makeForward(const Graph &graph) {
  func::FuncOp main = graph.main, function = main.clone();
  function.setName("forward.function");
  function.setPrivate();
  main->getBlock()->getOperations().insert(std::next(main->getIterator()),
                                           function);
  llvm::BitVector dropped(function.getNumResults());
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!isOfForward(graph, i))
      dropped.set(i);
  Operation *terminator = function.front().getTerminator();
  terminator->eraseOperands(dropped);
  (void)function.eraseResults(dropped);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)function.eraseArguments(unused);
  return function;
}

void import::addForward(const Graph &graph) {
  func::FuncOp main = graph.main, function = main;
  auto module = main->getParentOfType<ModuleOp>();
  dist::Signature signature(main);
  bool hasDerivative = llvm::any_of(signature.results, [](dist::PortAttr port) {
    return dist::isAnyPort(
        port, {dist::PortKind::Gradient, dist::PortKind::Parameter});
  });
  if (hasDerivative)
    function = makeForward(graph);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  dist::EntryOp::create(builder, module.getLoc(),
                        builder.getStringAttr("forward"), FlatSymbolRefAttr(),
                        FlatSymbolRefAttr::get(function.getNameAttr()),
                        DenseI64ArrayAttr(), dist::TableAttr());
}
