//===- OneRound.h - Rows combined in one round ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   variance of x, split over 2 devices
//     two rounds   mean = sum over devices / n
//                  variance = sum over devices of (x - mean)^2 / n
//     one round    s_i, M_i = sums of x, and of (x - s_i / n_i)^2, of part i
//                  gathered: s_0, M_0, s_1, M_1; the same of them on each
//                  device
//
// Test: test/Transforms/Sharding/distribute-one-round.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_ONEROUND_H
#define LLMC_DIALECT_GRAPH_IR_ONEROUND_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "llmc/Dialect/Graph/IR/OneRound.h.inc"

namespace llmc::graph {

/// The answer of an op of which `Answers` has `buildTerms(op, builder, parts,
/// terms)` and `buildJoined(op, builder, parts, terms, results)`.
template <typename Op, typename Answers>
struct OneRoundModel
    : OneRoundOpInterface::ExternalModel<OneRoundModel<Op, Answers>, Op> {
  void buildPartTerms(Operation *op, OpBuilder &builder,
                      ArrayRef<int64_t> parts,
                      SmallVectorImpl<Value> &terms) const {
    Answers::buildTerms(llvm::cast<Op>(op), builder, parts, terms);
  }
  void buildFromTerms(Operation *op, OpBuilder &builder,
                      ArrayRef<int64_t> parts, ValueRange terms,
                      SmallVectorImpl<Value> &results) const {
    Answers::buildJoined(llvm::cast<Op>(op), builder, parts, terms, results);
  }
};

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_ONEROUND_H
