//===- OneRound.cpp - Rows combined in one round --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OneRound.h. Test: test/Transforms/Sharding/distribute-one-round.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/OneRound.h"

namespace llmc::graph {
#include "llmc/Dialect/Graph/IR/OneRound.cpp.inc"
} // namespace llmc::graph
