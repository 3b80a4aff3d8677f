//===- Decompose.cpp - Replace ops that have no kernel --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   nn.op … (form Decompose)  ->  the graph ops that it builds
//
// What an op builds may decompose further; each round is one walk.
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
      SmallVector<Operation *> ops;
      getOperation().walk([&](graph::KernelOpInterface op) {
        if (op.getKernelForm() == graph::KernelForm::Decompose)
          ops.push_back(op);
      });
      if (ops.empty() && round == 0)
        return markAllAnalysesPreserved();
      if (ops.empty())
        return;
      for (Operation *op : ops)
        if (failed(decompose(op)))
          return signalPassFailure();
    }
    getOperation().emitError("expected ops to decompose in ")
        << maxRounds << " rounds, got more";
    signalPassFailure();
  }

private:
  static constexpr int maxRounds = 16;

  static LogicalResult decompose(Operation *op) {
    OpBuilder builder(op);
    SmallVector<Value> results;
    if (failed(cast<graph::KernelOpInterface>(op).decompose(builder, results)))
      return op->emitError("expected a decomposition of '")
             << op->getName() << "', got none";
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }
};

} // namespace

} // namespace llmc
