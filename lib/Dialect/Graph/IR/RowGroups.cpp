//===- RowGroups.cpp - Ops on groups of rows ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RowGroups.h.
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/RowGroups.h"

#include "llmc/Dialect/Graph/IR/RowGroups.cpp.inc"
