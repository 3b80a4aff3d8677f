//===- Argsort.h - What ops for orders share --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `nn.argsort` and the call of a library that it becomes, `dist.argsort`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_ARGSORT_H
#define LLMC_SUPPORT_ARGSORT_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc {

/// Keys of one shape, a flag for each of them, a dim of theirs with less than
/// 2^31 elements, and as result as many positions along it or fewer. Types are
/// compared without their encodings: layouts are the business of the rule.
LogicalResult verifyArgsort(Operation *op, mlir::ValueRange keys, int64_t dim,
                            size_t numFlags, mlir::RankedTensorType result);

} // namespace llmc

#endif // LLMC_SUPPORT_ARGSORT_H
