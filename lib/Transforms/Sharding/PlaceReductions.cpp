//===- PlaceReductions.cpp - Where partial values are reduced -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result is partial over an axis that splits a reduced factor of its op. How
// far it stays so is a minimum cut (Solvers/Reshard/ReductionPlacement.h); this
// pass writes the partial sets into `dist.layout` and `dist.layouts`.
//
//   %a = dot ...  {dist.layouts = [[{}, {}]]}          // contracts a split dim
//   %b = add %a, %x {dist.layouts = [[{}, {}]]}
//   // becomes, where the cut lies after %a:
//   %a = dot ...  {dist.layouts = [[{}, {}] sum{"t"}]}
//   %b = add %a, %x {dist.layouts = [[{}, {}]]}        // %a reduced in between
//
// Test: test/Transforms/Sharding/place-reductions.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/ProgramPlacement.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_PLACEREDUCTIONSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct PlaceReductionsPass
    : llmc::impl::PlaceReductionsPassBase<PlaceReductionsPass> {
  void runOnOperation() override;
};
} // namespace

static void remarkOn(const PlacedReduction &placed, LayoutReshards &reshards) {
  std::string error;
  FailureOr<LayoutPlan> plan =
      reshards.plan(cast<RankedTensorType>(placed.value.getType()), placed.from,
                    placed.to, error);
  if (failed(plan) || plan->bytes == 0)
    return;
  remark::passed(placed.value.getLoc(),
                 remark::RemarkOpts::name("Reduction").category("layouts"))
      << (StringRef(nameOf(placed.kind)) + " over \"" +
          placed.axis.getName().getValue() + "\" reduced here, " +
          Twine(plan->bytes) + " B received, " + Twine(placed.times) +
          (placed.times == 1 ? " time" : " times") + " in a step")
             .str();
}

void PlaceReductionsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  FailureOr<LayoutReshards> reshards = LayoutReshards::of(*mesh);
  SmallVector<PlacedReduction> placed;
  if (failed(reshards) ||
      failed(placeProgramReductions(getOperation(), *reshards, placed)))
    return signalPassFailure();
  for (const PlacedReduction &reduction : placed)
    remarkOn(reduction, *reshards);
}
