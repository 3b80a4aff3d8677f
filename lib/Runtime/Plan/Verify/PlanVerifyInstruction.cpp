//===- PlanVerifyInstruction.cpp - Each instruction by itself -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands stay within their buffers on every device (expressions as
// intervals), are aligned to their elements, and fit each other.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyInstructionTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>

namespace llmc::rt::plan {

static Status checkOperand(const Scene &scene, const Operand &operand) {
  const Plan &plan = scene.plan;
  const Buffer &buffer = plan.buffers[operand.buffer];
  int64_t span = *spanOf(operand);
  if (!placeOf(scene, operand, span)) {
    return mismatch(fmt::format(
        "expected an operand of {} bytes at offset {}{} to lie within buffer "
        "'{}' of {} bytes",
        span, operand.offset, operand.expr == noExpr ? "" : " + expression",
        escape(buffer.name), buffer.bytes));
  }
  int64_t size = sizeOf(operand.dtype);
  bool aligned = (buffer.offset + operand.offset) % size == 0;
  if (operand.expr != noExpr) {
    aligned &= isMultipleOf(plan.expressions, operand.expr, scene.scope, size);
  }
  if (!aligned) {
    return mismatch(fmt::format("expected an operand in buffer '{}' to be "
                                "aligned to {} bytes",
                                escape(buffer.name), size));
  }
  return Status::success();
}

static Status checkMessage(const Scene &scene, const Message &message) {
  const Plan &plan = scene.plan;
  if (plan.mesh.pipelineAxis < 0) {
    return mismatch("a transfer needs a pipeline axis");
  }
  auto peer = bound(plan.expressions, message.peer, scene.scope);
  if (!peer || !peer->isPoint() || peer->low < 0 ||
      peer->low >= plan.mesh.numStages() || peer->low == scene.stage) {
    return mismatch(fmt::format(
        "expected the peer of transfer '{}' to be one other stage below {}, "
        "got {}",
        escape(plan.transfers[message.transfer]), plan.mesh.numStages(),
        peer ? fmt::format("{} to {}", peer->low, peer->high)
             : std::string("an overflow")));
  }
  for (const Operand &operand : message.operands) {
    if (!isContiguous(operand)) {
      return mismatch("expected the operands of a transfer to be contiguous");
    }
  }
  return Status::success();
}

static Status checkHostEnd(const Operand &device, std::string_view what,
                           const std::string &name, DType dtype,
                           int64_t elements) {
  if (device.dtype != dtype || elementsOf(device) != elements) {
    return mismatch(
        fmt::format("expected {} elements of {} for {} '{}', got {} "
                    "of {}",
                    elements, nameOf(dtype), what, escape(name),
                    elementsOf(device), nameOf(device.dtype)));
  }
  return Status::success();
}

static Status noHost(std::string_view what, int32_t index) {
  return mismatch(fmt::format("the entry has no {} number {}", what, index));
}

static Status checkCopy(const Scene &scene, const Copy &copy) {
  const Entry &entry = scene.entry;
  auto index = static_cast<size_t>(copy.index);
  switch (copy.host) {
  case HostEnd::none:
    if (elementsOf(copy.to) != elementsOf(copy.from) ||
        copy.to.dtype != copy.from.dtype) {
      return mismatch("expected both ends of a copy to have the same elements");
    }
    if (mayOverlap(scene, copy.to, copy.from)) {
      return mismatch("the ends of a copy overlap");
    }
    return Status::success();
  case HostEnd::input: {
    if (index >= entry.inputs.size()) {
      return noHost("input", copy.index);
    }
    const Input &input = entry.inputs[index];
    if (!hasStage(input.stages, scene.stage)) {
      return mismatch(fmt::format("input '{}' is not read by stage {}",
                                  escape(input.name), scene.stage));
    }
    return checkHostEnd(copy.to, "input", input.name, input.dtype,
                        input.layout.localElements(scene.plan.mesh));
  }
  case HostEnd::hyper:
    if (index >= entry.hypers.size()) {
      return noHost("hyper value", copy.index);
    }
    return checkHostEnd(copy.to, "hyper value", entry.hypers[index].name,
                        entry.hypers[index].dtype, 1);
  case HostEnd::metric:
    if (index >= entry.metrics.size()) {
      return noHost("metric", copy.index);
    }
    return checkHostEnd(copy.from, "metric", entry.metrics[index].name,
                        entry.metrics[index].dtype, 1);
  case HostEnd::fetch: {
    if (index >= entry.fetches.size()) {
      return noHost("fetched value", copy.index);
    }
    const Fetch &fetch = entry.fetches[index];
    if (!hasStage(fetch.stages, scene.stage)) {
      return mismatch(fmt::format("value '{}' is not fetched from stage {}",
                                  escape(fetch.name), scene.stage));
    }
    return checkHostEnd(copy.from, "fetched value", fetch.name, fetch.dtype,
                        fetch.layout.localElements(scene.plan.mesh));
  }
  }
  return Status::success();
}

namespace {
struct CheckAction {
  const Scene &scene;

  Status operator()(const KernelLaunch &launch) {
    return checkKernel(scene, launch);
  }
  Status operator()(const Library &library) {
    return checkLibrary(scene, library);
  }
  Status operator()(const Collective &collective) {
    return checkCollective(scene, collective);
  }
  Status operator()(const Send &send) {
    return checkMessage(scene, send.message);
  }
  Status operator()(const Receive &receive) {
    return checkMessage(scene, receive.message);
  }
  Status operator()(const Exchange &exchange) {
    for (const Message &message : exchange.sends) {
      LLMC_TRY(checkMessage(scene, message));
    }
    for (const Message &message : exchange.receives) {
      LLMC_TRY(checkMessage(scene, message));
    }
    return Status::success();
  }
  Status operator()(const Copy &copy) { return checkCopy(scene, copy); }
  Status operator()(const Fill &) { return Status::success(); }
  Status operator()(const Signal &) { return Status::success(); }
  Status operator()(const Wait &) { return Status::success(); }
  Status operator()(const Call &) { return Status::success(); }
  Status operator()(const Loop &) { return Status::success(); }
  Status operator()(const While &) { return Status::success(); }
  Status operator()(const Branch &) {
    return makeError(ErrorKind::unsupported,
                     "branches are not supported in plans");
  }
};
} // namespace

Status checkInstruction(const Scene &scene, const Instruction &instruction) {
  for (const OperandUse &use : usesOf(instruction.action)) {
    LLMC_TRY(checkOperand(scene, *use.operand));
    const Buffer &buffer = scene.plan.buffers[use.operand->buffer];
    bool inScratch = scene.plan.frames[buffer.frame].kind == FrameKind::scratch;
    if (inScratch != use.isScratch) {
      return mismatch(fmt::format("expected {} in a scratch frame, got '{}'",
                                  use.isScratch ? "scratch" : "no value",
                                  escape(buffer.name)));
    }
  }
  for (const OperandUse &use : usesOf(instruction.action)) {
    for (const OperandUse &other : usesOf(instruction.action)) {
      if (use.isScratch && use.operand != other.operand &&
          mayOverlap(scene, *use.operand, *other.operand)) {
        return mismatch("scratch overlaps an operand");
      }
    }
  }
  return std::visit(CheckAction{scene}, instruction.action);
}

} // namespace llmc::rt::plan
