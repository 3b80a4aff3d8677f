//===- ScalarFunction.h - Functions of scalars on tensors -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparators, the bodies of windows and of `map` are written for scalars.
// Where their ops are element-wise the same function is written on tensors,
// element by element, so that it has derivative, layouts and kernels.
//
//   (x, y) { compare LT, x, y }   on tensor<4xf32>   ->   compare LT, %a, %b
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_SCALARFUNCTION_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_SCALARFUNCTION_H

#include "llmc/Support/LLVM.h"

namespace llmc::stablehlo {

/// Emits a refusal at the first op of `body`, a region of one block of an op,
/// that has no counterpart on tensors.
LogicalResult verifyElementwise(Region &body);

/// What `body`, which has been verified, returns for the elements of
/// `arguments`, tensors of `shape`: one for each of the body's. Constants stay
/// scalars, and so do values from outside: both are repeated.
SmallVector<Value> applyElementwise(Region &body, OpBuilder &b,
                                    ArrayRef<int64_t> shape,
                                    ArrayRef<Value> arguments);

/// The same of `wanted`, values of the body, in place of what it returns.
SmallVector<Value> applyElementwise(Region &body, OpBuilder &b,
                                    ArrayRef<int64_t> shape,
                                    ArrayRef<Value> arguments,
                                    ValueRange wanted);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_SCALARFUNCTION_H
