//===- MergedFunction.cpp - A function whose parts are merged -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergedFunction.h"
#include "DeadOps.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

void MergedFunction::addPlaces(DictionaryAttr marks, unsigned place,
                               Places &places) {
  for (StringRef mark :
       {DistDialect::kReads, DistDialect::kWrites, DistDialect::kGradientOf})
    if (Attribute value = marks ? marks.get(mark) : Attribute())
      places[{mark, value}].push_back(place);
}

MergedFunction::MergedFunction(func::FuncOp function)
    : function(function), body(function.getBody().front()), marks(function),
      goneArguments(function.getNumArguments()),
      goneResults(function.getNumResults()) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    addPlaces(function.getArgAttrDict(i), i, arguments);
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    addPlaces(function.getResultAttrDict(i), i, results);
}

ArrayRef<unsigned> MergedFunction::getPlaces(StringRef mark,
                                             dist::StateOp state,
                                             bool isArgument) const {
  const Places &places = isArgument ? arguments : results;
  auto found =
      places.find({mark, FlatSymbolRefAttr::get(state.getSymNameAttr())});
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
  marks.write();
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
