//===- Lapack.h - Calls of LAPACK as ops ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   custom_call @lapack_spotrf_ffi(%a) {uplo}       ->   cholesky, and whether
//                                                        it has failed
//   custom_call @lapack_sgetrf_ffi(%a)              ->   lu, with rows from
//                                                        1 on, and its first
//                                                        pivot that is 0
//   custom_call @lapack_strsm_ffi(%a, %b)           ->   triangular_solve
//     {diag, side, trans_x, uplo}
//
// JAX prints these on CPUs, of f32 and f64. Attributes are the letters that
// LAPACK takes; layouts say how operands would lie in memory, which is nothing
// to llmc.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_LAPACK_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_LAPACK_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/LLVM.h"

namespace llmc::stablehlo {

/// Whether the call is of a routine that is an op.
bool isLapackOp(CustomCallOp call);

/// Builds the op of such a call. On failure an error has been emitted.
LogicalResult expandLapack(CustomCallOp call, OpBuilder &builder,
                           SmallVectorImpl<Value> &results);

/// What else to do, for the error of another routine of LAPACK; "" of a call of
/// anything else.
StringRef getLapackHint(StringRef target);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_LAPACK_H
