//===- PublishedDialect.h - Dialects whose text others print ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `stablehlo`, `chlo` and `sdy` have in common: llmc implements a part of
// each. An attribute of unknown name is kept verbatim; an unknown op in its
// pretty form, which nobody else can read, is refused by name.
//
// Tests: test/Dialect/{StableHLO,Chlo,Sdy}/unknown.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_PUBLISHEDDIALECT_H
#define LLMC_SUPPORT_PUBLISHEDDIALECT_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace llmc {

/// The attribute that `parseKnown` (generatedAttributeParser of a dialect)
/// reads, or the text of one that it does not know.
Attribute
parseOrKeep(mlir::DialectAsmParser &parser, const mlir::Dialect &dialect,
            function_ref<mlir::OptionalParseResult(StringRef *, Attribute &)>
                parseKnown);

/// Called for a pretty op that is not registered.
mlir::Dialect::ParseOpHook getUnknownOpHook();

/// Paired dimensions of a product have one number and equal sizes: `what` names
/// them in the errors of `op`.
LogicalResult verifyPairs(Operation *op, RankedTensorType lhs,
                          RankedTensorType rhs, StringRef what,
                          ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> rhsDims);

} // namespace llmc

#endif // LLMC_SUPPORT_PUBLISHEDDIALECT_H
