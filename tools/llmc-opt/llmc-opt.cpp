//===- llmc-opt.cpp - The pass author's tool ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with llmc's dialects, their ops' answers, all passes, and a pipeline
// for each phase (--llmc-phase-training, ...).
//
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmc::registerAllDialects(registry);
  llmc::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "llmc pass driver\n", registry));
}
