//===- Models.cpp - The five answers of the nn ops ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of families.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace llmc;

void nn::registerModels(DialectRegistry &registry) {
  registry.insert<NNDialect>();
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    context->loadDialect<stablehlo::StableHLODialect>();
  });
  registerArgsortModels(registry);
  registerAttentionModels(registry);
  registerBatchNormModels(registry);
  registerCrossEntropyModels(registry);
  registerGroupedDotModels(registry);
  registerGroupedDotMembers(registry);
  registerLogSumExpModels(registry);
  registerNormModels(registry);
  registerActivationModels(registry);
  registerQuantizeModels(registry);
  registerRotaryModels(registry);
  registerSoftmaxModels(registry);
}
