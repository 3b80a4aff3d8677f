//===- Walker.cpp - Enqueues a step ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "Walker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmc::rt::exec {

Walker::Walker(const plan::Plan &plan, World &world, LocalDevice &device,
               int64_t numMicrobatches)
    : plan(plan), world(world), device(device),
      numMicrobatches(numMicrobatches) {
  size_t mostPointers = 0, mostScalars = 0, mostParts = 0;
  for (const auto &program : device.programs) {
    if (!program) {
      continue;
    }
    for (const BoundInstruction &instruction : program->instructions) {
      if (auto *kernel = std::get_if<BoundKernel>(&instruction.action)) {
        mostPointers = std::max(mostPointers, kernel->operands.size());
        mostScalars = std::max(mostScalars, kernel->scalars.size());
      } else if (auto *l = std::get_if<BoundLibrary>(&instruction.action)) {
        mostPointers = std::max(mostPointers, l->operands.size());
      } else if (auto *c = std::get_if<BoundCollective>(&instruction.action)) {
        mostPointers = std::max(mostPointers, c->ins.size());
      } else if (auto *e = std::get_if<BoundExchange>(&instruction.action)) {
        mostParts = std::max(mostParts, e->parts.size());
      }
    }
  }
  pointers.resize(mostPointers);
  inputs.resize(mostPointers);
  scalars.resize(mostScalars);
  parts.resize(mostParts);
}

Status Walker::call(int32_t program, int64_t microbatch,
                    const HostEnds &hostEnds) {
  ends = &hostEnds;
  failed = false;
  run(*device.programs[program], {microbatch, nullptr, 0});
  if (failed) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected a value of every expression of "
                                 "program '{}' for microbatch {}",
                                 plan.programs[program].name, microbatch));
  }
  return Status::success();
}

void Walker::run(const BoundProgram &program, const Scope &scope) {
  for (const BoundInstruction &instruction : program.instructions) {
    if (instruction.writesAfter && device.gate) {
      device.device->waitFor(*instruction.stream, *device.gate,
                             instruction.writesAfter, *instruction.origin);
    }
    std::visit([&](const auto &action) { enqueue(instruction, action, scope); },
               instruction.action);
  }
}

int64_t Walker::value(const Number &number, const Scope &scope) {
  if (number.expr == plan::noExpr) {
    return number.constant;
  }
  plan::ExprScope leaves;
  leaves.coordinates = device.coordinates.data();
  leaves.microbatch = scope.microbatch;
  leaves.parameters = scope.parameters;
  leaves.numParameters = scope.numParameters;
  std::optional<int64_t> found =
      plan::evaluate(plan.expressions, number.expr, leaves);
  failed = failed || !found;
  return number.constant + found.value_or(0);
}

void *Walker::address(const Ref &ref, const Scope &scope) {
  if (ref.frame < 0) {
    return nullptr;
  }
  const BoundFrame &frame = device.frames[ref.frame];
  int64_t slot = frame.slotOf[scope.microbatch];
  return device.arena.base + frame.offset + slot * frame.size +
         value(ref.offset, scope);
}

void Walker::enqueue(const BoundInstruction &instruction,
                     const BoundKernel &kernel, const Scope &scope) {
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    pointers[i] = address(kernel.operands[i], scope);
  }
  for (size_t i = 0; i < kernel.scalars.size(); ++i) {
    scalars[i] = value(kernel.scalars[i], scope);
  }
  Launch launch{kernel.kernel,
                pointers.data(),
                static_cast<uint32_t>(kernel.operands.size()),
                scalars.data(),
                static_cast<uint32_t>(kernel.scalars.size()),
                address(kernel.scratch, scope)};
  device.device->launch(*instruction.stream, launch, *instruction.origin);
}

void Walker::enqueue(const BoundInstruction &instruction,
                     const BoundLibrary &library, const Scope &scope) {
  for (size_t i = 0; i < library.operands.size(); ++i) {
    pointers[i] = address(library.operands[i], scope);
  }
  device.device->call(*instruction.stream, *library.op, pointers.data(),
                      static_cast<uint32_t>(library.operands.size()),
                      address(library.workspace, scope), *instruction.origin);
}

void Walker::enqueue(const BoundInstruction &instruction,
                     const BoundCollective &action, const Scope &scope) {
  for (size_t i = 0; i < action.ins.size(); ++i) {
    inputs[i] = address(action.ins[i], scope);
  }
  for (size_t i = 0; i < action.outs.size(); ++i) {
    pointers[i] = address(action.outs[i], scope);
  }
  action.communicator->collective(*instruction.stream, *action.collective,
                                  inputs.data(), pointers.data(),
                                  *instruction.origin);
}

void Walker::enqueue(const BoundInstruction &instruction,
                     const BoundExchange &action, const Scope &scope) {
  for (size_t i = 0; i < action.parts.size(); ++i) {
    const BoundPart &part = action.parts[i];
    parts[i] = {part.send, part.communicator, address(part.ref, scope),
                part.bytes};
  }
  world.exchange(*instruction.stream, parts.data(),
                 static_cast<uint32_t>(action.parts.size()),
                 *instruction.origin);
}

void *Walker::hostAddress(const BoundCopy &copy, const Scope &scope) const {
  const std::vector<HostEnds::Area> *areas = nullptr;
  switch (copy.host) {
  case plan::HostEnd::none:
    return nullptr;
  case plan::HostEnd::input:
    areas = &ends->inputs;
    break;
  case plan::HostEnd::hyper:
    areas = &ends->hypers;
    break;
  case plan::HostEnd::metric:
    areas = &ends->metrics;
    break;
  case plan::HostEnd::fetch:
    areas = &ends->fetches;
    break;
  }
  const HostEnds::Area &area = (*areas)[copy.index];
  return area.base + area.stride * scope.microbatch;
}

void Walker::enqueue(const BoundInstruction &instruction, const BoundCopy &copy,
                     const Scope &scope) {
  void *host = hostAddress(copy, scope);
  void *to = copy.to.frame >= 0 ? address(copy.to, scope) : host;
  void *from = copy.from.frame >= 0 ? address(copy.from, scope) : host;
  device.device->copy(*instruction.stream, to, from, copy.box,
                      *instruction.origin);
}

void Walker::enqueue(const BoundInstruction &instruction, const BoundFill &fill,
                     const Scope &scope) {
  device.device->fill(*instruction.stream, address(fill.to, scope),
                      fill.pattern, fill.size, fill.box, *instruction.origin);
}

void Walker::enqueue(const BoundInstruction &instruction,
                     const BoundEvent &action, const Scope &scope) {
  const BoundFrame &frame = device.frames[action.frame];
  int64_t slot = frame.slotOf[scope.microbatch];
  Event &event = *frame.events[slot * frame.numEvents + action.event];
  if (action.isWait) {
    device.device->wait(*instruction.stream, event, *instruction.origin);
  } else {
    device.device->record(*instruction.stream, event, *instruction.origin);
  }
}

void Walker::enqueue(const BoundInstruction &, const BoundCall &call,
                     const Scope &scope) {
  std::array<int64_t, mostArguments> arguments;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    arguments[i] = value(call.arguments[i], scope);
  }
  Scope inner{scope.microbatch, arguments.data(),
              static_cast<int64_t>(call.arguments.size())};
  if (call.ownMicrobatch) {
    inner.microbatch = value(call.microbatch, scope);
    // Frames know the slots of an entry's microbatches only.
    failed =
        failed || inner.microbatch < 0 || inner.microbatch >= numMicrobatches;
  }
  if (!failed) {
    run(*device.programs[call.program], inner);
  }
}

void Walker::enqueue(const BoundInstruction &, const BoundLoop &loop,
                     const Scope &scope) {
  std::array<int64_t, mostArguments> arguments;
  for (size_t i = 0; i < loop.arguments.size(); ++i) {
    arguments[i + 1] = value(loop.arguments[i], scope);
  }
  Scope inner{scope.microbatch, arguments.data(),
              static_cast<int64_t>(loop.arguments.size() + 1)};
  for (int64_t trip = 0; trip < loop.trips && !failed; ++trip) {
    arguments[0] = trip;
    run(*device.programs[loop.program], inner);
  }
}

/// The device repeats what is enqueued once.
void Walker::enqueue(const BoundInstruction &instruction,
                     const BoundWhile &loop, const Scope &scope) {
  device.device->beginRepeat(*loop.repeat, address(loop.flag, scope),
                             *instruction.origin);
  run(*device.programs[loop.program], {scope.microbatch, nullptr, 0});
  device.device->endRepeat(*loop.repeat, *instruction.origin);
}

} // namespace llmc::rt::exec
