//===- AttributeFields.h - Attributes as named fields -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structures of published dialects, `#stablehlo.gather<offset_dims = [2],
// ..>`: named fields in any order, each at most once, empty or zero ones
// omitted.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_ATTRIBUTEFIELDS_H
#define LLMC_SUPPORT_ATTRIBUTEFIELDS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpImplementation.h"

namespace llmc {

/// A field to read: a list of integers or one integer.
struct AttributeField {
  StringRef name;
  SmallVectorImpl<int64_t> *list = nullptr;
  int64_t *scalar = nullptr;
  bool seen = false;

  AttributeField(StringRef name, SmallVectorImpl<int64_t> &list)
      : name(name), list(&list) {}
  AttributeField(StringRef name, int64_t &scalar)
      : name(name), scalar(&scalar) {}
};

/// Parses `<a = [..], b = 1>`.
mlir::ParseResult
parseAttributeFields(mlir::AsmParser &parser,
                     llvm::MutableArrayRef<AttributeField> fields);

/// Prints the same, leaving out what is empty or zero.
class AttributeFieldPrinter {
public:
  explicit AttributeFieldPrinter(mlir::AsmPrinter &printer) : printer(printer) {
    printer << "<";
  }
  ~AttributeFieldPrinter() { printer << ">"; }

  void list(StringRef name, ArrayRef<int64_t> values);
  void scalar(StringRef name, int64_t value);
  /// The printer, behind `name = `.
  mlir::AsmPrinter &begin(StringRef name);

private:
  mlir::AsmPrinter &printer;
  StringRef separator;
};

} // namespace llmc

#endif // LLMC_SUPPORT_ATTRIBUTEFIELDS_H
