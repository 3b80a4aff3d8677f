//===- PlanTarget.cpp - From the plan dialect to a plan -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "PlanExport.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

using namespace mlir;

namespace llmc::target {

std::string describeLocation(Location loc) {
  std::string name, place;
  loc->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    if (auto file = dyn_cast<FileLineColLoc>(inner); file && place.empty())
      place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) +
               ":" + Twine(file.getColumn()))
                  .str();
    return WalkResult::advance();
  });
  if (name.empty() || place.empty())
    return name + place;
  return name + " (" + place + ")";
}

rt::Error errorAt(Operation *op, const Twine &message) {
  rt::Error error;
  error.kind = rt::ErrorKind::internal;
  std::string place = describeLocation(op->getLoc());
  error.message = (op->getName().getStringRef() + ": " + message +
                   (place.empty() ? "" : " at " + place))
                      .str();
  return error;
}

rt::Result<rt::plan::Plan> PlanExport::run() {
  plan.name = options.name;
  plan.producer = options.producer;
  plan.target = options.target;
  // Tables first, so that every symbol has its index.
  LLMC_TRY(exportMesh());
  LLMC_TRY(exportDevice());
  LLMC_TRY(exportFrames());
  LLMC_TRY(exportKernels());
  LLMC_TRY(exportStates());
  LLMC_TRY(exportPrograms());
  LLMC_TRY(exportEntries());
  return std::move(plan);
}

rt::Result<rt::plan::Plan> buildPlan(ModuleOp module,
                                     const rt::plan::Manifest &manifest,
                                     const PlanOptions &options) {
  return PlanExport(module, manifest, options).run();
}

rt::Status writePlan(ModuleOp module, const rt::plan::Manifest &manifest,
                     const PlanOptions &options, const std::string &path) {
  LLMC_TRY_ASSIGN(rt::plan::Plan plan, buildPlan(module, manifest, options));
  rt::plan::Environment environment;
  environment.manifest = &manifest;
  environment.features = manifest.features;
  if (rt::Status status = rt::plan::verifyPlan(plan, environment); !status)
    return rt::makeError(rt::ErrorKind::internal,
                         "the compiler made a plan that loaders refuse: " +
                             rt::describe(status.error()));
  return rt::plan::writePlan(plan, path);
}

} // namespace llmc::target
