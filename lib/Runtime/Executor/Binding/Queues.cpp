//===- Queues.cpp - How long the queues of a plan are ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A queue holds what one step enqueues, which the plan tells: instructions of
// each program, times its cells in the table.
//
//===----------------------------------------------------------------------===//

#include "Binder.h"

#include <algorithm>

namespace llmc::rt::exec {

void QueueUse::add(const QueueUse &other, uint32_t times) {
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] += times * other.entries[i];
    words[i] += times * other.words[i];
  }
}

void QueueUse::raise(const QueueUse &other) {
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] = std::max(entries[i], other.entries[i]);
    words[i] = std::max(words[i], other.words[i]);
  }
}

namespace {
/// Entries and words of one instruction, as Device.h and Communicator.h say.
struct Measure {
  uint32_t words = 0;

  explicit Measure(const plan::Action &action) { std::visit(*this, action); }

  void operator()(const plan::KernelLaunch &launch) {
    words =
        static_cast<uint32_t>(launch.operands.size() + launch.scalars.size());
  }
  void operator()(const plan::Library &library) {
    words = static_cast<uint32_t>(library.operands.size());
  }
  void operator()(const plan::Collective &collective) {
    words = static_cast<uint32_t>(2 * collective.inputs.size() +
                                  collective.counts.present());
  }
  void operator()(const plan::Send &send) { message(send.message); }
  void operator()(const plan::Receive &receive) { message(receive.message); }
  void operator()(const plan::Exchange &exchange) {
    for (const auto *list : {&exchange.sends, &exchange.receives}) {
      for (const plan::Message &one : *list) {
        message(one);
      }
    }
  }
  template <typename Other> void operator()(const Other &) {}

private:
  void message(const plan::Message &one) {
    words += static_cast<uint32_t>(5 * one.operands.size());
  }
};
} // namespace

/// The begin and the end of a repeat.
static void addRepeat(QueueUse &use, const std::vector<int32_t> &streams) {
  for (int32_t stream : streams) {
    use.entries[static_cast<size_t>(stream)] += 2;
  }
}

/// It may have to wait at a gate.
static bool writesState(const plan::Plan &plan,
                        const plan::Instruction &instruction) {
  return !plan::statesWrittenBy(plan, instruction.action).empty();
}

std::vector<QueueUse> measurePrograms(const plan::Plan &plan) {
  std::vector<QueueUse> uses;
  for (const plan::Program &program : plan.programs) {
    QueueUse use(plan.streams.size());
    for (const plan::Instruction &instruction : program.instructions) {
      int32_t callee = plan::calleeOf(instruction.action);
      if (callee >= 0) { // A program of a smaller index.
        auto *loop = std::get_if<plan::Loop>(&instruction.action);
        if (auto *open = std::get_if<plan::While>(&instruction.action)) {
          addRepeat(use, plan::streamsOf(plan, *open, instruction.stream));
        }
        use.add(uses[callee], loop ? static_cast<uint32_t>(loop->trips) : 1);
        continue;
      }
      Measure measure(instruction.action);
      use.entries[instruction.stream] += 1 + writesState(plan, instruction);
      use.words[instruction.stream] += measure.words;
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

} // namespace llmc::rt::exec
