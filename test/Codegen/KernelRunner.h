//===- KernelRunner.h - Runs a graph function by its kernels ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms the kernels of a function, compiles, links and loads them, and runs the
// launches in order; contractions are plain loops. What the interpreter says of
// the same function is kept beside, for comparison.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_CODEGEN_KERNELRUNNER_H
#define LLMC_TEST_CODEGEN_KERNELRUNNER_H

#include "GraphContext.h"
#include "LaneRunner.h"
#include "llmc/Runtime/Plan/Format/KernelAbi.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::test {

/// What the passes of phase 7a say of a graph function that they refuse; empty
/// when they take it.
std::string formKernels(StringRef text);

/// `text` with `type` for the T of each `tensor<...T>`.
std::string withType(std::string text, const std::string &type);

/// What runs the kernels: functions of this processor, or kernels of a GPU as
/// the lanes of LaneAbi.h.
enum class RunOn { Processor, Lanes };

class KernelRunner {
public:
  explicit KernelRunner(StringRef text, uint64_t seed = 1,
                        RunOn runOn = RunOn::Processor);
  ~KernelRunner();

  /// Runs everything; each kernel's rows are cut at `slices` - 1 places.
  bool run(int slices = 1);
  bool isReady() const { return library; }
  std::string takeMessages() { return context.takeMessages(); }

  /// Calls all kernels of the last run again, on the same buffers.
  void repeat();
  /// Bytes that they read and write, each operand counted once.
  int64_t getBytes() const;

  /// Largest |kernel - interpreter| / max(1, |interpreter|) over all results.
  double getError() const;
  ArrayRef<HostTensor> getArguments() const { return arguments; }
  void setArgument(unsigned argument, int64_t element, double value) {
    arguments[argument].setFloat(element, value);
  }
  /// The elements of an argument, to be overwritten before `run`.
  char *getArgumentBytes(unsigned argument) {
    return arguments[argument].mutableBytes();
  }
  ArrayRef<HostTensor> getResults() const { return results; }
  int getNumLaunches() const { return launches; }
  /// What lanes did wrong; empty where all was right.
  const std::string &getLaneError() const { return lanes.error(); }
  mlir::func::FuncOp getFunction() { return test::getFunction(*module); }
  const rt::plan::Manifest &getManifest() const { return manifest; }

private:
  struct Call {
    LlmcKernelFn function;
    const rt::plan::KernelInfo *info;
    SmallVector<void *> pointers;
  };

  bool prepare();
  bool compile(ModuleOp kernels, StringRef path);
  bool launch(Operation *op, int slices);
  bool launchLanes(const std::string &name, const rt::plan::KernelInfo &info,
                   ArrayRef<void *> pointers);
  void contract(Operation *op);

  RunOn runOn;
  LaneRunner lanes;
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  SmallVector<HostTensor> arguments, expected, results;
  llvm::DenseMap<Value, HostTensor> values;
  rt::plan::Manifest manifest;
  void *library = nullptr;
  SmallVector<Call, 0> calls;
  std::vector<char> scratchMemory;
  int launches = 0;
};

} // namespace llmc::test

#endif // LLMC_TEST_CODEGEN_KERNELRUNNER_H
