//===- TopK.cpp - The expansion of top_k ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k greatest elements along the last dim and where they stand, in falling
// order, equal ones as they stand. Floats are in total order, as by XLA: a NaN
// without sign is the greatest, and 0 is above -0.
//
// Test: test/EndToEnd/sorting.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/Sorting.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;

namespace {
struct TopKExpansion
    : graph::ExpansionOpInterface::ExternalModel<TopKExpansion, TopKOp> {
  LogicalResult expand(Operation *op, OpBuilder &b,
                       SmallVectorImpl<Value> &results) const {
    auto topK = cast<TopKOp>(op);
    Value x = topK.getOperand();
    auto type = cast<RankedTensorType>(x.getType());
    int64_t dim = type.getRank() - 1;
    Value key = stablehlo::buildOrderKey(b, op->getLoc(), x);
    Value order = nn::ArgsortOp::create(b, op->getLoc(), ValueRange(key), dim,
                                        topK.getK(), /*descending=*/{true});
    results.push_back(stablehlo::gatherAlong(b, op->getLoc(), x, order, dim));
    results.push_back(order);
    return success();
  }
};
} // namespace

void chlo::registerTopKModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    context->loadDialect<nn::NNDialect>();
    TopKOp::attachInterface<TopKExpansion>(*context);
  });
}
