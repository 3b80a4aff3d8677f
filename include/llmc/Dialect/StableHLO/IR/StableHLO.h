//===- StableHLO.h - The stablehlo dialect ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect, attributes and ops of our implementation of StableHLO. Whoever
// builds ops wants Builders.h.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLO_H
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLO_H

#include "llmc/Dialect/StableHLO/IR/Window.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llmc/Dialect/StableHLO/IR/StableHLODialect.h.inc"
#include "llmc/Dialect/StableHLO/IR/StableHLOEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/StableHLO/IR/StableHLOAttributes.h.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/StableHLO/IR/StableHLOOps.h.inc"

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLO_H
