//===- NamedKind.h - Kinds of the runtime as attributes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing of the enums that both houses share, so that the dialects have no
// mirrors of them: `dist.all_reduce %x over ["x"] sum`. Printed by `nameOf`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_NAMEDKIND_H
#define LLMC_SUPPORT_NAMEDKIND_H

#include "llmc/Runtime/Base/CollectiveKind.h"
#include "llmc/Runtime/Base/ReductionKind.h"
#include "mlir/IR/DialectImplementation.h"

namespace llmc {

/// A keyword that names one of the kinds of a table of traits.
template <typename Traits>
auto parseNamedKind(mlir::AsmParser &parser, llvm::StringRef what,
                    const Traits &table)
    -> mlir::FailureOr<decltype(table.front().kind)> {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word))
    return mlir::failure();
  std::string names;
  for (const auto &traits : table) {
    if (word == llvm::StringRef(traits.name))
      return traits.kind;
    names += (names.empty() ? "" : ", ") + std::string(traits.name);
  }
  return parser.emitError(loc)
         << "expected " << what << " (" << names << "), got '" << word << "'";
}

} // namespace llmc

namespace mlir {
template <> struct FieldParser<llmc::ReductionKind, llmc::ReductionKind> {
  static FailureOr<llmc::ReductionKind> parse(AsmParser &parser) {
    return llmc::parseNamedKind(parser, "a reduction", llmc::reductionTraits);
  }
};
template <> struct FieldParser<llmc::CollectiveKind, llmc::CollectiveKind> {
  static FailureOr<llmc::CollectiveKind> parse(AsmParser &parser) {
    return llmc::parseNamedKind(parser, "a collective", llmc::collectiveTraits);
  }
};
} // namespace mlir

#endif // LLMC_SUPPORT_NAMEDKIND_H
