//===- Sdy.h - The sdy dialect ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect, attributes and ops of our subset of Shardy.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_SDY_IR_SDY_H
#define LLMC_DIALECT_SDY_IR_SDY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "llmc/Dialect/Sdy/IR/SdyDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Sdy/IR/SdyAttributes.h.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Sdy/IR/SdyOps.h.inc"

#endif // LLMC_DIALECT_SDY_IR_SDY_H
