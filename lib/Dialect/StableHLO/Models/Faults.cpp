//===- Faults.cpp - What is wrong with an op that was built ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Import/StableHLO/lapack-calls.mlir and those of StaticForms.cpp
//===----------------------------------------------------------------------===//

#include "Faults.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmc;

std::optional<std::string> stablehlo::findFault(Operation *op) {
  std::string fault;
  ScopedDiagnosticHandler keep(op->getContext(), [&](Diagnostic &diagnostic) {
    fault = diagnostic.str();
    return success();
  });
  return succeeded(verify(op)) ? std::optional<std::string>() : fault;
}
