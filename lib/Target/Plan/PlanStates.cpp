//===- PlanStates.cpp - States with their parts ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A state of the plan is a whole one; parts of it are boxes of its tensor.
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "PlanExport.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Base/Safetensors.h"

using namespace mlir;
namespace rtp = llmc::rt::plan;

namespace llmc::target {

/// The tensor of pairs that begins there: the runtime takes the part that the
/// state's name says.
static rt::Result<std::string> findPairs(dist::FileAttr region) {
  LLMC_TRY_ASSIGN(rt::Safetensors file,
                  rt::Safetensors::open(region.getPath().str()));
  for (const auto &[name, entry] : file.entries())
    if (entry.isComplex &&
        file.offset(entry) == static_cast<uint64_t>(region.getOffset()))
      return name;
  return rt::makeError(rt::ErrorKind::malformed,
                       "expected complex numbers at byte " +
                           std::to_string(region.getOffset()) + ", got none")
      .at(region.getPath().str());
}

rt::Status PlanExport::exportSource(dist::StateOp state, rtp::Source &source) {
  Attribute attr = state.getSourceAttr();
  if (auto draw = dyn_cast_or_null<dist::DrawAttr>(attr)) {
    source.draw = dist::getRuntimeDraw(draw);
    return rt::Status::success();
  }
  auto file = dyn_cast_or_null<dist::FileAttr>(attr);
  if (!file)
    return errorAt(state, "expected initial values, a draw or a file");
  if (file.getDtype() &&
      file.getDtype() != state.getTensorType().getElementType()) {
    LLMC_TRY_ASSIGN(source.dtype, getDType(state, file.getDtype()));
  }
  source.kind = rtp::SourceKind::file;
  source.file = intern(plan.files, files, file.getPath());
  source.offset = file.getOffset();
  RankedTensorType type = state.getTensorType();
  Type stored = file.getDtype() ? file.getDtype() : type.getElementType();
  if (stored.isFloat() &&
      file.getBytes() >
          type.getNumElements() * (stored.getIntOrFloatBitWidth() / 8)) {
    LLMC_TRY_ASSIGN(source.tensor, findPairs(file));
    source.offset = 0;
  }
  return rt::Status::success();
}

rt::Status PlanExport::exportState(dist::StateOp op) {
  rtp::State state;
  state.name = rt::unescapeName(op.getSymName());
  RankedTensorType type = op.getTensorType();
  state.shape.assign(type.getShape().begin(), type.getShape().end());
  LLMC_TRY_ASSIGN(state.dtype, getDType(op, type.getElementType()));
  state.role = static_cast<rtp::StateRole>(op.getRole());
  if (std::optional<StringRef> of = op.getOf())
    state.of = rt::unescapeName(*of);
  LLMC_TRY(exportSource(op, state.source));
  states[op.getSymName()] = static_cast<int32_t>(plan.states.size());
  plan.states.push_back(std::move(state));
  return rt::Status::success();
}

rt::Status PlanExport::exportPart(plan::PartOp op) {
  int32_t number = indexOf(states, op.getState());
  if (number < 0)
    return errorAt(op, "expected state '" + op.getState() + "'");
  rtp::StatePart part;
  part.origin.assign(op.getOrigin().begin(), op.getOrigin().end());
  LLMC_TRY_ASSIGN(part.layout, layoutOf(op, op.getLayoutAttr(), op.getShape()));
  if (std::optional<ArrayRef<int64_t>> stages = op.getStages())
    part.stages.assign(stages->begin(), stages->end());
  LLMC_TRY_ASSIGN(part.place, operandOf(op, op.getPlace()));
  plan.states[number].parts.push_back(std::move(part));
  return rt::Status::success();
}

rt::Status PlanExport::exportStates() {
  for (auto state : module.getOps<dist::StateOp>())
    if (!state.isPart())
      LLMC_TRY(exportState(state));
  for (auto part : module.getOps<plan::PartOp>())
    LLMC_TRY(exportPart(part));
  for (const rtp::State &state : plan.states)
    if (state.parts.empty())
      return errorAt(module, "expected a place for state '" + state.name + "'");
  return rt::Status::success();
}

} // namespace llmc::target
