//===- ExpandReshards.cpp - Changes of layout become collectives ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Sharding/expand-reshards.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_EXPANDRESHARDSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct ExpandReshardsPass
    : llmc::impl::ExpandReshardsPassBase<ExpandReshardsPass> {
  void runOnOperation() override;
};
} // namespace

void ExpandReshardsPass::runOnOperation() {
  WalkResult walk = getOperation().walk([](dist::ReshardOp op) {
    if (op.getInput().getType() != op.getResult().getType()) {
      op.emitOpError() << "expected equal layouts, got "
                       << op.getInput().getType() << " and "
                       << op.getResult().getType()
                       << ": moving data between devices is not supported yet";
      return WalkResult::interrupt();
    }
    op.getResult().replaceAllUsesWith(op.getInput());
    op.erase();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    signalPassFailure();
}
