//===- BodyConstants.cpp - Constants of bodies are their own --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that compute the same are one after CSE, also a constant of a body and an
// equal one outside of it. A kernel asks a body for its code, and knows no
// value from outside of it.
//
// Test: test/Transforms/Kernels/body-constants.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/RegionConstants.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Kernels/Passes.h"

namespace llmc {

#define GEN_PASS_DEF_BODYCONSTANTSPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

struct BodyConstantsPass : impl::BodyConstantsPassBase<BodyConstantsPass> {
  void runOnOperation() override {
    getOperation().walk([](graph::KernelOpInterface op) {
      for (mlir::Region &body : op->getRegions())
        if (!body.empty())
          takeInConstants(body);
    });
  }
};

} // namespace

} // namespace llmc
