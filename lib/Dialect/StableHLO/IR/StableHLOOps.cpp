//===- StableHLOOps.cpp - Generated code of the stablehlo ops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing but what ODS generates: it takes longest to compile and rarely
// changes.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;

void llmc::stablehlo::StableHLODialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "llmc/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "llmc/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"
