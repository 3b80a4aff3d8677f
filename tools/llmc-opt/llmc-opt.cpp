//===- llmc-opt.cpp - The pass author's tool ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with llmc's dialects, their ops' answers, all passes, and a pipeline
// for each phase (--llmc-phase-training, ...). A pass that reports an error and
// succeeds is an error of its own.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Help.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llmc/Transforms/Phases/ReportedErrors.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static LogicalResult run(const MlirOptMainConfig &commandLine,
                         const std::string &inputName,
                         const std::string &outputName,
                         DialectRegistry &registry) {
  std::string error;
  auto input = openInputFile(inputName, &error);
  auto output = input ? openOutputFile(outputName, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << "\n";
    return failure();
  }
  MlirOptMainConfig config = commandLine;
  config.setPassPipelineSetupFn([&](PassManager &manager) {
    manager.addInstrumentation(
        llmc::checkReportedErrors(*manager.getContext()));
    return commandLine.setupPassPipeline(manager);
  });
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

static std::string describeEnd() {
  return "\n" +
         llmc::rt::printHelpTail(
             {{"llmc-opt before.mlir --llmc-find-blocks -o -",
               "llmc-opt before.mlir --llmc-phase-layouts --remarks-filter=.* "
               "--remark-format=emitRemark",
               "llmc-opt --load-pass-plugin=plugin.so "
               "--pass-pipeline='builtin.module(mine)' before.mlir"},
              {llmc::rt::ErrorKind::diagnosed},
              nullptr,
              "docs/write-a-pass.md, docs/architecture.md, CONTRIBUTING.md"});
}

int main(int argc, char **argv) {
  llvm::InitLLVM setup(argc, argv);
  DialectRegistry registry;
  llmc::registerAllDialects(registry);
  llmc::registerAllPasses();
  std::string help = describeEnd();
  llvm::cl::extrahelp more(help);
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "llmc pass driver\n", registry);
  auto config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(run(config, input, output, registry));
}
