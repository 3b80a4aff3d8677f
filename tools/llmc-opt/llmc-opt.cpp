//===- llmc-opt.cpp - The pass author's tool ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with llmc's dialects, passes and a named pipeline for each phase.
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
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "llmc/Transforms/Memory/Passes.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "llmc/Transforms/Pipeline/Passes.h"
#include "llmc/Transforms/Schedule/Passes.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  registry.insert<llmc::chlo::ChloDialect>();
  registry.insert<llmc::dist::DistDialect>();
  registry.insert<llmc::plan::PlanDialect>();
  registry.insert<llmc::nn::NNDialect>();
  registry.insert<llmc::sdy::SdyDialect>();
  registry.insert<llmc::stablehlo::StableHLODialect>();
  llmc::stablehlo::registerModels(registry);
  llmc::chlo::registerModels(registry);
  llmc::nn::registerModels(registry);
  llmc::dist::registerModels(registry);
  llmc::registerKernelsPasses();
  llmc::registerTrainingPasses();
  llmc::registerTrainingPipeline();
  llmc::registerShardingPasses();
  llmc::registerPartitionPasses();
  llmc::registerPipelinePasses();
  llmc::registerMemoryPasses();
  llmc::registerSchedulePasses();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  mlir::registerSymbolDCEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "llmc pass driver\n", registry));
}
