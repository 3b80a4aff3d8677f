//===- Registration.cpp - All dialects, answers and passes ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "llmc/Dialect/Sdy/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Transforms/Activations/Passes.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llmc/Transforms/Scheduling/Passes.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace llmc;

void llmc::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::NVVM::NVVMDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
  registry.insert<chlo::ChloDialect, dist::DistDialect, nn::NNDialect,
                  plan::PlanDialect, sdy::SdyDialect,
                  stablehlo::StableHLODialect>();
  stablehlo::registerModels(registry);
  chlo::registerModels(registry);
  nn::registerModels(registry);
  dist::registerModels(registry);
  sdy::registerModels(registry);
}

void llmc::registerAllPasses() {
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  mlir::registerSymbolDCEPass();
  registerTrainingPasses();
  registerTrainingPipeline();
  registerShardingPasses();
  registerPartitionPasses();
  registerSchedulingPasses();
  registerActivationsPasses();
  registerKernelsPasses();
  registerOrderingPasses();
  for (const PhaseInfo &phase : getPhases())
    if (phase.build)
      mlir::registerPassPipeline(
          "llmc-phase-" + phase.name.str(), phase.description,
          [build =
               phase.build](mlir::OpPassManager &manager, StringRef,
                            function_ref<LogicalResult(const llvm::Twine &)>) {
            build(manager);
            return llvm::success();
          },
          [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}
