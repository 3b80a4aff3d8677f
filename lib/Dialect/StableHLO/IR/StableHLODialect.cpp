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

/// Called for a pretty op that is not registered.
static ParseResult refuseUnknownOp(OpAsmParser &parser, OperationState &state) {
  return parser.emitError(parser.getNameLoc())
         << "expected an op that llmc knows, got '" << state.name.getStringRef()
         << "', which llmc does not have";
}

std::optional<Dialect::ParseOpHook>
StableHLODialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(refuseUnknownOp);
}
