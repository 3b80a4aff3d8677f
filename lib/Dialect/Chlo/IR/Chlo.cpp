//===- Chlo.cpp - The chlo dialect ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, and tolerance for what is not known, as in stablehlo.
// Tests: test/Dialect/Chlo/{ops,invalid}.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"

#include "mlir/IR/DialectImplementation.h"

#include "llmc/Dialect/Chlo/IR/ChloDialect.cpp.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Chlo/IR/ChloOps.cpp.inc"

using namespace mlir;
using namespace llmc::chlo;

void ChloDialect::initialize() {
  allowUnknownOperations();
  addOperations<
#define GET_OP_LIST
#include "llmc/Dialect/Chlo/IR/ChloOps.cpp.inc"
      >();
}

Attribute ChloDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()),
                         parser.getFullSymbolSpec(),
                         NoneType::get(getContext()));
}

/// Called for a pretty op that is not registered.
static ParseResult refuseUnknownOp(OpAsmParser &parser, OperationState &state) {
  return parser.emitError(parser.getNameLoc())
         << "expected an op that llmc knows, got '" << state.name.getStringRef()
         << "', which llmc does not have";
}

std::optional<Dialect::ParseOpHook>
ChloDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(refuseUnknownOp);
}
