//===- DimAssembly.cpp - A dim of a descriptor as text --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimAssembly.h"

using namespace mlir;
using namespace llmc::plan;

/// `a, b or c`.
static std::string listWords(ArrayRef<StringRef> words) {
  std::string list = llvm::join(words.drop_back(), ", ");
  return list + " or " + words.back().str();
}

/// The number of the word that comes next.
static FailureOr<size_t> parseWord(AsmParser &parser, ArrayRef<StringRef> words,
                                   ArrayRef<bool> taken, StringRef note) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  size_t at = llvm::find(words, word) - words.begin();
  if (at == words.size() || taken[at])
    return parser.emitError(loc) << "expected " << listWords(words) << note
                                 << ", got '" << word << "'";
  return at;
}

FailureOr<DimText> llmc::plan::parseDim(AsmParser &parser,
                                        const DimWords &words) {
  DimText dim;
  if (parser.parseLess())
    return failure();
  SmallVector<bool> none(words.kinds.size()), taken(words.strides.size());
  FailureOr<size_t> kind = parseWord(parser, words.kinds, none, "");
  if (failed(kind) || parser.parseComma() || parser.parseInteger(dim.size))
    return failure();
  dim.kind = *kind;
  dim.strides.resize(words.strides.size());
  while (succeeded(parser.parseOptionalComma())) {
    FailureOr<size_t> at =
        parseWord(parser, words.strides, taken, ", each once");
    if (failed(at) || parser.parseEqual() ||
        parser.parseInteger(dim.strides[*at]))
      return failure();
    taken[*at] = true;
  }
  if (parser.parseGreater())
    return failure();
  return dim;
}

void llmc::plan::printDim(AsmPrinter &printer, const DimText &dim,
                          const DimWords &words) {
  printer << '<' << words.kinds[dim.kind] << ", " << dim.size;
  for (auto [word, stride] : llvm::zip_equal(words.strides, dim.strides))
    if (stride != 0)
      printer << ", " << word << " = " << stride;
  printer << '>';
}
