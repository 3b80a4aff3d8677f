//===- Stages.cpp - Values between stages of the pipeline -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/Signature.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

bool llmc::isMadeAnywhere(Operation *op) {
  return op->getNumOperands() == 0 &&
         (op->hasTrait<OpTrait::ConstantLike>() || isa<dist::CoordinateOp>(op));
}

bool llmc::isCrossing(Operation *op) {
  return isa<dist::TransferOp, dist::JoinOp, dist::LeaveOp>(op);
}

bool llmc::isCollectiveOver(Operation *op, StringRef axis) {
  auto collective = dyn_cast<dist::CollectiveInterface>(op);
  return collective &&
         llvm::any_of(collective.getAxes().getAsRange<StringAttr>(),
                      [&](StringAttr name) { return name.getValue() == axis; });
}

std::string llmc::printStages(ArrayRef<int64_t> stages) {
  std::string text;
  for (int64_t stage : stages)
    text += (text.empty() ? "" : ", ") + std::to_string(stage);
  return "[" + text + "]";
}

void llmc::placeCrossings(Block &body) {
  SmallVector<Operation *> crossings;
  for (Operation &op : body)
    if (isCrossing(&op))
      crossings.push_back(&op);
  // Those after one op keep their order.
  llvm::DenseMap<Operation *, Operation *> lastAfter;
  for (Operation *op : crossings) {
    Operation *anchor = nullptr;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && (!anchor || anchor->isBeforeInBlock(def)))
        anchor = def;
    Operation *&last = lastAfter[anchor];
    if (last || anchor)
      op->moveAfter(last ? last : anchor);
    else
      op->moveBefore(&body, body.begin());
    last = op;
  }
}

llvm::DenseMap<Attribute, Stages> llmc::getBufferStages(ModuleOp module) {
  llvm::DenseMap<Attribute, Stages> buffers;
  auto meshes = module.getOps<dist::MeshOp>();
  if (meshes.empty() || !(*meshes.begin()).getPipeline())
    return buffers;
  dist::MeshOp mesh = *meshes.begin();
  Stages all;
  for (int64_t stage = 0; stage < getPipelineSize(mesh); ++stage)
    all.push_back(stage);
  for (auto buffer : module.getOps<dist::BufferOp>())
    for (auto box : buffer.getBoxes().getAsRange<dist::BoxAttr>()) {
      ArrayRef<int64_t> pin = box.getLayout().getPin(*mesh.getPipeline());
      buffers[buffer.getSymNameAttr()] = pin.empty() ? all : Stages(pin);
    }
  return buffers;
}

StageMap::StageMap(ModuleOp module, Operation *owner)
    : module(module), bufferOf(module) {
  auto meshes = module.getOps<dist::MeshOp>();
  numStages = meshes.empty() ? 1 : getPipelineSize(*meshes.begin());
  for (int64_t stage = 0; stage < numStages; ++stage)
    all.push_back(stage);
  if (auto step = dyn_cast<dist::StepOp>(owner))
    microbatch = module.lookupSymbol<func::FuncOp>(step.getMicrobatch());
  if (numStages == 1)
    return;
  axis = *(*meshes.begin()).getPipeline();
  buffers = getBufferStages(module);
  for (unsigned i = 0; microbatch && i < microbatch.getNumResults(); ++i)
    if (dist::PortAttr port = dist::getResultPort(microbatch, i);
        dist::isSum(port))
      sums.insert(
          {port.getSlot(),
           microbatch.getBody().front().getTerminator()->getOperand(i)});
}

Stages StageMap::getStateStages(StringAttr state) const {
  dist::BufferOp buffer = bufferOf.lookup(state);
  auto known = buffer ? buffers.find(buffer.getSymNameAttr()) : buffers.end();
  return known == buffers.end() ? all : known->second;
}

Stages StageMap::getArgumentStages(BlockArgument argument, bool countsZeros) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || numStages == 1)
    return all;
  dist::PortAttr port =
      dist::getArgumentPort(function, argument.getArgNumber());
  if (FlatSymbolRefAttr state = dist::getState(port))
    return getStateStages(state.getAttr());
  // The result of the microbatch that is the same sum.
  auto sum = port && microbatch && function != microbatch
                 ? sums.find(port.getSlot())
                 : sums.end();
  if (sum != sums.end() && !countsZeros)
    return findStages(sum->second, countsZeros);
  dist::LayoutAttr layout = dist::getLayout(port);
  // Boxes of one buffer have one pin.
  if (ArrayAttr boxes = port ? port.getBoxes() : ArrayAttr())
    layout = cast<dist::BoxAttr>(boxes[0]).getLayout();
  if (layout)
    if (ArrayRef<int64_t> pin = layout.getPin(axis); !pin.empty())
      return Stages(pin);
  return sum == sums.end() ? all : findStages(sum->second, countsZeros);
}

Stages StageMap::getStages(Value value) { return findStages(value, true); }

Stages StageMap::getMakers(Value value) { return findStages(value, false); }

Stages StageMap::findStages(Value value, bool countsZeros) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getArgumentStages(argument, countsZeros);
  Operation *op = value.getDefiningOp();
  auto at = op->getAttrOfType<DenseI64ArrayAttr>(DistDialect::kAt);
  if (auto transfer = dyn_cast<dist::TransferOp>(op))
    return {static_cast<int64_t>(transfer.getTo())};
  if (isa<dist::JoinOp>(op)) {
    Stages stages;
    for (Value operand : op->getOperands())
      llvm::append_range(stages, findStages(operand, countsZeros));
    // Zeros are everywhere where an update says nothing else.
    if (countsZeros && at)
      llvm::append_range(stages, at.asArrayRef());
    else if (countsZeros && op->getParentOp() != microbatch)
      return all;
    llvm::sort(stages);
    stages.erase(llvm::unique(stages), stages.end());
    return stages;
  }
  if (auto leave = dyn_cast<dist::LeaveOp>(op))
    return findStages(leave.getInput(), countsZeros);
  if (auto segment = dyn_cast<dist::SegmentOp>(op)) {
    if (segment.getAt())
      return Stages(*segment.getAt());
    return {getStage(*segment.getChunk())};
  }
  return at ? Stages(at.asArrayRef()) : all;
}
