//===- Combination.cpp - Ops that combine elements ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Combination.h.
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Combination.h"

#include "llmc/Dialect/Graph/IR/Combination.cpp.inc"
