//===- ApproximateTopK.h - The best k as JAX approximates them --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   custom_call @ApproxTopK(%x, %positions, ...)
//     {top_k, reduction_dim, aggregate_to_topk}     ->   nn.argsort %x, and
//                                                        both gathered
//
// `lax.approx_max_k` and `approx_min_k` ask for a recall of at least their
// target: the k best in order have one of 1.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_APPROXIMATETOPK_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_APPROXIMATETOPK_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/LLVM.h"

namespace llmc::stablehlo {

bool isApproximateTopK(CustomCallOp call);

/// Builds what such a call computes. On failure an error has been emitted.
LogicalResult expandApproximateTopK(CustomCallOp call, OpBuilder &builder,
                                    SmallVectorImpl<Value> &results);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_APPROXIMATETOPK_H
