//===- Decompose.cpp - Replace ops that have no kernel --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   nn.op … (form Decompose)          ->  the graph ops that it builds
//   reduce … (form Reduction, long)   ->  a reduction of parts, and of these
//
// What an op builds may decompose further; each round is one walk. A reduction
// says itself where it is better done in steps, and builds them.
//
// Test: test/Transforms/Kernels/decompose.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_DECOMPOSEPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

class DecomposePass : public impl::DecomposePassBase<DecomposePass> {
public:
  void runOnOperation() override {
    for (int round = 0; round < maxRounds; ++round) {
      SmallVector<graph::KernelOpInterface> ops, reductions;
      getOperation().walk([&](graph::KernelOpInterface op) {
        if (op.getKernelForm() == graph::KernelForm::Decompose)
          ops.push_back(op);
        else if (op.getKernelForm() == graph::KernelForm::Reduction)
          reductions.push_back(op);
      });
      for (graph::KernelOpInterface op : ops)
        if (failed(decompose(op))) {
          op->emitError("expected a decomposition of '")
              << op->getName() << "', got none";
          return signalPassFailure();
        }
      bool isCut = false;
      for (graph::KernelOpInterface op : reductions)
        isCut |= succeeded(decompose(op));
      if (ops.empty() && !isCut)
        return;
    }
    getOperation().emitError("expected ops to decompose in ")
        << maxRounds << " rounds, got more";
    signalPassFailure();
  }

private:
  static constexpr int maxRounds = 16;

  static LogicalResult decompose(graph::KernelOpInterface op) {
    OpBuilder builder(op);
    SmallVector<Value> results;
    if (failed(op.decompose(builder, results)))
      return failure();
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }
};

} // namespace

} // namespace llmc
