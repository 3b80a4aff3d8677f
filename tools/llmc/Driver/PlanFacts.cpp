//===- PlanFacts.cpp - What is known of a plan before it is written -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanFacts.h"
#include "Compile.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"
#include "llmc/Target/Plan/Plan.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::plan::FrameKind;

int64_t PlanFacts::getFullestStage() const {
  return std::max_element(plan.arenas.begin(), plan.arenas.end()) -
         plan.arenas.begin();
}

int64_t PlanFacts::getMostBytes() const {
  return plan.arenas.empty() ? 0 : plan.arenas[getFullestStage()];
}

const rt::plan::Entry *PlanFacts::findEntry(const std::string &name) const {
  for (const rt::plan::Entry &entry : plan.entries)
    if (entry.name == name)
      return &entry;
  return plan.entries.empty() ? nullptr : &plan.entries.front();
}

rt::Result<PlanFacts> driver::readFacts(ModuleOp module,
                                        const Options &options) {
  rt::plan::Manifest manifest;
  target::PlanOptions planOptions;
  planOptions.name = module.getSymName().value_or("plan").str();
  planOptions.target = dist::getTargetName(module).str();
  if (ModuleOp kernels = findKernels(module)) {
    FirstError error(*module.getContext());
    FailureOr<rt::plan::Manifest> made = codegen::getManifest(kernels);
    if (failed(made))
      return blame(error.status(rt::ErrorKind::internal, "no manifest"), error,
                   "phase plan", options);
    manifest = *made;
    planOptions.objectFile = "kernels.so";
  }
  PlanFacts facts;
  LLMC_TRY_ASSIGN(facts.plan, target::buildPlan(module, manifest, planOptions));
  const rt::plan::Entry *entry = facts.findEntry(options.entry);
  if (entry && rt::plan::isMachineKnown(facts.plan)) {
    // A step of too many instructions runs, but is not worked out.
    auto step = rt::plan::planStep(facts.plan, *entry);
    if (step)
      facts.time = std::move(*step);
  }
  if (entry)
    for (int64_t stage = 0; stage < facts.plan.mesh.numStages(); ++stage)
      facts.operations = std::max(facts.operations,
                                  rt::plan::workOf(facts.plan, *entry, stage));
  return facts;
}

std::string driver::showBytes(int64_t bytes) {
  auto count = static_cast<uint64_t>(bytes);
  return rt::printCount(count) + " B (" + rt::printBytes(count) + ")";
}

std::string driver::showTime(const PlanFacts &facts) {
  constexpr double milli = 1e3;
  return facts.time
             ? llvm::formatv("{0:f3} ms a step", milli * facts.time->seconds)
                   .str()
             : llvm::formatv("{0:e3} operations a step", facts.operations)
                   .str();
}

/// What a kind of frame holds, for somebody who sees its name first.
static StringRef explainKind(FrameKind kind) {
  switch (kind) {
  case FrameKind::state:
    return "parameters, optimizer states, what else lives across steps";
  case FrameKind::hyper:
    return "scalars of the step";
  case FrameKind::step:
    return "gradients and sums of a step";
  case FrameKind::act:
    return "what the forward keeps for the backward";
  case FrameKind::bnd:
    return "messages between stages";
  case FrameKind::input:
    return "data of microbatches";
  case FrameKind::tmp:
    return "values within a program";
  case FrameKind::scratch:
    return "workspace of libraries and kernels";
  }
  return "";
}

std::string driver::describeKinds(const rt::plan::Plan &plan, int64_t stage) {
  rt::plan::MemoryReport report = rt::plan::memoryOf(plan, stage);
  std::string text;
  auto add = [&](StringRef name, int64_t bytes, StringRef what) {
    text += llvm::formatv("  {0,-10} {1,18} B  {2}", name,
                          rt::printCount(static_cast<uint64_t>(bytes)), what)
                .str() +
            "\n";
  };
  for (int kind = 0; kind < rt::plan::numFrameKinds; ++kind)
    if (report.bytes[kind] > 0) {
      auto name = rt::plan::nameOf(static_cast<FrameKind>(kind));
      add(StringRef(name.data(), name.size()), report.bytes[kind],
          explainKind(static_cast<FrameKind>(kind)));
    }
  add("in all", report.total, "frames that never live at once share places");
  return text;
}
