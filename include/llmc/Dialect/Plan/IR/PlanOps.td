//===- PlanOps.td - All of the plan dialect ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the generator reads; each theme has its own file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_PLANOPS
#define LLMC_DIALECT_PLAN_IR_PLANOPS

include "llmc/Dialect/Plan/IR/PlanAttrs.td"
include "llmc/Dialect/Plan/IR/PlanInstructionOps.td"
include "llmc/Dialect/Plan/IR/PlanTableOps.td"

#endif // LLMC_DIALECT_PLAN_IR_PLANOPS
