//===- FirstError.h - MLIR's diagnostics as one status ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tools end with one line and an exit code. What passes and parsers emit while
// a FirstError lives is collected: the first error becomes the line, its notes
// follow it. Warnings are logged.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_FIRSTERROR_H
#define LLMC_SUPPORT_FIRSTERROR_H

#include "llmc/Runtime/Base/Status.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <optional>
#include <string>

namespace llmc {

/// Collects the first error that MLIR emits, as one line with its place.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext &context);
  /// The error, of its own kind if it is a refusal, else of `kind`; `otherwise`
  /// when none was emitted.
  rt::Status status(rt::ErrorKind kind, llvm::StringRef otherwise) const;
  const std::string &message() const { return text; }
  /// True when the error is about what the user gave (Refusal.h).
  bool isRefusal() const { return refusal.has_value(); }

private:
  std::string text;
  std::optional<rt::ErrorKind> refusal;
  mlir::ScopedDiagnosticHandler handler;
};

/// "file.mlir:12:3", a quoted name, or "" for an unknown location.
std::string describeLocation(mlir::Location location);
/// The same with ": " after it, or "".
std::string describePlace(mlir::Location location);

} // namespace llmc

#endif // LLMC_SUPPORT_FIRSTERROR_H
