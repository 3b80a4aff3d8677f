//===- ArgsortOp.cpp - The verifier of orders by a library ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/Dist/{schedule,invalid-argsort}.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/Argsort.h"

using namespace mlir;
using namespace llmc::dist;

LogicalResult ArgsortOp::verify() {
  return verifyArgsort(*this, getKeys(), getDim(), getDescending().size(),
                       getResult().getType());
}
