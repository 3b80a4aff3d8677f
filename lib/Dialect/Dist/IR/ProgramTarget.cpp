//===- ProgramTarget.cpp - What a program is compiled for -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProgramTarget.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Dialect/Dist/IR/Dist.h"

using namespace mlir;

namespace llmc::dist {

StringRef getTarget(ModuleOp program) {
  for (auto execution : program.getOps<ExecutionOp>())
    if (std::optional<StringRef> target = execution.getTarget())
      return *target;
  return "cpu";
}

StringRef getTargetName(ModuleOp program) {
  return getTarget(program).split(':').first;
}

std::string getTargetLibraries(ModuleOp program) {
  StringRef libraries = getTarget(program).split('+').second;
  std::string name = getTargetName(program).str();
  return libraries.empty() ? name : name + "+" + libraries.str();
}

bool addsUpWide(StringRef targetName) { return targetName != "cuda"; }

} // namespace llmc::dist
