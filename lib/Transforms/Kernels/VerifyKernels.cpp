//===- VerifyKernels.cpp - Check what phase 7a promises -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After phase 7a programs hold launches, contractions, aliases and what moves
// data; each launch agrees with its kernel.
//
// Test: test/Transforms/Kernels/verify-kernels.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

LogicalResult verifyLaunch(ModuleOp module, SymbolTableCollection &symbols,
                           dist::LaunchOp launch) {
  auto kernel = dyn_cast_or_null<func::FuncOp>(
      symbols.lookupSymbolIn(module, launch.getKernel()));
  if (!kernel || !kernel->hasAttr("llmc.kernel"))
    return launch.emitOpError()
           << "expected a kernel, got " << launch.getKernel();
  llvm::SmallDenseSet<int64_t> tied;
  for (auto [result, operand] : launch.getTiedPairs())
    tied.insert(result);
  SmallVector<Value> arguments(launch.getInputs());
  for (auto [number, result] : llvm::enumerate(launch.getResults()))
    if (!tied.contains(number))
      arguments.push_back(result);
  // Begin, end and scratch follow the arguments.
  if (kernel.getNumArguments() != arguments.size() + 3)
    return launch.emitOpError()
           << "expected " << kernel.getNumArguments() - 3
           << " operands and untied results, got " << arguments.size();
  for (auto [argument, type] :
       llvm::zip(arguments, kernel.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (type.isIndex() && argument.getDefiningOp<dist::CoordinateOp>())
      continue;
    if (!tensor || type.isIndex() ||
        tensor.getNumElements() != cast<MemRefType>(type).getNumElements())
      return launch.emitOpError() << "expected the elements of " << type
                                  << ", got " << argument.getType();
  }
  return success();
}

class VerifyKernelsPass
    : public impl::VerifyKernelsPassBase<VerifyKernelsPass> {
public:
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    bool failed = false;
    SymbolTableCollection symbols;
    for (auto function : module.getOps<func::FuncOp>()) {
      function.walk([&](Operation *op) {
        auto kernel = dyn_cast<graph::KernelOpInterface>(op);
        if (kernel && kernel.getKernelForm() != graph::KernelForm::Alias) {
          op->emitOpError() << "expected a launch or a contraction after "
                               "kernels are formed";
          failed = true;
        }
        if (auto launch = dyn_cast<dist::LaunchOp>(op))
          failed |= mlir::failed(verifyLaunch(module, symbols, launch));
      });
    }
    if (failed)
      signalPassFailure();
  }
};

} // namespace

void buildKernelsPipeline(OpPassManager &pm) {
  pm.addPass(createDecomposePass());
  pm.addPass(createFormContractionsPass());
  pm.addPass(createFormKernelsPass());
  pm.addPass(createVerifyKernelsPass());
}

} // namespace llmc
