//===- Models.cpp - Answers of the dist ops of graphs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of families.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Dist/IR/Dist.h"

using namespace mlir;
using namespace llmc;

void dist::registerModels(DialectRegistry &registry) {
  registry.insert<DistDialect>();
  registerLayoutModels(registry);
  registerCollectiveModels(registry);
  registerLoopModels(registry);
  registerBatchedLoopModels(registry);
  registerRouteModels(registry);
  registerSendRowsModels(registry);
  registerLibraryCallModels(registry);
  registerArgsortCallModels(registry);
  registerAttendCallModels(registry);
  registerContractGroupsCallModels(registry);
  registerConvolveCallModels(registry);
}
