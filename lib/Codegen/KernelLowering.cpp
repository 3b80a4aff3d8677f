//===- KernelLowering.cpp - Kernels to the LLVM dialect -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's conversions in one pipeline. Memrefs have one dimension and a
// static size, so each becomes a bare pointer.
//
// Test: test/Codegen/KernelObjectTest.cpp
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "DeviceOps.h"
#include "NarrowIndices.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace llmc::codegen {

static void addPasses(OpPassManager &passes, const CodeTarget &target,
                      llvm::StringMap<LaunchBounds> bounds) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createMathFunctionsPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  arith::ArithEmulateUnsupportedFloatsOptions narrow;
  narrow.sourceTypeStrs = {"bf16"};
  narrow.targetTypeStr = "f32";
  passes.addPass(arith::createArithEmulateUnsupportedFloats(narrow));
  passes.addPass(createRoundEachPass());
  passes.addPass(createSmallFloatsPass());
  passes.addPass(createExtremesPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  passes.addPass(arith::createArithExpandOpsPass(expand));
  if (target.isDevice()) {
    passes.addPass(createNarrowIndicesPass(std::move(bounds)));
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(createDeviceOpsPass(target.isOnLanes() ? DeviceOps::Lanes
                                                          : DeviceOps::Nvptx));
  }
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  passes.addPass(createConvertFuncToLLVMPass(functions));
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

FailureOr<OwningOpRef<ModuleOp>>
lowerKernels(ModuleOp kernels, llvm::function_ref<bool(StringRef)> isWanted,
             const CodeTarget &target) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(kernels.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(copy->getBody());
  // What kernels say of themselves goes into the manifest, not into code.
  for (Operation &op : *kernels.getBody())
    if (!isa<dist::KernelOp>(op) &&
        (!isWanted || isWanted(SymbolTable::getSymbolName(&op).getValue())))
      builder.clone(op);
  llvm::StringMap<LaunchBounds> bounds;
  for (auto kernel : kernels.getOps<dist::KernelOp>())
    bounds[kernel.getCode()] = LaunchBounds::of(kernel);
  PassManager passes(kernels.getContext());
  // Once at the end: after each of twenty passes it takes as long as they do.
  passes.enableVerifier(false);
  addPasses(passes, target, std::move(bounds));
  if (failed(passes.run(*copy)) || failed(verify(*copy)))
    return failure();
  return copy;
}

} // namespace llmc::codegen
