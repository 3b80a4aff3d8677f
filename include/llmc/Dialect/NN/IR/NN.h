//===- NN.h - The nn dialect ------------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured ops for which fusion decides speed or memory.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NN_H
#define LLMC_DIALECT_NN_IR_NN_H

#include "llmc/Support/Dropout.h"
#include "llmc/Support/GroupedDims.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llmc/Dialect/NN/IR/NNDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/NN/IR/NNAttrs.h.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/NN/IR/NNOps.h.inc"

#endif // LLMC_DIALECT_NN_IR_NN_H
