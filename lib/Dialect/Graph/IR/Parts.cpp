//===- Parts.cpp - Parts of what is put together of parts -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Parts.h. Test: test/Transforms/Training/split-contractions.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Parts.h"

namespace llmc::graph {
#include "llmc/Dialect/Graph/IR/Parts.cpp.inc"
} // namespace llmc::graph
