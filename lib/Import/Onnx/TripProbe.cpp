//===- TripProbe.cpp - Whether trips are alike ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TripProbe.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;

TripProbe::TripProbe(GraphImporter &importer, ArrayRef<Value> given)
    : importer(importer), around(importer.probe),
      inputs(given.begin(), given.end()),
      block(importer.builder.getInsertionBlock()), before(importer.lastOp()),
      draws(importer.numDraws), changes(countChanges()) {
  importer.probe = this;
}

TripProbe::~TripProbe() { importer.probe = around; }

/// What nodes have told of arguments, which is not taken back.
size_t TripProbe::countChanges() const {
  return importer.updates.size() + importer.optimizerStates.size() +
         importer.derivatives.size() + importer.mutated.size();
}

bool TripProbe::isOfTrip(Operation *op) const {
  op = block->findAncestorOpInBlock(*op);
  return op && (!before || before->isBeforeInBlock(op));
}

bool TripProbe::dependsOnInputs(Value value) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value each = open.pop_back_val();
    if (inputs.contains(each))
      return true;
    Operation *op = each.getDefiningOp();
    if (!op || !isOfTrip(op) || !seen.insert(each).second)
      continue;
    op->walk([&](Operation *inner) {
      llvm::append_range(open, inner->getOperands());
    });
  }
  return false;
}

void TripProbe::note(Value value) {
  asked = asked || dependsOnInputs(value);
  if (around)
    around->note(value);
}

bool TripProbe::areTripsAlike() const {
  return !asked && countChanges() == changes;
}

bool TripProbe::areKnown(ArrayRef<Value> values) const {
  return llvm::all_of(values, [&](Value value) {
    return importer.findKnown(value).has_value();
  });
}

void TripProbe::undo() {
  while (!block->empty() && &block->back() != before) {
    Operation *op = &block->back();
    op->walk([&](Operation *inner) {
      for (Value result : inner->getResults())
        importer.known.erase(result);
    });
    op->erase();
  }
  importer.numDraws = draws;
}
