//===- LibraryTypes.h - Types and strides of a call's buffers ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls for contractions and convolutions share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_DIST_MODELS_LIBRARYTYPES_H
#define LLMC_LIB_DIALECT_DIST_MODELS_LIBRARYTYPES_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/BuiltinTypes.h"

namespace llmc::dist {

/// Of the two sides, of the result, and of the sums.
struct SumTypes {
  rt::DType side, result, accumulate;
};

/// Sums are kept in the wider of the result's and the sides' type, f32 at
/// least. On failure an error has been emitted at `op`.
FailureOr<SumTypes> getSumTypes(Operation *op, RankedTensorType side,
                                RankedTensorType result);

/// Row-major strides in elements.
SmallVector<int64_t> getStrides(RankedTensorType type);

/// Whether a bias that is added to the sums has the bits of an addition that
/// follows: it has the result's type, and sums are not rounded before.
bool canAddBias(Type side, Type result, Type bias);

} // namespace llmc::dist

#endif // LLMC_LIB_DIALECT_DIST_MODELS_LIBRARYTYPES_H
