//===- Refusal.cpp - What the user can mend -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mark is metadata of the diagnostic, which is never printed.
//
// Test: test/Tools/llmc/internal.test
//===----------------------------------------------------------------------===//

#include "llmc/Support/Refusal.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace llmc;

static constexpr llvm::StringLiteral kMark = "refusal";

static InFlightDiagnostic mark(InFlightDiagnostic diagnostic,
                               rt::ErrorKind kind) {
  auto &metadata = diagnostic.getUnderlyingDiagnostic()->getMetadata();
  metadata.push_back(DiagnosticArgument(llvm::StringRef(kMark)));
  metadata.push_back(DiagnosticArgument(static_cast<int>(kind)));
  return diagnostic;
}

InFlightDiagnostic llmc::emitRefusal(Operation *op, rt::ErrorKind kind) {
  return mark(op->emitOpError(), kind);
}

InFlightDiagnostic llmc::emitRefusal(Location location, rt::ErrorKind kind) {
  return mark(mlir::emitError(location), kind);
}

std::optional<rt::ErrorKind> llmc::getRefusalKind(Diagnostic &diagnostic) {
  auto &metadata = diagnostic.getMetadata();
  using Kind = DiagnosticArgument::DiagnosticArgumentKind;
  for (size_t i = 0; i + 1 < metadata.size(); ++i)
    if (metadata[i].getKind() == Kind::String &&
        metadata[i].getAsString() == kMark)
      return static_cast<rt::ErrorKind>(metadata[i + 1].getAsInteger());
  return std::nullopt;
}
