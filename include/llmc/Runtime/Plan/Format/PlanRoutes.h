//===- PlanRoutes.h - Who sends to whom, and in what order ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A route is what two neighbours share in one direction: the messages from one
// stage to another that the sender issues on one stream. Each route has a
// communicator of its own, and on it messages meet in the order of issue, so
// both ends must have one order (the loader checks it).
//
//   stage 0, stream S.next:  send t0 (mb 0)  send t0 (mb 1)
//   stage 1, stream R.prev:  receive t0 (mb 0)  receive t0 (mb 1)
//     ->  Route {0, 1, S.next}
//
// Test: test/Runtime/Plan/Format/PlanRoutesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_PLANROUTES_H
#define LLMC_RUNTIME_PLAN_PLANROUTES_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <functional>
#include <map>
#include <tuple>

namespace llmc::rt::plan {

struct Route {
  int32_t from = 0; ///< Stages.
  int32_t to = 0;
  int32_t stream = 0; ///< Of the sender.

  bool operator<(const Route &other) const {
    return std::tie(from, to, stream) <
           std::tie(other.from, other.to, other.stream);
  }
};

class Routes {
public:
  /// Error (15) for a peer that is not known when the plan is loaded, and for a
  /// transfer that one stage sends to another on two streams. Assumes a sound
  /// structure.
  static Result<Routes> of(const Plan &plan);

  /// Null when stage `from` never sends the transfer to `to`.
  const Route *find(int32_t from, int32_t to, int32_t transfer) const;
  /// Each once, in order.
  std::vector<Route> all() const;

private:
  Status add(const Plan &plan, int32_t stage, const Instruction &instruction);

  /// (from, to, transfer)
  std::map<std::tuple<int32_t, int32_t, int32_t>, Route> routes;
};

/// Calls `visit(message, isSend)` for each message of the instruction.
using MessageVisitor = std::function<void(const Message &, bool)>;
void visitMessages(const Action &action, const MessageVisitor &visit);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_PLANROUTES_H
