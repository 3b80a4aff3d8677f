//===- StateRows.cpp - Where a state's row is found -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateRows.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;
using dist::StateOp;

StateRows::StateRows(ModuleOp module) {
  for (StateOp state : module.getOps<StateOp>()) {
    states[state.getSymNameAttr()] = state;
    if (FlatSymbolRefAttr whole = state.getPartOfAttr())
      parts[{whole.getAttr(), state.getBoxOffsetsAttr()}] = state;
  }
}

dist::RowAttr StateRows::getRow(StateOp state) const {
  if (dist::RowAttr row = state.getRowAttr())
    return row;
  if (FlatSymbolRefAttr whole = state.getPartOfAttr())
    if (StateOp op = lookup(whole.getAttr()))
      return op.getRowAttr();
  return {};
}

LayoutAttr StateRows::getRest(StateOp state) const {
  dist::RowAttr row = getRow(state);
  return row ? row.getRest() : LayoutAttr();
}

LayoutAttr StateRows::getUse(StateOp state) const {
  dist::RowAttr row = getRow(state);
  return row ? row.getUse() : LayoutAttr();
}

LayoutAttr StateRows::getGradient(StateOp state) const {
  dist::RowAttr row = getRow(state);
  return row ? row.getGradient() : LayoutAttr();
}

StateOp StateRows::getParameter(StateOp state) const {
  FlatSymbolRefAttr of = state.getOfAttr();
  if (!of && state.getPartOfAttr())
    if (StateOp whole = lookup(state.getPartOfAttr().getAttr()))
      of = whole.getOfAttr();
  StateOp parameter = of ? lookup(of.getAttr()) : StateOp();
  if (!parameter || !state.isPart() || parameter.isPart())
    return parameter;
  // The part of the parameter with the same box.
  dist::StateOp part =
      parts.lookup({parameter.getSymNameAttr(), state.getBoxOffsetsAttr()});
  return part ? part : parameter;
}
