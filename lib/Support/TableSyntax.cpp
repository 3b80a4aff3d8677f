//===- TableSyntax.cpp - Tables of cells as text --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TableSyntax.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/TableSyntax.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

ParseResult llmc::parseTable(AsmParser &parser, int64_t &length, StringRef unit,
                             StringRef example,
                             function_ref<bool(StringRef)> addCell) {
  length = -1;
  auto parseRow = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string text;
    if (parser.parseString(&text))
      return failure();
    SmallVector<StringRef> words;
    StringRef(text).split(words, ' ', -1, /*KeepEmpty=*/false);
    if (length >= 0 && static_cast<int64_t>(words.size()) != length)
      return parser.emitError(loc) << "expected a row of " << length << " "
                                   << unit << ", got " << words.size();
    length = words.size();
    for (StringRef word : words)
      if (!addCell(word))
        return parser.emitError(loc) << "expected a cell such as " << example
                                     << ", got '" << word << "'";
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow) ||
      parser.parseGreater())
    return failure();
  length = std::max<int64_t>(length, 0);
  return success();
}

void llmc::printTable(AsmPrinter &printer, int64_t numRows, int64_t length,
                      function_ref<void(int64_t)> printCell) {
  printer << "<[";
  for (int64_t row = 0; row < numRows; ++row) {
    printer << (row ? ", \"" : "\"");
    llvm::interleave(llvm::seq(row * length, (row + 1) * length), printer,
                     printCell, " ");
    printer << '"';
  }
  printer << "]>";
}
