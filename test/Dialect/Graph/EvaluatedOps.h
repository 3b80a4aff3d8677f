//===- EvaluatedOps.h - Ops with the values around them ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many tests hold one op at a time against what the interpreter gives for it,
// on values that the ops in front of it have made.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_DIALECT_GRAPH_EVALUATEDOPS_H
#define LLMC_TEST_DIALECT_GRAPH_EVALUATEDOPS_H

#include "GraphContext.h"
#include <vector>

namespace llmc::test {

struct EvaluatedOp {
  Operation *op;
  SmallVector<HostTensor> operands, results;
};

/// All ops of the function but its end, in order, on arguments drawn from
/// `seed`; fails where one cannot be evaluated.
FailureOr<std::vector<EvaluatedOp>> evaluateOps(mlir::func::FuncOp function,
                                                uint64_t seed);

/// Constants of several elements are data of a kernel, not code.
bool isTable(Operation *op);

} // namespace llmc::test

#endif // LLMC_TEST_DIALECT_GRAPH_EVALUATEDOPS_H
