//===- StopGradient.h - An identity without a derivative --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the frontends: what a model's file calls `llmc.stop_gradient` (a
// composite or custom call of StableHLO, a node of the domain `llmc` in ONNX)
// becomes an identity through which phase 1 lets no derivative flow, and which
// it drops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_PROGRAM_STOPGRADIENT_H
#define LLMC_IMPORT_PROGRAM_STOPGRADIENT_H

#include "llmc/Support/LLVM.h"

namespace llmc::import {

inline constexpr llvm::StringLiteral kStopGradientName = "llmc.stop_gradient";

/// The values again, as constants of any derivative.
mlir::ValueRange stopGradient(OpBuilder &builder, Location loc,
                              mlir::ValueRange values);

} // namespace llmc::import

#endif // LLMC_IMPORT_PROGRAM_STOPGRADIENT_H
