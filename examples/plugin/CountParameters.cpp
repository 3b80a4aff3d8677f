//===- CountParameters.cpp - A pass outside the tree ----------------------===//
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

struct CountParameters
    : mlir::PassWrapper<CountParameters, mlir::OperationPass<mlir::ModuleOp>> {
  llvm::StringRef getArgument() const override { return "count-parameters"; }
  void runOnOperation() override {
    for (auto state : getOperation().getOps<llmc::dist::StateOp>())
      state.emitRemark() << state.getTensorType().getNumElements();
  }
};

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "CountParameters", "1",
          [] { mlir::PassRegistration<CountParameters>(); }};
}
