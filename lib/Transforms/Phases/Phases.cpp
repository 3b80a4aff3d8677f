//===- Phases.cpp - The phases of the compiler, in order ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Phases/Phases.h"
#include "llmc/Transforms/Activations/Passes.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "llmc/Transforms/Scheduling/Passes.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llmc/Transforms/Training/Passes.h"

using namespace llmc;

/// Phase 7b with default options; see `buildPhases`.
static void buildDefaultOrderPipeline(mlir::OpPassManager &manager) {
  buildOrderPipeline(manager);
}

/// Phase 7a for what the program names.
static void buildDefaultKernelsPipeline(mlir::OpPassManager &manager) {
  buildKernelsPipeline(manager);
}

static const PhaseInfo phases[] = {
    {"import", "graph ops on global tensors, states, roles", nullptr},
    {"training", "a function for a microbatch and one for the update",
     buildTrainingPipeline},
    {"layouts", "a chunk for every block, a layout for every value",
     buildLayoutPipeline},
    {"materialized", "layouts in the types, collectives",
     buildMaterializePipeline},
    {"local", "local shapes, every op in the segment of its chunk and phase",
     buildPartitionPipeline},
    {"scheduled", "a checked table for every step and entry",
     buildSchedulePipeline},
    {"memory", "a function for each chunk and phase, over slots",
     buildMemoryPipeline},
    {"kernels", "fused kernels and library calls", buildDefaultKernelsPipeline},
    {"ordered", "instructions on streams, with signals and waits",
     buildDefaultOrderPipeline},
    {"plan", "every buffer in its place", buildPlacesPipeline},
};

ArrayRef<PhaseInfo> llmc::getPhases() { return phases; }

std::optional<size_t> llmc::findPhase(StringRef name) {
  for (auto [i, phase] : llvm::enumerate(getPhases()))
    if (phase.name == name)
      return i;
  return std::nullopt;
}

void llmc::buildPhases(mlir::OpPassManager &manager, size_t from, size_t to,
                       const PlanOptions &options) {
  for (size_t i = from + 1; i <= to; ++i) {
    if (getPhases()[i].build != buildDefaultOrderPipeline) {
      getPhases()[i].build(manager);
      continue;
    }
    MakeFramesPassOptions order;
    order.threads = options.threads;
    order.seed = options.seed;
    for (const std::string &name : options.fetch)
      order.fetch.push_back(name);
    buildOrderPipeline(manager, order);
  }
}
