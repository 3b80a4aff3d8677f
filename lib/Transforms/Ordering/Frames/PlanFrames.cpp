//===- PlanFrames.cpp - Frames and buffers of a plan ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/make-frames.mlir
//===----------------------------------------------------------------------===//

#include "PlanFrames.h"

using namespace mlir;

namespace llmc::ordering {

FlatSymbolRefAttr makeFrame(OpBuilder &builder, PlanNames &names, Location loc,
                            const FrameShape &shape) {
  using plan::ExprAttr;
  MLIRContext *context = builder.getContext();
  ExprAttr slot;
  if (shape.slots > 1)
    slot =
        ExprAttr::getBinary(plan::ExprOp::Mod, ExprAttr::getMicrobatch(context),
                            ExprAttr::getConstant(context, shape.slots));
  IntegerAttr chunk;
  if (shape.chunk)
    chunk = builder.getI64IntegerAttr(*shape.chunk);
  DenseI64ArrayAttr stages;
  if (!shape.stages.empty())
    stages = builder.getDenseI64ArrayAttr(shape.stages);
  auto frame = plan::FrameOp::create(
      builder, loc, builder.getStringAttr(names.take(shape.name)),
      plan::FrameKindAttr::get(context, shape.kind),
      builder.getI64IntegerAttr(shape.slots), slot,
      builder.getI64IntegerAttr(1), chunk, stages, IntegerAttr(),
      IntegerAttr());
  return FlatSymbolRefAttr::get(frame.getSymNameAttr());
}

FlatSymbolRefAttr makeBuffer(OpBuilder &builder, PlanNames &names, Location loc,
                             StringRef name, FlatSymbolRefAttr frame,
                             int64_t bytes) {
  auto buffer = plan::BufferOp::create(
      builder, loc, builder.getStringAttr(names.take(name)), frame,
      builder.getI64IntegerAttr(bytes), IntegerAttr());
  return FlatSymbolRefAttr::get(buffer.getSymNameAttr());
}

} // namespace llmc::ordering
