//===- RoundEach.cpp - Each op of bf16 rounds -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream computes ops of bf16 in f32 and allows that the rounding between two
// of them is left out. Then the bits of an op would depend on what it is fused
// with.
//
//   %b = truncf %a fastmath<contract>  ->  %b = truncf %a
//   %c = extf %b fastmath<contract>        %c = extf %b
//
// Test: test/Codegen/KernelBitsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace llmc::codegen {

namespace {
class RoundEachPass
    : public PassWrapper<RoundEachPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RoundEachPass)

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto extend = dyn_cast<arith::ExtFOp>(op))
        extend.setFastmath(arith::FastMathFlags::none);
      else if (auto round = dyn_cast<arith::TruncFOp>(op))
        round.setFastmath(arith::FastMathFlags::none);
    });
  }
};
} // namespace

std::unique_ptr<mlir::Pass> createRoundEachPass() {
  return std::make_unique<RoundEachPass>();
}

} // namespace llmc::codegen
