//===- Refusal.h - What the user can mend -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that cannot go on says whose turn it is. A refusal is about what the
// user gave (an op without a derivative, a layout that does not fit, an
// optimizer that is none) and carries the exit code with it. Every other error
// that a pass or a verifier emits is about IR that llmc made itself: tools end
// with `internal` (70) and ask for a report.
//
//   return emitRefusal(op, ErrorKind::unsupported)
//          << "expected a scatter of one input to derive, got two";
//
// Test: test/Tools/llmc/internal.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_REFUSAL_H
#define LLMC_SUPPORT_REFUSAL_H

#include "llmc/Runtime/Base/Status.h"
#include "mlir/IR/Diagnostics.h"
#include <optional>

namespace llmc {

/// An error of `op` (with its name) or at `location` that the user can mend.
mlir::InFlightDiagnostic
emitRefusal(mlir::Operation *op, rt::ErrorKind kind = rt::ErrorKind::diagnosed);
mlir::InFlightDiagnostic
emitRefusal(mlir::Location location,
            rt::ErrorKind kind = rt::ErrorKind::diagnosed);

/// The kind of a refusal; nothing for any other diagnostic.
std::optional<rt::ErrorKind> getRefusalKind(mlir::Diagnostic &diagnostic);

} // namespace llmc

#endif // LLMC_SUPPORT_REFUSAL_H
