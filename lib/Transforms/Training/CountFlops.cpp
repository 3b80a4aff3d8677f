//===- CountFlops.cpp - What a step of the model computes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.step @train microbatch(@m) ... microbatches(4)
//     ->
//   dist.step @train microbatch(@m) ... microbatches(4)
//       {dist.model_flops = 1.2e9 : f64}
//
// The utilisation of a model's flops compares what the model needs with what
// the machine could do (PaLM, 2204.02311, appendix B). So it is counted here,
// where no value is computed twice: before a recomputation, before padding,
// and before devices compute alike. Each op says its part
// (`OpCost::modelFlops`); the update has none.
//
// Test: test/Transforms/Training/count-flops.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Training/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_COUNTFLOPSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

/// Of a loop that the run ends, one trip.
static double countTrips(const dist::LoopRuns &loops, Operation *op) {
  double trips = 1;
  for (int run = loops.getRunOf(op); run >= 0; run = loops.getRuns()[run].in)
    if (!loops.getRuns()[run].loop.getConditional())
      trips *= double(loops.getRuns()[run].loop.getTrips());
  return trips;
}

static double countFlops(func::FuncOp function) {
  double flops = 0;
  Block &body = function.getBody().front();
  dist::LoopRuns loops(body);
  for (Operation &op : body)
    if (auto model = dyn_cast<graph::CostOpInterface>(op))
      flops += countTrips(loops, &op) * double(model.getCost().modelFlops);
  return flops;
}

/// What multiplies floats of eight bits does so at another rate than the
/// machine's.
static bool hasEightBits(Operation *step) {
  auto precision = step->getAttrOfType<TypeAttr>(DistDialect::kPrecision);
  constexpr unsigned eight = 8;
  return precision && precision.getValue().isFloat(eight);
}

namespace {
struct CountFlopsPass : llmc::impl::CountFlopsPassBase<CountFlopsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto mark = [&](Operation *op, StringRef function, double times) {
      double flops = times * countFlops(symbols.lookup<func::FuncOp>(function));
      if (flops > 0)
        op->setAttr(DistDialect::kModelFlops,
                    Builder(op).getF64FloatAttr(flops));
    };
    if (llvm::any_of(getOperation().getOps<dist::StepOp>(), hasEightBits))
      return;
    for (auto step : getOperation().getOps<dist::StepOp>())
      mark(step, step.getMicrobatch(), double(step.getMicrobatches()));
    for (auto entry : getOperation().getOps<dist::EntryOp>())
      mark(entry, entry.getFunction(), 1);
  }
};
} // namespace
