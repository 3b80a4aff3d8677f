//===- FetchNames.cpp - What the user calls a sum -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order-fetch-parts.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Runtime/Base/Names.h"

using namespace mlir;
using namespace llmc;

std::string llmc::getGradientName(StringRef state) {
  return "grad." + rt::unescapeName(state);
}

dist::StateOp llmc::getSummedPart(SymbolTableCollection &tables,
                                  ModuleOp module, dist::SlotAttr slot) {
  StringRef name = slot.getName().getValue();
  if (slot.getKind() != dist::SlotKind::Step || !name.consume_front("grad."))
    return {};
  auto state = tables.lookupSymbolIn<dist::StateOp>(
      module, StringAttr::get(module.getContext(), name));
  return state && state.isPart() ? state : dist::StateOp();
}

std::string llmc::getFetchName(SymbolTableCollection &tables, ModuleOp module,
                               dist::SlotAttr slot) {
  if (dist::StateOp part = getSummedPart(tables, module, slot))
    return getGradientName(*part.getPartOf());
  return rt::unescapeName(slot.getName().getValue());
}
