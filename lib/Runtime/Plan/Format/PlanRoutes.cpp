//===- PlanRoutes.cpp - Who sends to whom, and in what order --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Format/PlanRoutesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanRoutes.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Format/PlanPrograms.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

void visitMessages(const Action &action, const MessageVisitor &visit) {
  if (const auto *send = std::get_if<Send>(&action)) {
    visit(send->message, true);
  } else if (const auto *receive = std::get_if<Receive>(&action)) {
    visit(receive->message, false);
  } else if (const auto *exchange = std::get_if<Exchange>(&action)) {
    for (const Message &message : exchange->sends) {
      visit(message, true);
    }
    for (const Message &message : exchange->receives) {
      visit(message, false);
    }
  }
}

Status Routes::add(const Plan &plan, int32_t stage,
                   const Instruction &instruction) {
  IntervalScope scope;
  scope.coordinates.resize(plan.mesh.axes.size());
  if (plan.mesh.pipelineAxis >= 0) {
    scope.coordinates[plan.mesh.pipelineAxis] = {stage, stage};
  }
  scope.microbatch = {0, INT32_MAX}; // Of any call.
  Status status;
  visitMessages(instruction.action, [&](const Message &message, bool isSend) {
    if (!isSend || !status.ok()) {
      return;
    }
    std::string name = escape(plan.transfers[message.transfer]);
    auto peer = bound(plan.expressions, message.peer, scope);
    if (!peer || !peer->isPoint()) {
      status = makeError(
          ErrorKind::mismatch,
          fmt::format("expected the peer of transfer '{}' to depend on the "
                      "stage alone",
                      name));
      return;
    }
    Route route{stage, static_cast<int32_t>(peer->low), instruction.stream};
    auto [found, isNew] =
        routes.insert({{route.from, route.to, message.transfer}, route});
    if (!isNew && found->second.stream != route.stream) {
      status = makeError(
          ErrorKind::mismatch,
          fmt::format("expected stage {} to send transfer '{}' to stage {} on "
                      "one stream, got '{}' and '{}'",
                      route.from, name, route.to,
                      escape(plan.streams[found->second.stream].name),
                      escape(plan.streams[route.stream].name)));
    }
  });
  return status;
}

Result<Routes> Routes::of(const Plan &plan) {
  Routes routes;
  for (int32_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    for (int32_t program : reachablePrograms(plan, stage)) {
      for (const Instruction &instruction :
           plan.programs[program].instructions) {
        LLMC_TRY(routes.add(plan, stage, instruction));
      }
    }
  }
  return routes;
}

const Route *Routes::find(int32_t from, int32_t to, int32_t transfer) const {
  auto found = routes.find({from, to, transfer});
  return found == routes.end() ? nullptr : &found->second;
}

std::vector<Route> Routes::all() const {
  std::vector<Route> list;
  for (const auto &[key, route] : routes) {
    list.push_back(route);
  }
  std::sort(list.begin(), list.end());
  auto same = [](const Route &a, const Route &b) {
    return !(a < b) && !(b < a);
  };
  list.erase(std::unique(list.begin(), list.end(), same), list.end());
  return list;
}

} // namespace llmc::rt::plan
