//===- Phases.h - The phases of the compiler, in order ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row for each phase after import: its name on the command line
// (`--compile-to`, `--compile-from`, `llmc-opt --llmc-phase-<name>`), what
// holds after it, and its passes. Each phase ends in its verifier.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_PHASES_PHASES_H
#define LLMC_TRANSFORMS_PHASES_PHASES_H

#include "llmc/Support/LLVM.h"
#include "mlir/Pass/PassManager.h"
#include <string>
#include <vector>

namespace llmc {

struct PhaseInfo {
  StringRef name;
  StringRef description;
  /// Null for import, which is no pass.
  void (*build)(mlir::OpPassManager &manager);
};

/// All phases in order; the first is import, the last leaves a plan.
ArrayRef<PhaseInfo> getPhases();

/// The position of the phase `name`.
std::optional<size_t> findPhase(StringRef name);

/// What the last phase takes beside the IR.
struct PlanOptions {
  /// Of a device's kernels and contractions.
  int64_t threads = 1;
  /// Of initial values and samples.
  int64_t seed = 0;
  /// Step slots that are copied to the host in each step (`grad.w`).
  std::vector<std::string> fetch;
};

/// The passes of all phases after `from` up to and including `to`.
void buildPhases(mlir::OpPassManager &manager, size_t from, size_t to,
                 const PlanOptions &options = {});

/// Dialects with their ops' answers, for tools that read or make programs.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All passes, and a named pipeline for each phase.
void registerAllPasses();

} // namespace llmc

#endif // LLMC_TRANSFORMS_PHASES_PHASES_H
