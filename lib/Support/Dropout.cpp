//===- Dropout.cpp - A dropout of the runtime as an attribute -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/NN/ops.mlir, invalid-attention.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Support/Dropout.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace llmc;

llvm::hash_code rt::hash_value(const Dropout &dropout) {
  return llvm::hash_combine(static_cast<int>(dropout.bits), dropout.keepsBelow,
                            dropout.limit,
                            llvm::bit_cast<uint64_t>(dropout.factor));
}

/// The kind of bits by its name; `none` is none.
static FailureOr<rt::RandomBits> parseBits(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::string names;
  for (size_t i = 1; i < rt::randomBitsNames.size(); ++i) {
    StringRef name = rt::randomBitsNames[i];
    if (word == name)
      return static_cast<rt::RandomBits>(i);
    names += (names.empty() ? "" : ", ") + name.str();
  }
  return parser.emitError(loc)
         << "expected random bits (" << names << "), got '" << word << "'";
}

FailureOr<rt::Dropout> llmc::parseDropout(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  rt::Dropout dropout;
  FailureOr<rt::RandomBits> bits = parseBits(parser);
  if (failed(bits))
    return failure();
  dropout.bits = *bits;
  dropout.keepsBelow = succeeded(parser.parseOptionalKeyword("below"));
  if (!dropout.keepsBelow && parser.parseKeyword("from"))
    return failure();
  APInt limit;
  OptionalParseResult found = parser.parseOptionalInteger(limit);
  if (!found.has_value() || failed(*found) || limit.isNegative() ||
      limit.getActiveBits() > 64)
    return parser.emitError(loc) << "expected a limit of 64 bits at most";
  dropout.limit = limit.getZExtValue();
  if (parser.parseKeyword("factor") || parser.parseFloat(dropout.factor))
    return failure();
  if (!isSound(dropout))
    return parser.emitError(loc)
           << "expected a limit of as many bits as are drawn and a positive "
              "factor, got "
           << dropout.limit << " and " << dropout.factor;
  return dropout;
}

void llmc::printDropout(AsmPrinter &printer, const rt::Dropout &dropout) {
  printer << StringRef(nameOf(dropout.bits))
          << (dropout.keepsBelow ? " below " : " from ") << dropout.limit
          << " factor ";
  printer.printFloat(APFloat(dropout.factor));
}
