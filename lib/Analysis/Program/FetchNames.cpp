//===- FetchNames.cpp - What sums and other slots are called --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order-fetch-parts.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Runtime/Base/Names.h"

using namespace mlir;
using namespace llmc;
using dist::PortKind;

static constexpr StringLiteral kGradient = "grad.";

std::string llmc::getGradientName(StringRef state) {
  return kGradient.str() + rt::unescapeName(state);
}

std::optional<StringRef> llmc::parseGradientName(StringRef name) {
  if (name.consume_front(kGradient))
    return name;
  return std::nullopt;
}

std::string llmc::getSlotName(dist::PortAttr port) {
  std::string name = port.getIsReduced() ? "fetched." : "";
  if (port.getKind() == PortKind::Gradient)
    return name + kGradient.str() + port.getSymbol().getValue().str();
  if (port.isScalarSum()) {
    name += dist::stringifyPortKind(port.getKind());
    return port.getName() ? name + "." + port.getName().str() : name;
  }
  return port.getSymbol() ? port.getSymbol().getValue().str()
                          : port.getName().str();
}

dist::StateOp llmc::getSummedPart(SymbolTableCollection &tables,
                                  ModuleOp module, dist::PortAttr port) {
  if (port.getKind() != PortKind::Gradient || !port.getSymbol() ||
      port.getIsReduced())
    return {};
  auto state =
      tables.lookupSymbolIn<dist::StateOp>(module, port.getSymbol().getAttr());
  return state && state.isPart() ? state : dist::StateOp();
}

std::string llmc::getFetchName(SymbolTableCollection &tables, ModuleOp module,
                               dist::PortAttr port) {
  if (dist::StateOp part = getSummedPart(tables, module, port))
    return getGradientName(*part.getPartOf());
  return rt::unescapeName(getSlotName(port));
}
