//===- LaunchMarks.h - What a launch stands for -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mark of `dist.launch`, and of the `plan.kernel` that it becomes, from
// kernels formed in place of a library (phase 7) for those who predict times:
// ordering and the plan.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_LAUNCHMARKS_H
#define LLMC_DIALECT_DIST_IR_LAUNCHMARKS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace llmc::dist {

/// An f64 of at least 0: floating-point operations of the library's call that
/// the launch stands in place of, or its part of them where one call is several
/// launches (llmc/Runtime/Base/LibraryCost.h).
inline constexpr llvm::StringLiteral kOperations = "dist.operations";

/// 0 where the op has no such mark.
inline double getOperations(mlir::Operation *op) {
  auto operations = op->getAttrOfType<mlir::FloatAttr>(kOperations);
  return operations ? operations.getValueAsDouble() : 0;
}

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_LAUNCHMARKS_H
