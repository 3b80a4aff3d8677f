//===- ExpandCallers.cpp - Ops that name functions ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A composite becomes the op of its name or a call of its decomposition, while
// the functions are still there.
//
// Test: test/Import/StableHLO/expand-calls.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// Ops of the module that are written with other ops and name a function.
static SmallVector<Operation *> findCallers(ModuleOp module) {
  SmallVector<Operation *> callers;
  module.walk([&](Operation *op) {
    if (isa<graph::ExpansionOpInterface>(op) && isa<SymbolUserOpInterface>(op))
      callers.push_back(op);
  });
  return callers;
}

rt::Status import::expandCallers(ModuleOp module) {
  FirstError error(*module.getContext());
  for (Operation *op : findCallers(module))
    if (failed(graph::settle(op)))
      return error.status(ErrorKind::internal, "an op was not expanded");
  return rt::Status::success();
}
