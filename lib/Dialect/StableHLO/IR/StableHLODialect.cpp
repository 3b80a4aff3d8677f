//===- StableHLODialect.cpp - The dialect and what it does not know -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, and tolerance for newer text: an unknown op is kept opaque in
// its generic form, and is one clear error in its pretty form, which cannot be
// parsed without knowing the op.
// Tests: test/Dialect/StableHLO/{ops,unknown,invalid-text}.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/PublishedDialect.h"

#include "llmc/Dialect/StableHLO/IR/StableHLODialect.cpp.inc"

using namespace mlir;
using namespace llmc::stablehlo;

void StableHLODialect::initialize() {
  allowUnknownOperations();
  registerAttributes();
  registerOps();
}

Operation *StableHLODialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || !haveSameShape(elements.getShapedType(), type) ||
      !haveSameElement(elements.getShapedType(), type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

std::optional<Dialect::ParseOpHook>
StableHLODialect::getParseOperationHook(StringRef) const {
  return getUnknownOpHook();
}
