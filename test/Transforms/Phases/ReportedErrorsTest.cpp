//===- ReportedErrorsTest.cpp - A pass that reports an error fails --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Phases/ReportedErrors.h"
#include "GraphContext.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

namespace {

enum class Says { nothing, warning, error, errorAndFails };

class TalkingPass : public PassWrapper<TalkingPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TalkingPass)
  explicit TalkingPass(Says says) : says(says) {}
  StringRef getName() const override { return "talking"; }

  void runOnOperation() override {
    if (says == Says::warning)
      getOperation().emitWarning() << "careful";
    if (says == Says::error || says == Says::errorAndFails)
      getOperation().emitError() << "refused";
    if (says == Says::errorAndFails)
      signalPassFailure();
  }

private:
  Says says;
};

/// Says that it refuses the function @f.
class RefusingPass
    : public PassWrapper<RefusingPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefusingPass)
  StringRef getName() const override { return "refusing"; }

  void runOnOperation() override {
    if (getOperation().getName() == "f")
      getOperation().emitError() << "refused";
  }
};

/// What is printed by passes that say these things one after the other.
std::string messagesOf(ArrayRef<Says> passes) {
  GraphContext context;
  OwningOpRef<ModuleOp> module = context.parse("");
  PassManager manager(context.get());
  manager.addInstrumentation(checkReportedErrors(*context.get()));
  for (Says says : passes)
    manager.addPass(std::make_unique<TalkingPass>(says));
  (void)manager.run(*module);
  return context.takeMessages();
}

TEST(ReportedErrors, APassThatReportsAnErrorFails) {
  EXPECT_EQ(messagesOf({Says::nothing, Says::warning}), "careful\n");
  EXPECT_EQ(messagesOf({Says::errorAndFails}), "refused\n");
  EXPECT_EQ(messagesOf({Says::warning, Says::error}),
            "careful\nrefused\n"
            "pass 'talking' reported an error and did not fail\n");
  // The pass after it is not blamed.
  EXPECT_EQ(messagesOf({Says::error, Says::nothing}),
            "refused\npass 'talking' reported an error and did not fail\n");
}

TEST(ReportedErrors, APassOverFunctionsIsToldOfOnce) {
  GraphContext context;
  context.get()->disableMultithreading();
  OwningOpRef<ModuleOp> module = context.parse("func.func @f() { return }\n"
                                               "func.func @g() { return }");
  PassManager manager(context.get());
  manager.addInstrumentation(checkReportedErrors(*context.get()));
  manager.addNestedPass<func::FuncOp>(std::make_unique<RefusingPass>());
  manager.addNestedPass<func::FuncOp>(std::make_unique<RefusingPass>());
  (void)manager.run(*module);
  EXPECT_EQ(context.takeMessages(),
            "refused\nrefused\npass 'mlir::detail::OpToOpPassAdaptor' "
            "reported an error and did not fail\n");
}

} // namespace
