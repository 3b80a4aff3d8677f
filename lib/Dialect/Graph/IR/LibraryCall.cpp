//===- LibraryCall.cpp - What a library is called for ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated code of the interface.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/LibraryCall.h"

#include "llmc/Dialect/Graph/IR/LibraryCall.cpp.inc"
