//===- Precision.cpp - Which operands may be narrow floats ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Precision.h. Test: test/Transforms/Training/narrow.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Precision.h"

namespace llmc::graph {
#include "llmc/Dialect/Graph/IR/Precision.cpp.inc"
} // namespace llmc::graph
