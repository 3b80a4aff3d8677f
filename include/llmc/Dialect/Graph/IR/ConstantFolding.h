//===- ConstantFolding.h - Integers that are known at import ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters of loops, indices of cases and sizes are arithmetic on constants.
// Floats are left alone: kernels compute them, with the roundings of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_CONSTANTFOLDING_H
#define LLMC_DIALECT_GRAPH_IR_CONSTANTFOLDING_H

#include "llmc/Support/HostTensor.h"
#include "llmc/Support/LLVM.h"
#include <optional>
#include <string>

namespace llmc::graph {

/// Operands of more elements than this are not computed with at import.
constexpr int64_t kMostFoldedElements = 64;

/// Replaces `op` by constants and erases it, where its operands are constants
/// of few elements, its results are integers or booleans, no more of them, and
/// it has an evaluation. Returns whether it did. Not for ops with regions.
bool foldIntegers(Operation *op);

/// The results of `op` on operands that are given; false where its evaluation
/// asks for more, or there is none.
bool computePure(Operation *op, ArrayRef<HostTensor> operands,
                 SmallVectorImpl<HostTensor> &results);

/// The value of a constant that memory holds.
std::optional<HostTensor> getConstant(Value value);

/// Why `value` is not a constant, to complete "... that depends on": the first
/// argument that it comes from, or an op that import does not compute.
std::string describeUnknown(Value value);

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_CONSTANTFOLDING_H
