//===- PrintStates.cpp - A pass outside the tree --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The README shows it. Tested by test/Tools/llmc-opt/plugin.test.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

struct PrintStates
    : mlir::PassWrapper<PrintStates, mlir::OperationPass<mlir::ModuleOp>> {
  llvm::StringRef getArgument() const override { return "print-states"; }
  void runOnOperation() override {
    for (auto state : getOperation().getOps<llmc::dist::StateOp>())
      llvm::outs() << state.getSymName() << ": " << state.getType() << "\n";
  }
};

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "PrintStates", "1",
          [] { mlir::PassRegistration<PrintStates>(); }};
}
