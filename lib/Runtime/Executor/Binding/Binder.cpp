//===- Binder.cpp - Binds programs to a device ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames, events, queues and the common parts of instructions; each kind of
// instruction is in BindActions.cpp. Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "Binder.h"

#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::exec {

static uint64_t bytesOf(const std::vector<plan::Operand> &operands) {
  uint64_t bytes = 0;
  for (const plan::Operand &each : operands) {
    bytes += each.present() ? uint64_t(elementsOf(each)) *
                                  static_cast<uint64_t>(sizeOf(each.dtype))
                            : 0;
  }
  return bytes;
}

/// Of the operands of an instruction that moves or computes something.
static uint64_t actionBytes(const plan::Action &action) {
  if (auto *launch = std::get_if<plan::KernelLaunch>(&action)) {
    return bytesOf(launch->operands);
  }
  if (auto *library = std::get_if<plan::Library>(&action)) {
    return bytesOf(library->operands);
  }
  if (auto *collective = std::get_if<plan::Collective>(&action)) {
    return bytesOf(collective->inputs) + bytesOf(collective->outputs);
  }
  if (auto *send = std::get_if<plan::Send>(&action)) {
    return bytesOf(send->message.operands);
  }
  if (auto *receive = std::get_if<plan::Receive>(&action)) {
    return bytesOf(receive->message.operands);
  }
  if (auto *exchange = std::get_if<plan::Exchange>(&action)) {
    uint64_t bytes = 0;
    for (const auto *side : {&exchange->sends, &exchange->receives}) {
      for (const plan::Message &message : *side) {
        bytes += bytesOf(message.operands);
      }
    }
    return bytes;
  }
  if (auto *copy = std::get_if<plan::Copy>(&action)) {
    return bytesOf({copy->to, copy->from});
  }
  if (auto *fill = std::get_if<plan::Fill>(&action)) {
    return bytesOf({fill->to});
  }
  return 0;
}

std::vector<std::vector<Origin>> makeOrigins(const plan::Plan &plan) {
  std::vector<std::vector<Origin>> origins;
  for (const plan::Program &program : plan.programs) {
    std::vector<Origin> names;
    for (const plan::Instruction &instruction : program.instructions) {
      Origin origin;
      origin.bytes = actionBytes(instruction.action);
      origin.name =
          program.name + ": " + plan::nameOfAction(plan, instruction.action);
      if (instruction.location >= 0) {
        origin.location = plan.locations[instruction.location];
      }
      names.push_back(std::move(origin));
    }
    origins.push_back(std::move(names));
  }
  return origins;
}

static bool dependsOnCall(const plan::ExprTable &table, plan::ExprId id) {
  const plan::ExprNode &node = table[id];
  if (node.op == plan::ExprOp::constant ||
      node.op == plan::ExprOp::coordinate) {
    return false;
  }
  return node.op == plan::ExprOp::microbatch ||
         node.op == plan::ExprOp::parameter || dependsOnCall(table, node.lhs) ||
         dependsOnCall(table, node.rhs);
}

std::optional<int64_t> fold(const plan::ExprTable &table, plan::ExprId id,
                            const std::vector<int64_t> &coordinates) {
  if (dependsOnCall(table, id)) {
    return std::nullopt;
  }
  plan::ExprScope scope;
  scope.coordinates = coordinates.data();
  return plan::evaluate(table, id, scope);
}

Number Binder::number(plan::ExprId id) const {
  if (id == plan::noExpr) {
    return {};
  }
  std::optional<int64_t> value =
      fold(shared.plan.expressions, id, local.coordinates);
  return value ? Number{*value, plan::noExpr} : Number{0, id};
}

Ref Binder::ref(const plan::Operand &operand) const {
  if (!operand.present()) {
    return {};
  }
  const plan::Buffer &buffer = shared.plan.buffers[operand.buffer];
  Ref ref{buffer.frame, number(operand.expr)};
  ref.offset.constant += buffer.offset + operand.offset;
  return ref;
}

Status Binder::bind() {
  std::vector<int32_t> programs =
      plan::reachablePrograms(shared.plan, local.stage);
  LLMC_TRY(bindFrames());
  LLMC_TRY(makeStreams(programs));
  local.programs.resize(shared.plan.programs.size());
  for (int32_t program : programs) {
    LLMC_TRY(bindProgram(program));
  }
  return Status::success();
}

Status Binder::bindFrames() {
  const plan::Plan &plan = shared.plan;
  for (const plan::Frame &frame : plan.frames) {
    BoundFrame bound;
    if (!plan::hasStage(frame.stages, local.stage)) {
      local.frames.push_back(std::move(bound));
      continue;
    }
    bound.offset = frame.offset;
    bound.size = frame.size;
    bound.numEvents = frame.events;
    for (int64_t i = 0; i < shared.numMicrobatches; ++i) {
      plan::ExprScope scope;
      scope.coordinates = local.coordinates.data();
      scope.microbatch = i;
      std::optional<int64_t> slot =
          frame.slot == plan::noExpr
              ? std::optional<int64_t>(0)
              : plan::evaluate(plan.expressions, frame.slot, scope);
      if (!slot || *slot < 0 || *slot >= frame.slots) {
        return makeError(ErrorKind::mismatch,
                         fmt::format("expected a slot in [0, {}) of frame '{}' "
                                     "for microbatch {}",
                                     frame.slots, frame.name, i));
      }
      bound.slotOf.push_back(static_cast<int32_t>(*slot));
    }
    for (int32_t slot = 0; slot < frame.slots; ++slot) {
      for (int32_t event = 0; event < frame.events; ++event) {
        std::string name =
            fmt::format("{}[{}].{}", frame.name, slot,
                        event ? fmt::format("e{}", event) : "free");
        LLMC_TRY_ASSIGN(Event * made, local.device->event({name, ""}));
        bound.events.push_back(made);
      }
    }
    local.frames.push_back(std::move(bound));
  }
  return Status::success();
}

static StreamUse useOf(plan::StreamKind kind) {
  return kind == plan::StreamKind::compute ? StreamUse::compute
         : kind == plan::StreamKind::copy  ? StreamUse::copy
                                           : StreamUse::communication;
}

/// Queues are as long as the longest entry needs on this stage.
Status Binder::makeStreams(const std::vector<int32_t> &programs) {
  const plan::Plan &plan = shared.plan;
  std::vector<QueueUse> uses = measurePrograms(plan);
  QueueUse most(plan.streams.size());
  auto stages = static_cast<size_t>(plan.mesh.numStages());
  for (const plan::Entry &entry : plan.entries) {
    QueueUse use(plan.streams.size());
    auto run = [&](int32_t program) {
      if (program >= 0) {
        use.add(uses[program]);
      }
    };
    run(entry.prologue[local.stage]);
    run(entry.epilogue[local.stage]);
    for (size_t at = local.stage; at < entry.table.size(); at += stages) {
      run(entry.table[at].program);
    }
    most.raise(use);
  }
  for (size_t i = 0; i < plan.streams.size(); ++i) {
    StreamShape shape{plan.streams[i].name, plan.streams[i].priority,
                      most.entries[i], most.words[i],
                      useOf(plan.streams[i].kind)};
    LLMC_TRY_ASSIGN(Stream * stream, local.device->stream(shape));
    local.streams.push_back(stream);
  }
  return Status::success();
}

Status Binder::bindProgram(int32_t index) {
  const plan::Program &program = shared.plan.programs[index];
  auto bound = std::make_unique<BoundProgram>();
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const plan::Instruction &instruction = program.instructions[i];
    const Origin &origin = shared.origins[index][i];
    Result<BoundAction> action = bindAction(instruction, origin);
    if (!action) {
      return action.status().inContext(origin.name);
    }
    bound->instructions.push_back({local.streams[instruction.stream],
                                   instruction.stream, &origin,
                                   *std::move(action)});
  }
  local.programs[index] = std::move(bound);
  return Status::success();
}

} // namespace llmc::rt::exec
