//===- Compile.h - From a model to a plan -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_COMPILE_H
#define LLMC_TOOLS_LLMC_COMPILE_H

#include "../Options/Options.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include "llmc/Support/FirstError.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>

namespace llmc::driver {

/// What a failed phase, `where`, ends with: a refusal as it is; any other error
/// is about IR of our own and becomes `internal`, with what to report. IR that
/// the user gave (`--compile-from`) may be at fault itself.
rt::Status blame(const rt::Status &status, const FirstError &error,
                 llvm::StringRef where, const Options &options);

/// A context with all dialects, on one thread.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// The configuration with `--set` applied.
rt::Result<rt::Config> readConfig(const Options &options);

/// The value of `--data-type`.
rt::Result<rt::DType> parseDataType(const std::string &name);

/// Runs the passes of phases (from, to]. What a phase made is verified once, at
/// its end: a verifier after each pass takes a quarter of the time of a long
/// model. `llmc-opt` verifies after each.
rt::Status runPasses(ModuleOp module, size_t from, size_t to,
                     const PlanOptions &planOptions, const Options &options);

/// The IR after phase `to`: imported, or read and resumed (`--compile-from`).
/// `description` gets what the arguments of a train step are, and why.
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
compileToPhase(mlir::MLIRContext &context, const Options &options,
               const rt::Config &config, size_t to,
               std::string *description = nullptr);

/// Sees the module after phase `plan`, before anything is written.
using InspectPlan = std::function<rt::Status(ModuleOp)>;

/// Compiles to a plan in `folder` (made if absent): plan.llmc and the kernels'
/// shared object. Returns the plan's path; `time` gets a line with what a step
/// takes by the machine's numbers, where it has them.
rt::Result<std::string>
compileToPlan(mlir::MLIRContext &context, const Options &options,
              const rt::Config &config, const std::string &folder,
              std::string *description = nullptr, std::string *time = nullptr,
              const InspectPlan &inspect = {});

/// The nested module of kernels, or null when there are none.
ModuleOp findKernels(ModuleOp module);

/// Which arguments of the model are what, as a line:
///
///   arguments: parameters blocks.* (48), wte; inputs tokens, targets
std::string describeArguments(const rt::plan::Plan &plan);

/// Where `--weights` is a checkpoint, or a folder of them: its tensors as a
/// file beside the plan, which takes its place.
rt::Status exportWeights(Options &options, const std::string &folder);

/// `llmc compile`.
rt::Status runCompile(Options options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_COMPILE_H
