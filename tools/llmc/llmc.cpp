//===- llmc.cpp - The driver ----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc train model.mlir --config strategy.toml --steps 50
//
// Results on stdout, errors on stderr; the last line on stderr is
// `llmc: error[<kind>]: <cause>`, the exit code is the kind's.
//
//===----------------------------------------------------------------------===//

#include "Diff/Diff.h"
#include "Driver/Compile.h"
#include "Explain/Explain.h"
#include "Init/Init.h"
#include "Ops.h"
#include "Options/Options.h"
#include "Run.h"
#include "llmc/Runtime/Base/StopSignals.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace llmc;
using namespace llmc::driver;

static rt::Status execute(const Options &options) {
  switch (options.command) {
  case Command::train:
    return runTrain(options);
  case Command::compile:
    return runCompile(options);
  case Command::run:
    return runPlan(options);
  case Command::interpret:
    return runInterpret(options);
  case Command::inspect:
    return runInspect(options);
  case Command::ops:
    return runOps(options);
  case Command::explain:
    return runExplain(options);
  case Command::diff:
    return runDiff(options);
  case Command::init:
    return runInit(options);
  }
  return rt::Status::success();
}

/// `llmc launch …`, `doctor`, `export` and `report` are tools of the runtime
/// house, which machines without the compiler have too: they take this process
/// over.
static rt::Status becomeTool(char **argv) {
  std::string program = llvm::sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&becomeTool));
  llvm::SmallString<128> tool(llvm::sys::path::parent_path(program));
  llvm::sys::path::append(tool, llvm::Twine("llmc-") + argv[1]);
  ::execv(tool.c_str(), argv + 1);
  return rt::makeError(rt::ErrorKind::mismatch,
                       "expected this tool beside llmc, got none")
      .at(tool.str().str());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  if (argc > 1 && llvm::is_contained({"launch", "doctor", "export", "report"},
                                     llvm::StringRef(argv[1])))
    return rt::reportError("llmc", becomeTool(argv), "");
  rt::StopSignals::take();
  Options options;
  rt::Status status = parseCommandLine(argc, argv, options);
  if (status.ok())
    status = execute(options);
  if (status.kind() == rt::ErrorKind::internal)
    status = status.withHint("this is a fault of llmc: please report it with "
                             "the model, the configuration and this command: " +
                             options.commandLine);
  if (!status.ok())
    return rt::reportError("llmc", status, options.errorFile);
  return rt::StopSignals::asked() ? 128 + rt::StopSignals::signal() : 0;
}
