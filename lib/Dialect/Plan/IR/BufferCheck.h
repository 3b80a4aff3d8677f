//===- BufferCheck.h - Operands against their buffers -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one check that instructions and state parts share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_BUFFERCHECK_H
#define LLMC_DIALECT_PLAN_IR_BUFFERCHECK_H

#include "llmc/Dialect/Plan/IR/Plan.h"

namespace llmc::plan {

/// Verifies that the buffer exists and that the operand, its expression apart,
/// lies inside it.
llvm::LogicalResult verifyOperand(mlir::Operation *op, OperandAttr operand,
                                  mlir::SymbolTableCollection &tables);

} // namespace llmc::plan

#endif // LLMC_DIALECT_PLAN_IR_BUFFERCHECK_H
