//===- Verification.h - Checks that verifiers share -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each check emits the op error itself. Sizes are those of the specification.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_IR_VERIFICATION_H
#define LLMC_LIB_DIALECT_STABLEHLO_IR_VERIFICATION_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

#include <optional>

namespace llmc::stablehlo {

/// Each of `dims` lies in [0, rank) and occurs once.
llvm::LogicalResult verifyDistinctDims(mlir::Operation *op,
                                       llvm::StringRef name,
                                       llvm::ArrayRef<int64_t> dims,
                                       int64_t rank);

/// The list `name` has `expected` entries.
llvm::LogicalResult verifyCount(mlir::Operation *op, llvm::StringRef name,
                                size_t count, size_t expected);

/// `type`, a ranked tensor, has the shape `expected`.
llvm::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what,
                                mlir::Type type,
                                llvm::ArrayRef<int64_t> expected);

/// `body`, one block, takes 2n scalars and returns n, of the n `elements` (n >
/// 0).
llvm::LogicalResult verifyScalarFunction(mlir::Operation *op,
                                         mlir::Region &body,
                                         llvm::ArrayRef<mlir::Type> elements);

/// `body`, one block, is a `what` that takes 2n scalars, two of each of the n
/// `elements` in turn, and returns one of i1.
llvm::LogicalResult verifyScalarPredicate(mlir::Operation *op,
                                          llvm::StringRef what,
                                          mlir::Region &body,
                                          llvm::ArrayRef<mlir::Type> elements);

/// Size of a legal slice: ceil((limit - start) / stride).
int64_t sliceSize(int64_t start, int64_t limit, int64_t stride);

/// Size of a padded dimension; nothing when it overflows or is negative.
std::optional<int64_t> paddedSize(int64_t size, int64_t low, int64_t high,
                                  int64_t interior);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_IR_VERIFICATION_H
