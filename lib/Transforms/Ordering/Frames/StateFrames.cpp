//===- StateFrames.cpp - Frames, buffers and parts of states --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.buffer @W.local : tensor<4x6xf32> holds [<@W.1, #w, [0, 2]>]
//   plan.buffer @state.W.local in @state bytes(96)
//   plan.part of @W origin([0, 4]) shape([4, 4]) layout(#w)
//       place(<@state.W.local, [4, 2], f32, offset = 8, strides = [6, 1]>)
//
// Test: test/Transforms/Ordering/make-frames.mlir
//===----------------------------------------------------------------------===//

#include "StateFrames.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;

namespace llmc::ordering {

/// The stages at which a buffer's boxes live; empty: all.
static SmallVector<int64_t> getStages(dist::BufferOp buffer,
                                      dist::MeshOp mesh) {
  SmallVector<int64_t> stages;
  if (!mesh.getPipeline())
    return stages;
  for (auto box : buffer.getBoxes().getAsRange<dist::BoxAttr>()) {
    ArrayRef<int64_t> pin = box.getLayout().getPin(*mesh.getPipeline());
    if (pin.empty())
      return {};
    llvm::append_range(stages, pin);
  }
  llvm::sort(stages);
  stages.erase(llvm::unique(stages), stages.end());
  if (static_cast<int64_t>(stages.size()) ==
      mesh.getAxes().getSize(*mesh.getPipeline()))
    return {};
  return stages;
}

FailureOr<plan::OperandAttr>
getBoxOperand(Location loc, FlatSymbolRefAttr buffer, RankedTensorType type,
              dist::BoxAttr box, ArrayRef<int64_t> shape, dist::MeshOp mesh) {
  Builder builder(loc.getContext());
  SmallVector<int64_t> local =
      box.getLayout().getLocalShape(shape, mesh.getAxes());
  SmallVector<int64_t> steps(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    steps[d - 1] = steps[d] * type.getDimSize(d);
  int64_t offset = 0;
  for (auto [at, step] : llvm::zip(box.getOffsets().asArrayRef(), steps))
    offset += at * step;
  FailureOr<int64_t> element =
      getBytes(loc, RankedTensorType::get({}, type.getElementType()));
  if (failed(element))
    return failure();
  // Strides that are the box's own are left out.
  DenseI64ArrayAttr strides;
  if (type.getShape() != ArrayRef(local))
    strides = builder.getDenseI64ArrayAttr(steps);
  return plan::OperandAttr::get(
      loc.getContext(), buffer, builder.getDenseI64ArrayAttr(local),
      type.getElementType(), offset * *element, strides, plan::ExprAttr());
}

static LogicalResult makePart(OpBuilder &builder, SymbolTableCollection &tables,
                              dist::BufferOp buffer, dist::BoxAttr box,
                              dist::MeshOp mesh, FlatSymbolRefAttr place) {
  auto state =
      tables.lookupNearestSymbolFrom<dist::StateOp>(buffer, box.getState());
  ArrayRef<int64_t> shape = state.getTensorType().getShape();
  FlatSymbolRefAttr whole = box.getState();
  SmallVector<int64_t> origin(shape.size(), 0);
  if (state.isPart()) {
    whole = state.getPartOfAttr();
    if (!isSeeded(Fault::partOriginIsForgotten))
      origin.assign(state.getBoxOffsets()->begin(),
                    state.getBoxOffsets()->end());
  }
  FailureOr<plan::OperandAttr> operand = getBoxOperand(
      buffer.getLoc(), place, buffer.getTensorType(), box, shape, mesh);
  if (failed(operand))
    return failure();
  DenseI64ArrayAttr stages;
  if (mesh.getPipeline())
    if (ArrayRef<int64_t> pin = box.getLayout().getPin(*mesh.getPipeline());
        !pin.empty())
      stages = builder.getDenseI64ArrayAttr(pin);
  plan::PartOp::create(
      builder, buffer.getLoc(), whole, builder.getDenseI64ArrayAttr(origin),
      builder.getDenseI64ArrayAttr(shape), box.getLayout(), stages, *operand);
  return success();
}

FailureOr<std::map<std::string, FlatSymbolRefAttr>>
makeStateFrames(OpBuilder &builder, PlanNames &names, ModuleOp module,
                dist::MeshOp mesh) {
  SymbolTableCollection tables;
  std::map<std::string, FlatSymbolRefAttr> states;
  std::map<SmallVector<int64_t>, FlatSymbolRefAttr> frames;
  for (auto buffer : module.getOps<dist::BufferOp>()) {
    SmallVector<int64_t> stages = getStages(buffer, mesh);
    FlatSymbolRefAttr &frame = frames[stages];
    if (!frame) {
      FrameShape shape{"state", plan::FrameKind::State, stages, 1, {}};
      for (int64_t stage : stages)
        shape.name += ".s" + std::to_string(stage);
      frame = makeFrame(builder, names, buffer.getLoc(), shape);
    }
    FailureOr<int64_t> bytes =
        getBytes(buffer.getLoc(), buffer.getTensorType());
    if (failed(bytes))
      return failure();
    FlatSymbolRefAttr symbol = makeBuffer(
        builder, names, buffer.getLoc(),
        (frame.getValue() + "." + buffer.getSymName()).str(), frame, *bytes);
    states[buffer.getSymName().str()] = symbol;
    for (auto box : buffer.getBoxes().getAsRange<dist::BoxAttr>())
      if (failed(makePart(builder, tables, buffer, box, mesh, symbol)))
        return failure();
  }
  return states;
}

} // namespace llmc::ordering
