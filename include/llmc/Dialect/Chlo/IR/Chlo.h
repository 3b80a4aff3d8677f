//===- Chlo.h - The chlo dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect and ops of our implementation of chlo.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_CHLO_IR_CHLO_H
#define LLMC_DIALECT_CHLO_IR_CHLO_H

#include "llmc/Support/GraphTensor.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llmc/Dialect/Chlo/IR/ChloDialect.h.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Chlo/IR/ChloOps.h.inc"

#endif // LLMC_DIALECT_CHLO_IR_CHLO_H
