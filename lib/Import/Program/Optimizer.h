//===- Optimizer.h - The optimizer functions of one file --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_PROGRAM_OPTIMIZER_H
#define LLMC_LIB_IMPORT_PROGRAM_OPTIMIZER_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Config/Config.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::import {

/// A file of optimizer functions with the numbers for their settings.
class OptimizerFile {
public:
  /// Errors: 1 (no function, or one that cannot be an optimizer), 2 (a number
  /// for a setting that no function has).
  static rt::Result<OptimizerFile> read(mlir::MLIRContext &context,
                                        const rt::OptimizerConfig &config);

  /// The symbol of the first function that fits the parameter; the function is
  /// in the parameter's module afterwards, its settings replaced by numbers,
  /// and the hyper values that it takes.
  rt::Result<mlir::FlatSymbolRefAttr> addFor(dist::StateOp parameter,
                                             const rt::Config &all);

private:
  rt::Status checkSettings();

  rt::OptimizerConfig config;
  mlir::OwningOpRef<mlir::ModuleOp> source;
  /// By the number of the function.
  llvm::DenseMap<size_t, mlir::FlatSymbolRefAttr> added;
};

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_PROGRAM_OPTIMIZER_H
