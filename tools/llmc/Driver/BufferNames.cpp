//===- BufferNames.cpp - What the buffers of a plan hold ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferNames.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Names.h"
#include "llvm/ADT/StringMap.h"

using namespace llmc;
using namespace llmc::driver;
using rt::plan::Access;

BufferNames::BufferNames(const rt::plan::Plan &plan, const Places &places)
    : plan(plan), places(places), states(plan.buffers.size(), -1),
      gradients(plan.buffers.size(), -1), writers(plan.buffers.size(), -1) {
  llvm::StringMap<int32_t> numbers;
  for (size_t i = 0; i < plan.states.size(); ++i) {
    auto number = static_cast<int32_t>(i);
    numbers[rt::escapeName(plan.states[i].name)] = number;
    for (const rt::plan::StatePart &part : plan.states[i].parts)
      if (part.place.present())
        states[part.place.buffer] = number;
  }
  // "train.step.s0.grad.embed" holds what is fetched as "grad.embed".
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    StringRef name = plan.buffers[i].name;
    for (size_t at = name.find('.'); at != StringRef::npos && gradients[i] < 0;
         at = name.find('.', at + 1))
      if (auto of = parseGradientName(name.substr(at + 1)))
        if (auto found = numbers.find(*of); found != numbers.end())
          gradients[i] = found->second;
  }
  for (const rt::plan::Program &program : plan.programs)
    for (const rt::plan::Instruction &each : program.instructions)
      for (const rt::plan::OperandUse &use : usesOf(each.action))
        if (use.access != Access::read && writers[use.operand->buffer] < 0)
          writers[use.operand->buffer] = each.location;
}

std::string BufferNames::nameOf(int32_t buffer) const {
  if (int32_t state = states[buffer]; state >= 0)
    return rt::escape(plan.states[state].name);
  if (int32_t state = gradients[buffer]; state >= 0)
    return "the gradient of " + rt::escape(plan.states[state].name);
  return "";
}

std::string BufferNames::placeOf(int32_t buffer) const {
  int32_t location = plan.buffers[buffer].location;
  if (int32_t state = gradients[buffer]; location < 0 && state >= 0)
    for (const rt::plan::StatePart &part : plan.states[state].parts)
      if (part.place.present())
        location = plan.buffers[part.place.buffer].location;
  if (location < 0)
    location = writers[buffer];
  return places.resolve(location < 0 ? "" : plan.locations[location]);
}
