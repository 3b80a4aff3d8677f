//===- VerifyKernels.cpp - Check what phase 7a promises -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After phase 7a programs hold launches, library calls, aliases and what moves
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
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

/// The values that a launch passes: its operands, then the results that are
/// not tied.
SmallVector<Value> getPassedValues(dist::LaunchOp launch) {
  llvm::SmallDenseSet<int64_t> tied;
  for (auto [result, operand] : launch.getTiedPairs())
    tied.insert(result);
  SmallVector<Value> values(launch.getInputs());
  for (auto [number, result] : llvm::enumerate(launch.getResults()))
    if (!tied.contains(number))
      values.push_back(result);
  return values;
}

/// A coordinate for a scalar, as many elements of the same type for memory.
bool agrees(Value value, dist::ArgumentAttr argument) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return false;
  if (argument.isScalar())
    return value.getDefiningOp<dist::CoordinateOp>() &&
           tensor.getElementType() == argument.getType();
  auto memory = cast<RankedTensorType>(argument.getType());
  return tensor.getNumElements() == memory.getNumElements() &&
         tensor.getElementType() == memory.getElementType();
}

LogicalResult verifyLaunch(ModuleOp module, SymbolTableCollection &symbols,
                           dist::LaunchOp launch) {
  auto kernel = dyn_cast_or_null<dist::KernelOp>(
      symbols.lookupSymbolIn(module, launch.getKernel()));
  if (!kernel)
    return launch.emitOpError()
           << "expected a kernel, got " << launch.getKernel();
  SmallVector<Value> values = getPassedValues(launch);
  if (kernel.getArguments().size() != values.size())
    return launch.emitOpError()
           << "expected " << kernel.getArguments().size()
           << " operands and untied results, got " << values.size();
  for (auto [value, argument] : llvm::zip(values, kernel.getArgumentRange()))
    if (!agrees(value, argument))
      return launch.emitOpError()
             << "expected the elements of " << argument.getType() << " ("
             << dist::stringifyAccess(argument.getAccess()) << "), got "
             << value.getType();
  if (launch.getScratch() != kernel.getScratch())
    return launch.emitOpError()
           << "expected the kernel's scratch of " << kernel.getScratch()
           << " bytes, got " << launch.getScratch();
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
          op->emitOpError() << "expected a launch or a library call after "
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

void buildKernelsPipeline(OpPassManager &pm, StringRef target) {
  // Conversions are kernels too.
  pm.addPass(createWidenSumsPass());
  pm.addPass(createDecomposePass());
  // Two ops of the same rows have sums in common.
  pm.addPass(createCSEPass());
  pm.addPass(createBodyConstantsPass());
  pm.addPass(createFormLibraryCallsPass());
  FormKernelsPassOptions options;
  options.target = target.str();
  pm.addPass(createFormKernelsPass(options));
  pm.addPass(createVerifyKernelsPass());
}

} // namespace llmc
