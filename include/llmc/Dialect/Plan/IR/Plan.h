//===- Plan.h - The plan dialect --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution plan in the IR, one to one with the runtime's structs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_PLAN_H
#define LLMC_DIALECT_PLAN_IR_PLAN_H

#include "llmc/Dialect/Plan/IR/Cell.h"
#include "llmc/Runtime/Base/Library.h"
#include "llmc/Support/Dropout.h"
#include "llmc/Support/NamedKind.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include <optional>

#include "llmc/Dialect/Plan/IR/PlanAttrInterfaces.h.inc"
#include "llmc/Dialect/Plan/IR/PlanDialect.h.inc"
#include "llmc/Dialect/Plan/IR/PlanEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Plan/IR/PlanAttrs.h.inc"

namespace llmc::plan {
/// One operand of an instruction.
struct OperandUse {
  OperandAttr operand;
  Access access = Access::Read;
};

/// The attribute of a descriptor; it has not the types of the operands.
LibraryDescriptorInterface
getDescriptorAttr(mlir::MLIRContext *context,
                  const rt::LibraryDescriptor &descriptor);
} // namespace llmc::plan

#include "llmc/Dialect/Plan/IR/PlanInterfaces.h.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Plan/IR/PlanOps.h.inc"

namespace llmc::plan {
/// The program that a call or loop runs; null for other instructions.
mlir::FlatSymbolRefAttr getCallee(mlir::Operation *op);
} // namespace llmc::plan

#endif // LLMC_DIALECT_PLAN_IR_PLAN_H
