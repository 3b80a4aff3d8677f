//===- ReportedErrors.cpp - A pass that reports an error fails ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Phases/ReportedErrorsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Phases/ReportedErrors.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mlir/Pass/Pass.h"
#include <atomic>

using namespace mlir;

namespace {

class ReportedErrors : public PassInstrumentation {
public:
  explicit ReportedErrors(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            ++count;
          return failure(); // others print it
        }) {}

  void runBeforePass(Pass *, Operation *op) override {
    if (!op->getParentOp())
      before = count;
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!op->getParentOp() && count > before)
      op->emitError() << "pass '" << pass->getName()
                      << "' reported an error and did not fail";
  }

private:
  /// Passes over functions may run on several threads.
  std::atomic<int64_t> count = 0;
  int64_t before = 0;
  ScopedDiagnosticHandler handler;
};

} // namespace

std::unique_ptr<PassInstrumentation>
llmc::checkReportedErrors(MLIRContext &context) {
  return std::make_unique<ReportedErrors>(context);
}
