//===- ArgsortOp.cpp - Builder and verifier of orders ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/NN/invalid-argsort.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Support/Argsort.h"

using namespace mlir;
using namespace llmc::nn;

void ArgsortOp::build(OpBuilder &builder, OperationState &state,
                      ValueRange keys, int64_t dim, int64_t count,
                      ArrayRef<bool> descending) {
  auto type = cast<RankedTensorType>(keys.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = count;
  build(builder, state, RankedTensorType::get(shape, builder.getI32Type()),
        keys, dim, descending);
}

LogicalResult ArgsortOp::verify() {
  return verifyArgsort(*this, getKeys(), getDim(), getDescending().size(),
                       getResult().getType());
}
