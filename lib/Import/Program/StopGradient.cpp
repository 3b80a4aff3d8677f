//===- StopGradient.cpp - An identity without a derivative ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/StopGradient.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace llmc;

ValueRange import::stopGradient(OpBuilder &builder, Location loc,
                                ValueRange values) {
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, loc, values.getTypes(), values);
  auto all = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(values.size())));
  barrier->setAttr(dist::DistDialect::kStopGradient,
                   builder.getDenseI64ArrayAttr(all));
  return barrier->getResults();
}
