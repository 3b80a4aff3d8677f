//===- AttributeFields.cpp - Attributes as named fields -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/StableHLO/{ops,invalid-text}.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/AttributeFields.h"

using namespace mlir;
using namespace llmc;

static ParseResult parseFieldValue(AsmParser &parser, AttributeField &field) {
  if (field.scalar)
    return parser.parseInteger(*field.scalar);
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(field.list->emplace_back());
  });
}

ParseResult llmc::parseAttributeFields(AsmParser &parser,
                                       MutableArrayRef<AttributeField> fields) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        StringRef name;
        if (parser.parseKeyword(&name))
          return failure();
        AttributeField *field = llvm::find_if(
            fields, [&](const AttributeField &f) { return f.name == name; });
        if (field == fields.end())
          return parser.emitError(loc) << "expected a field of this attribute, "
                                          "got '"
                                       << name << "'";
        if (field->seen)
          return parser.emitError(loc)
                 << "expected field '" << name << "' once, got it twice";
        field->seen = true;
        return failure(parser.parseEqual() || parseFieldValue(parser, *field));
      });
}

void AttributeFieldPrinter::list(StringRef name, ArrayRef<int64_t> values) {
  if (values.empty())
    return;
  begin(name) << "[";
  llvm::interleaveComma(values, printer);
  printer << "]";
}

void AttributeFieldPrinter::scalar(StringRef name, int64_t value) {
  if (value != 0)
    begin(name) << value;
}

AsmPrinter &AttributeFieldPrinter::begin(StringRef name) {
  printer << separator << name << " = ";
  separator = ", ";
  return printer;
}
