//===- Compile.h - From a model to a plan -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_COMPILE_H
#define LLMC_TOOLS_LLMC_COMPILE_H

#include "Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llmc::driver {

/// A context with all dialects, on one thread.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// The configuration with `--set` applied.
rt::Result<rt::Config> readConfig(const Options &options);

/// The IR behind phase `to`: imported, or read and resumed (`--compile-from`).
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
compileToPhase(mlir::MLIRContext &context, const Options &options,
               const rt::Config &config, size_t to);

/// Compiles to a plan in `folder` (made if absent): plan.llmc and the kernels'
/// shared object. Returns the plan's path.
rt::Result<std::string> compileToPlan(mlir::MLIRContext &context,
                                      const Options &options,
                                      const rt::Config &config,
                                      const std::string &folder);

/// `llmc compile`.
rt::Status runCompile(const Options &options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_COMPILE_H
