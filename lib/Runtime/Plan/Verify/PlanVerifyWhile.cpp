//===- PlanVerifyWhile.cpp - Bodies of loops that the run ends ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trip of a while is enqueued once and repeated by the device: so what is
// numbered when it is enqueued may not occur in it, and the flag must be able
// to change.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyWhileTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Format/PlanPrograms.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace llmc::rt::plan {

namespace {
/// A communicator: its axes and stages.
using CommunicatorKey = std::pair<std::vector<int32_t>, std::vector<int32_t>>;

/// Checks the whiles of a plan.
class WhileCheck {
public:
  explicit WhileCheck(const Plan &plan) : plan_(plan) {}

  Status run();

private:
  Status check(const While &loop) const;
  Status checkInstruction(const Instruction &instruction) const;

  const Plan &plan_;
  /// The streams on which each communicator is used.
  std::map<CommunicatorKey, std::set<int32_t>> streams_;
};
} // namespace

/// One instruction of a body.
Status WhileCheck::checkInstruction(const Instruction &instruction) const {
  const Action &action = instruction.action;
  const auto *copy = std::get_if<Copy>(&action);
  bool isOnce = std::holds_alternative<Send>(action) ||
                std::holds_alternative<Receive>(action) ||
                std::holds_alternative<Exchange>(action) ||
                std::holds_alternative<While>(action) ||
                (copy && copy->host != HostEnd::none);
  if (isOnce) {
    return mismatch(fmt::format("expected no message, no copy from or to the "
                                "host and no other while in the body of a "
                                "while, got '{}'",
                                nameOf(action)));
  }
  const auto *collective = std::get_if<Collective>(&action);
  if (collective &&
      streams_.at({collective->axes, collective->stages}).size() > 1) {
    return mismatch(fmt::format("expected the communicator of collective '{}' "
                                "in a while to be used on one stream",
                                escape(plan_.symbols[collective->symbol])));
  }
  return Status::success();
}

Status WhileCheck::check(const While &loop) const {
  bool writesFlag = false;
  for (int32_t program : programsUnder(plan_, loop.program)) {
    for (const Instruction &each : plan_.programs[program].instructions) {
      LLMC_TRY(checkInstruction(each));
      for (const OperandUse &use : usesOf(each.action)) {
        writesFlag |= use.access != Access::read &&
                      use.operand->buffer == loop.flag.buffer;
      }
    }
  }
  return writesFlag ? Status::success()
                    : mismatch("expected the body of a while to write its "
                               "flag");
}

Status WhileCheck::run() {
  for (const Program &program : plan_.programs) {
    for (const Instruction &each : program.instructions) {
      if (const auto *collective = std::get_if<Collective>(&each.action)) {
        streams_[{collective->axes, collective->stages}].insert(each.stream);
      }
    }
  }
  for (const Program &program : plan_.programs) {
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      const auto *loop = std::get_if<While>(&program.instructions[i].action);
      Status status = loop ? check(*loop) : Status::success();
      if (!status.ok()) {
        return status.inContext(fmt::format("instruction {} of program '{}'", i,
                                            escape(program.name)));
      }
    }
  }
  return Status::success();
}

Status checkWhiles(const Plan &plan) { return WhileCheck(plan).run(); }

} // namespace llmc::rt::plan
