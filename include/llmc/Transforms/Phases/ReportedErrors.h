//===- ReportedErrors.h - A pass that reports an error fails ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_PHASES_REPORTEDERRORS_H
#define LLMC_TRANSFORMS_PHASES_REPORTEDERRORS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <memory>

namespace llmc {

/// After each pass over a whole module: an error, "pass 'x' reported an error
/// and did not fail", if the pass emitted an error and succeeded. Its successor
/// would work on what it refused, and a tool would end with status 0.
std::unique_ptr<mlir::PassInstrumentation>
checkReportedErrors(mlir::MLIRContext &context);

} // namespace llmc

#endif // LLMC_TRANSFORMS_PHASES_REPORTEDERRORS_H
