//===- StateBuffers.cpp - What devices hold of states ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/StateBuffers.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

StateBuffers::StateBuffers(Operation *module) {
  if (!module)
    return;
  for (Region &region : module->getRegions())
    for (auto buffer : region.getOps<BufferOp>())
      buffers[buffer.getOfAttr().getAttr()] = buffer;
}

BufferOp dist::createBuffer(OpBuilder &builder, Location loc, StateOp state,
                            RankedTensorType type, ArrayRef<Attribute> boxes) {
  return BufferOp::create(builder, loc,
                          builder.getStringAttr(state.getSymName() + ".local"),
                          FlatSymbolRefAttr::get(state.getSymNameAttr()),
                          TypeAttr::get(type), builder.getArrayAttr(boxes));
}
