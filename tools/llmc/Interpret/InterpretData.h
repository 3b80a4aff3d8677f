//===- InterpretData.h - Samples of a run, for interpreters -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inputs of a function as a run would fill them: the same files, the same
// samples in each step and microbatch.
//
// Test: test/Tools/llmc/interpret.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_INTERPRETDATA_H
#define LLMC_TOOLS_LLMC_INTERPRETDATA_H

#include "llmc/Runtime/Config/Config.h"
#include "llmc/Runtime/Executor/Samples.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace llmc::driver {

/// The data of the inputs of one function.
struct FunctionData {
  rt::DataSets files;
  rt::Samples samples;
  uint64_t seed = 0;
  /// Name of an input -> its index among those that are fed.
  llvm::StringMap<size_t> inputs;

  /// What `evaluates` reads held-out data.
  rt::Status open(mlir::func::FuncOp function, const rt::Config &config,
                  int64_t microbatches, bool evaluates);
  FailureOr<HostTensor> read(StringRef input, int64_t step, int64_t microbatch,
                             RankedTensorType type) const;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_INTERPRETDATA_H
