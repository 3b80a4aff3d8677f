//===- Signature.cpp - The ports of a function ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Signature.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

//===----------------------------------------------------------------------===//
// One port
//===----------------------------------------------------------------------===//

PortAttr dist::getArgumentPort(FunctionOpInterface function, unsigned i) {
  return function.getArgAttrOfType<PortAttr>(i, kPort);
}

PortAttr dist::getResultPort(FunctionOpInterface function, unsigned i) {
  return function.getResultAttrOfType<PortAttr>(i, kPort);
}

bool dist::isPort(PortAttr port, PortKind kind) {
  return port && port.getKind() == kind;
}

bool dist::isAnyPort(PortAttr port, ArrayRef<PortKind> kinds) {
  return port && llvm::is_contained(kinds, port.getKind());
}

bool dist::isScalarSum(PortAttr port) { return port && port.isScalarSum(); }

bool dist::isSum(PortAttr port) { return port && port.isSum(); }

FlatSymbolRefAttr dist::getState(PortAttr port) {
  return port && port.isState() ? port.getSymbol() : FlatSymbolRefAttr();
}

bool dist::isOfMicrobatch(PortAttr port) {
  return port && !port.isSum() &&
         !isAnyPort(port, {PortKind::Buffer, PortKind::Metric, PortKind::Carry,
                           PortKind::Kept});
}

FlatSymbolRefAttr dist::getGradientOf(PortAttr port) {
  return isPort(port, PortKind::Gradient) ? port.getSymbol()
                                          : FlatSymbolRefAttr();
}

FlatSymbolRefAttr dist::getStateOrGradientOf(PortAttr port) {
  FlatSymbolRefAttr state = getState(port);
  return state ? state : getGradientOf(port);
}

FlatSymbolRefAttr dist::getHyper(PortAttr port) {
  return isPort(port, PortKind::Hyper) ? port.getSymbol() : FlatSymbolRefAttr();
}

StringAttr dist::getInput(PortAttr port) {
  return isPort(port, PortKind::Input) ? port.getName() : StringAttr();
}

StringAttr dist::getMetric(PortAttr port) {
  if (isPort(port, PortKind::Metric))
    return port.getName();
  return port ? port.getMetric() : StringAttr();
}

LayoutAttr dist::getLayout(PortAttr port) {
  return port ? port.getLayout() : LayoutAttr();
}

PortKind dist::getPortKind(Role role) {
  switch (role) {
  case Role::Parameter:
    return PortKind::Parameter;
  case Role::Optimizer:
    return PortKind::Optimizer;
  case Role::Carried:
    return PortKind::Carried;
  case Role::Constant:
    return PortKind::Constant;
  }
  return PortKind::Constant;
}

//===----------------------------------------------------------------------===//
// All ports
//===----------------------------------------------------------------------===//

Signature::Signature(FunctionOpInterface function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(getArgumentPort(function, i));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    results.push_back(getResultPort(function, i));
}

static std::optional<unsigned> find(ArrayRef<PortAttr> ports, PortKind kind,
                                    FlatSymbolRefAttr symbol) {
  for (auto [i, port] : llvm::enumerate(ports))
    if (isPort(port, kind) && (!symbol || port.getSymbol() == symbol))
      return i;
  return std::nullopt;
}

std::optional<unsigned>
Signature::findArgument(PortKind kind, FlatSymbolRefAttr symbol) const {
  return find(arguments, kind, symbol);
}

std::optional<unsigned> Signature::findResult(PortKind kind,
                                              FlatSymbolRefAttr symbol) const {
  return find(results, kind, symbol);
}

static void setAll(MutableArrayRef<PortAttr> ports,
                   ArrayRef<LayoutAttr> layouts) {
  for (auto [port, layout] : llvm::zip_equal(ports, layouts))
    if (port && port.getLayout() != layout)
      port = port.withLayout(layout);
}

void Signature::setLayouts(ArrayRef<LayoutAttr> ofArguments,
                           ArrayRef<LayoutAttr> ofResults) {
  setAll(arguments, ofArguments);
  setAll(results, ofResults);
}

/// The attributes of each argument or result, of which `getOld` returns those
/// that stand there, with its port.
static SmallVector<DictionaryAttr>
getMarks(MLIRContext *context, ArrayRef<PortAttr> ports,
         llvm::function_ref<DictionaryAttr(unsigned)> getOld) {
  auto name = StringAttr::get(context, kPort);
  SmallVector<DictionaryAttr> marks;
  for (auto [i, port] : llvm::enumerate(ports)) {
    NamedAttrList attributes(getOld(i));
    attributes.erase(name);
    if (port)
      attributes.set(name, port);
    marks.push_back(attributes.getDictionary(context));
  }
  return marks;
}

void Signature::write(FunctionOpInterface function) const {
  MLIRContext *context = function.getContext();
  function.setAllArgAttrs(getMarks(context, arguments, [&](unsigned i) {
    return function.getArgAttrDict(i);
  }));
  function.setAllResultAttrs(getMarks(context, results, [&](unsigned i) {
    return function.getResultAttrDict(i);
  }));
}
