//===- Extremes.cpp - The greater and the lesser float --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   arith.maximumf %x, %y : vector<16xf32>  ->  llvm.intr.maximum(%x, %y)
//
// Both keep a NaN and know that 0 is above -0. Upstream's expansion by compare
// and select, which would come next, knows the NaN alone.
//
// Test: test/Codegen/KernelFormsTest.cpp, test/EndToEnd/semantics.test
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace llmc::codegen {

namespace {
class ExtremesPass : public PassWrapper<ExtremesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExtremesPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto greater = dyn_cast<arith::MaximumFOp>(op))
        replace<LLVM::MaximumOp>(greater);
      else if (auto lesser = dyn_cast<arith::MinimumFOp>(op))
        replace<LLVM::MinimumOp>(lesser);
    });
  }

private:
  template <typename Intrinsic, typename Op> static void replace(Op op) {
    OpBuilder builder(op);
    Value result =
        Intrinsic::create(builder, op.getLoc(), op.getLhs(), op.getRhs());
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
};
} // namespace

std::unique_ptr<mlir::Pass> createExtremesPass() {
  return std::make_unique<ExtremesPass>();
}

} // namespace llmc::codegen
