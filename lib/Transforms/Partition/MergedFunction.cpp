//===- MergedFunction.cpp - A function whose parts are merged -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergedFunction.h"
#include "DeadOps.h"

using namespace mlir;
using namespace llmc;

void MergedFunction::addPlaces(ArrayRef<dist::PortAttr> ports, Side &side) {
  for (auto [place, port] : llvm::enumerate(ports)) {
    if (FlatSymbolRefAttr state = dist::getState(port))
      side.states[state].push_back(place);
    if (FlatSymbolRefAttr state = dist::getGradientOf(port))
      side.gradients[state].push_back(place);
  }
}

MergedFunction::MergedFunction(func::FuncOp function)
    : function(function), body(function.getBody().front()), signature(function),
      goneArguments(function.getNumArguments()),
      goneResults(function.getNumResults()) {
  addPlaces(signature.arguments, arguments);
  addPlaces(signature.results, results);
}

ArrayRef<unsigned> MergedFunction::getPlaces(bool isGradient,
                                             dist::StateOp state,
                                             bool isArgument) const {
  const Side &side = isArgument ? arguments : results;
  const Places &places = isGradient ? side.gradients : side.states;
  auto found = places.find(FlatSymbolRefAttr::get(state.getSymNameAttr()));
  return found == places.end() ? ArrayRef<unsigned>() : found->second;
}

void MergedFunction::clean() {
  if (isClean)
    return;
  isClean = true;
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  DeadOps dead(body);
  dead.add(ops);
  for (Operation *op : dead.take()) {
    op->dropAllUses();
    op->erase();
  }
}

LogicalResult MergedFunction::finish() {
  if (!isClean)
    return success();
  signature.write(function);
  Operation *terminator = body.getTerminator();
  SmallVector<Value> kept;
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    if (!goneResults.test(i))
      kept.push_back(value);
  terminator->setOperands(kept);
  if (failed(function.eraseArguments(goneArguments)) ||
      failed(function.eraseResults(goneResults)))
    return failure();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
  return success();
}
