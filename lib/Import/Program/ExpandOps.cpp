//===- ExpandOps.cpp - Ops that are written with other ops ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop, a convolution or random bits become ops that have all five answers.
// What an expansion builds is expanded in turn, and integers that are known are
// computed before the next op is looked at, since an expansion may ask for them
// (the bound of a loop, the index of a case).
//
//   %r = stablehlo.while(%i = %c0, %x = %a) ...  ->  the body, once for each
//   trip
//
// Test: test/Import/StableHLO/expand-ops.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/ExpandOps.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/FirstError.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

static LogicalResult expandIn(Block &block) {
  for (Operation *op = &block.front(); op;) {
    FailureOr<Operation *> next = graph::settle(op);
    if (failed(next))
      return failure();
    op = *next;
  }
  return success();
}

void import::unrollLoops(func::FuncOp main) {
  main.walk([&](stablehlo::WhileOp loop) {
    loop->setAttr(dist::DistDialect::kUnroll, UnitAttr::get(loop.getContext()));
  });
}

rt::Status import::expandOps(func::FuncOp main) {
  FirstError error(*main.getContext());
  if (failed(expandIn(main.getBody().front())))
    return error.status(ErrorKind::internal, "an op was not expanded");
  dist::closeLeaves(main.getBody().front());
  return rt::Status::success();
}
