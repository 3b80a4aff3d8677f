//===- Meetings.cpp - Where the programs of a timeline meet ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Meetings.h.
//
// Test: test/Transforms/Ordering/order-collectives.mlir
//===----------------------------------------------------------------------===//

#include "Meetings.h"
#include <set>

using namespace mlir;

namespace llmc::ordering {

/// The stages that have each named collective.
static void readMembers(Meetings &meetings, const Timeline &timeline) {
  std::map<std::string, std::set<int64_t>> stages;
  for (const TimelineProgram &program : timeline.programs) {
    ArrayRef<int64_t> at = program.getStages();
    func::FuncOp function = program.function;
    function.walk([&](dist::CollectiveInterface op) {
      if (FlatSymbolRefAttr symbol = op.getSymbolAttr())
        stages[symbol.getValue().str()].insert(at.begin(), at.end());
    });
  }
  for (const auto &[symbol, list] : stages)
    meetings.members[symbol].assign(list.begin(), list.end());
}

/// The stage of a program of the table.
static int64_t getStage(const Timeline &timeline, FlatSymbolRefAttr name) {
  for (const TimelineProgram &program : timeline.programs)
    if (program.attr.getFunction() == name)
      return program.getStages().front();
  return 0;
}

/// Whether the stages at both ends run through these routes, all between the
/// same two, in the same order of transfers and microbatches.
static bool agree(const Timeline &timeline, ArrayRef<dist::RouteAttr> routes) {
  std::vector<std::pair<StringRef, int64_t>> orders[2];
  for (bool sends : {true, false}) {
    FlatSymbolRefAttr any = sends ? routes[0].getFrom() : routes[0].getTo();
    for (const StageCall &call : timeline.walks[getStage(timeline, any)]) {
      FlatSymbolRefAttr program =
          timeline.programs[call.program].attr.getFunction();
      for (dist::RouteAttr route : routes)
        if ((sends ? route.getFrom() : route.getTo()) == program)
          orders[sends].push_back(
              {route.getTransfer().getValue(), call.microbatch});
    }
  }
  return orders[0] == orders[1];
}

/// All routes from one stage to another.
static LogicalResult addRoutes(Meetings &meetings, const Timeline &timeline,
                               PlanStreams &streams,
                               ArrayRef<dist::RouteAttr> routes) {
  int64_t from = getStage(timeline, routes.front().getFrom()),
          to = getStage(timeline, routes.front().getTo());
  bool shares = agree(timeline, routes);
  for (dist::RouteAttr route : routes) {
    if (from == to)
      return timeline.op.emitOpError()
             << "expected transfer " << route.getTransfer()
             << " between two stages, got stage " << from << " twice";
    if (!agree(timeline, route))
      return timeline.op.emitOpError()
             << "expected the microbatches of transfer " << route.getTransfer()
             << " to be sent in the order in which they are received";
    StringRef own = shares ? StringRef() : route.getTransfer().getValue();
    meetings.transfers[route.getTransfer().getValue()] = {
        from, to, streams.getMessage(true, from, to, own),
        streams.getMessage(false, from, to, own)};
  }
  return success();
}

FailureOr<Meetings> findMeetings(const Timeline &timeline,
                                 PlanStreams &streams) {
  Meetings meetings;
  readMembers(meetings, timeline);
  // By name, as programs order them.
  auto routes =
      llvm::to_vector(timeline.op.getTransfers().getAsRange<dist::RouteAttr>());
  llvm::sort(routes, [](dist::RouteAttr a, dist::RouteAttr b) {
    return a.getTransfer().getValue() < b.getTransfer().getValue();
  });
  std::map<std::pair<int64_t, int64_t>, SmallVector<dist::RouteAttr>> channels;
  for (dist::RouteAttr route : routes)
    channels[{getStage(timeline, route.getFrom()),
              getStage(timeline, route.getTo())}]
        .push_back(route);
  for (const auto &[ends, list] : channels)
    if (failed(addRoutes(meetings, timeline, streams, list)))
      return failure();
  return meetings;
}

} // namespace llmc::ordering
