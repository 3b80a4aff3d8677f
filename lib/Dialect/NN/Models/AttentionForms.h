//===- AttentionForms.h - Attention in global ops ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention and its gradient mean in `stablehlo`: the form of split
// columns or depths, and of what no library is called for.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_NN_MODELS_ATTENTIONFORMS_H
#define LLMC_LIB_DIALECT_NN_MODELS_ATTENTIONFORMS_H

#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Support/LLVM.h"

namespace llmc::nn {

inline RankedTensorType getTensorType(Value value) {
  return mlir::cast<RankedTensorType>(value.getType());
}

/// Result and logsumexp. `indices` are, where dropout has a stride along a dim
/// of the scores, the positions of their elements in the whole, of rank 1;
/// those of a whole where null.
void buildAttention(AttentionOp op, OpBuilder &b,
                    SmallVectorImpl<Value> &results,
                    ArrayRef<Value> indices = {});

/// Cotangents of query, key and value.
void buildAttentionGrad(AttentionGradOp op, OpBuilder &b,
                        SmallVectorImpl<Value> &results,
                        ArrayRef<Value> indices = {});

/// The cotangent of the bias, from delta and the cotangent of the result.
Value buildBiasCotangent(AttentionOp op, OpBuilder &b, Value delta,
                         Value cotangent);

} // namespace llmc::nn

#endif // LLMC_LIB_DIALECT_NN_MODELS_ATTENTIONFORMS_H
