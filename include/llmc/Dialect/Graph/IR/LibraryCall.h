//===- LibraryCall.h - What a library is called for -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LibraryCall.td.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_LIBRARYCALL_H
#define LLMC_DIALECT_GRAPH_IR_LIBRARYCALL_H

#include "llmc/Runtime/Base/Library.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"
#include <utility>

#include "llmc/Dialect/Graph/IR/LibraryCall.h.inc"

#endif // LLMC_DIALECT_GRAPH_IR_LIBRARYCALL_H
