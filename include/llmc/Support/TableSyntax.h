//===- TableSyntax.h - Tables of cells as text ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table is a list of rows of one length; a row is a string of words, one for
// each cell:
//
//   <["F0.0 F0.1 .", ". F1.0 F1.1"]>
//
// Tests: test/Dialect/Dist/invalid-attributes.mlir,
//        test/Dialect/Plan/invalid.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_TABLESYNTAX_H
#define LLMC_SUPPORT_TABLESYNTAX_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpImplementation.h"

namespace llmc {

/// Reads a table; `addCell` takes the words in order and answers whether a word
/// is a cell. `length`: the cells of a row, called `unit` in errors.
mlir::ParseResult parseTable(mlir::AsmParser &parser, int64_t &length,
                             StringRef unit, StringRef example,
                             function_ref<bool(StringRef word)> addCell);

/// `printCell` writes the cell of this number, in the order of reading.
void printTable(mlir::AsmPrinter &printer, int64_t numRows, int64_t length,
                function_ref<void(int64_t cell)> printCell);

} // namespace llmc

#endif // LLMC_SUPPORT_TABLESYNTAX_H
