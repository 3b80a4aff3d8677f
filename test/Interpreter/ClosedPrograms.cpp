//===- ClosedPrograms.cpp - Programs as phase 1 hands them on -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ClosedPrograms.h.
//
//===----------------------------------------------------------------------===//

#include "ClosedPrograms.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace llmc;

bool test::closeRegions(ModuleOp module) {
  mlir::PassManager manager(module.getContext());
  manager.addPass(createCloseRegionsPass());
  return succeeded(manager.run(module));
}

std::string test::closeRegions(const std::string &text) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module || !closeRegions(*module))
    return text;
  std::string closed;
  llvm::raw_string_ostream os(closed);
  module->print(os);
  return closed;
}
