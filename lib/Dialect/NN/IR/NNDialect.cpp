//===- NNDialect.cpp - The nn dialect -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the ops and holds their generated code.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc::nn;

#include "llmc/Dialect/NN/IR/NNDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/NN/IR/NNAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "llmc/Dialect/NN/IR/NNOps.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "llmc/Dialect/NN/IR/NNAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "llmc/Dialect/NN/IR/NNOps.cpp.inc"
      >();
}
