//===- Precision.h - Which operands may be narrow floats --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dot_general   factors 0, 1            sums and result stay f32
//   attention     factors 0, 1, 2         the result is as narrow as they are
//   transpose     moves its operand       it may carry either type
//
// Test: test/Transforms/Training/narrow.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_PRECISION_H
#define LLMC_DIALECT_GRAPH_IR_PRECISION_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"

#include "llmc/Dialect/Graph/IR/Precision.h.inc"

namespace llmc::graph {

/// The answer of an op that moves its first operand.
template <typename Op>
struct MoveModel : PrecisionOpInterface::ExternalModel<MoveModel<Op>, Op> {
  bool isMove(Operation *) const { return true; }
};

/// The answer of an op whose first operands are multiplied. Its first results
/// have their type.
template <typename Op, unsigned factors, unsigned results, bool mixes = false>
struct FactorModel : PrecisionOpInterface::ExternalModel<
                         FactorModel<Op, factors, results, mixes>, Op> {
  static SmallVector<unsigned> getFirst(unsigned count) {
    SmallVector<unsigned> numbers(count);
    for (unsigned i = 0; i < count; ++i)
      numbers[i] = i;
    return numbers;
  }
  SmallVector<unsigned> getFactors(Operation *) const {
    return getFirst(factors);
  }
  SmallVector<unsigned> getFactorResults(Operation *) const {
    return getFirst(results);
  }
  bool mixesTypes(Operation *) const { return mixes; }
};

/// The answer of a derivative of one forward value, its first operand, which
/// may be kept narrow.
template <typename Op>
struct RoundableModel
    : PrecisionOpInterface::ExternalModel<RoundableModel<Op>, Op> {
  SmallVector<unsigned> getRoundable(Operation *) const { return {0}; }
};

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_PRECISION_H
