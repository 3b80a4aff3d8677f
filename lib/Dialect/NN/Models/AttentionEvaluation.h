//===- AttentionEvaluation.h - Attention by plain loops ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle: row by row, in double, rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_NN_MODELS_ATTENTIONEVALUATION_H
#define LLMC_LIB_DIALECT_NN_MODELS_ATTENTIONEVALUATION_H

#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Support/HostTensor.h"

namespace llmc::nn {

/// Appends result and logsumexp.
void evaluateAttention(AttentionOp op, ArrayRef<HostTensor> operands,
                       SmallVectorImpl<HostTensor> &results);

/// Appends the cotangents of query, key and value.
void evaluateAttentionGrad(AttentionGradOp op, ArrayRef<HostTensor> operands,
                           SmallVectorImpl<HostTensor> &results);

} // namespace llmc::nn

#endif // LLMC_LIB_DIALECT_NN_MODELS_ATTENTIONEVALUATION_H
