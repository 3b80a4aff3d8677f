//===- Plan.h - From the plan dialect to a plan -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module of phase 8 as the structs that the runtime loads:
//
//   plan.*, dist.mesh, dist.state, dist.hyper  ->  rt::plan::Plan  ->  file
//
// The same module gives the same bytes.
//
// Test: test/EndToEnd/resume.test
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TARGET_PLAN_PLAN_H
#define LLMC_TARGET_PLAN_PLAN_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include "llmc/Support/LLVM.h"
#include <functional>
#include <string>

namespace llmc::target {

/// What the module does not say.
struct PlanOptions {
  std::string name;
  /// The tool, for the user.
  std::string producer = "llmc";
  /// What the kernels are compiled for, and who runs the plan.
  std::string target = "cpu";
  /// The object with the kernels, beside the plan: a plain file name and the
  /// hash of its bytes. "" where the module has `plan.object`, or no kernel.
  std::string objectFile;
  uint64_t objectHash = 0;
};

/// Files of initial values keep their paths. The manifest gives the object's
/// processor features; every kernel that is launched must be in it.
rt::Result<rt::plan::Plan> buildPlan(ModuleOp module,
                                     const rt::plan::Manifest &manifest,
                                     const PlanOptions &options = {});

/// Builds the plan, verifies it as a loader would, and writes it.
rt::Status writePlan(ModuleOp module, const rt::plan::Manifest &manifest,
                     const PlanOptions &options, const std::string &path);

/// How a library computes a descriptor (rt::LibraryForm), and what it needs.
struct LibraryUse {
  uint32_t form = 0;
  uint64_t workspaceBytes = 0;
};

/// Asks a runtime how its library computes what is described, on `threads`
/// threads.
using AskLibrary = std::function<rt::Result<LibraryUse>(
    const rt::LibraryDescriptor &descriptor, int32_t threads)>;

/// Between phases 7 and 8: records the form and the workspace of each
/// `plan.library` and gives it scratch. On failure an error has been emitted.
LogicalResult reserveWorkspaces(ModuleOp module, const AskLibrary &ask);

} // namespace llmc::target

#endif // LLMC_TARGET_PLAN_PLAN_H
