//===- PlanDialect.cpp - The plan dialect ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers attributes and ops and holds the ops' generated code.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Plan/IR/Plan.h"

using namespace mlir;
using namespace llmc::plan;

#include "llmc/Dialect/Plan/IR/PlanAttrInterfaces.cpp.inc"
#include "llmc/Dialect/Plan/IR/PlanDialect.cpp.inc"
#include "llmc/Dialect/Plan/IR/PlanInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/Plan/IR/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "llmc/Dialect/Plan/IR/PlanOps.cpp.inc"
      >();
}
