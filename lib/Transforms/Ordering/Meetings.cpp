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

namespace {

class MeetingFinder {
public:
  MeetingFinder(const Timeline &timeline, PlanStreams &streams)
      : timeline(timeline), streams(streams) {}

  FailureOr<Meetings> run();

private:
  using Ends = std::pair<int64_t, int64_t>;

  void readMembers();
  int64_t stageOf(FlatSymbolRefAttr name) const;
  bool agree(ArrayRef<dist::RouteAttr> routes) const;
  LogicalResult addRoutes(Ends ends, ArrayRef<dist::RouteAttr> routes);

  const Timeline &timeline;
  PlanStreams &streams;
  Meetings meetings;
};

} // namespace

/// The stages that have each named collective.
void MeetingFinder::readMembers() {
  std::map<std::string, std::set<int64_t>> stages;
  for (const TimelineProgram &program : timeline.programs) {
    ArrayRef<int64_t> at = program.attr.getAt().asArrayRef();
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
int64_t MeetingFinder::stageOf(FlatSymbolRefAttr name) const {
  for (const TimelineProgram &program : timeline.programs)
    if (program.attr.getFunction() == name)
      return program.attr.getAt().asArrayRef().front();
  return 0;
}

/// Whether the stages at both ends run through these routes, all between the
/// same two, in the same order of transfers and microbatches.
bool MeetingFinder::agree(ArrayRef<dist::RouteAttr> routes) const {
  std::vector<std::pair<StringRef, int64_t>> orders[2];
  for (bool sends : {true, false}) {
    FlatSymbolRefAttr any = sends ? routes[0].getFrom() : routes[0].getTo();
    for (const StageCall &call : timeline.walks[stageOf(any)]) {
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

/// All routes between two stages.
LogicalResult MeetingFinder::addRoutes(Ends ends,
                                       ArrayRef<dist::RouteAttr> routes) {
  auto [from, to] = ends;
  bool shares = agree(routes);
  for (dist::RouteAttr route : routes) {
    if (from == to)
      return timeline.op.emitOpError()
             << "expected transfer " << route.getTransfer()
             << " between two stages, got stage " << from << " twice";
    if (!agree(route))
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

FailureOr<Meetings> MeetingFinder::run() {
  readMembers();
  // By name, as programs order them.
  std::map<Ends, SmallVector<dist::RouteAttr>> channels;
  auto routes =
      llvm::to_vector(timeline.op.getTransfers().getAsRange<dist::RouteAttr>());
  llvm::sort(routes, [](dist::RouteAttr a, dist::RouteAttr b) {
    return a.getTransfer().getValue() < b.getTransfer().getValue();
  });
  for (dist::RouteAttr route : routes)
    channels[{stageOf(route.getFrom()), stageOf(route.getTo())}].push_back(
        route);
  for (auto &[ends, list] : channels)
    if (failed(addRoutes(ends, list)))
      return failure();
  return std::move(meetings);
}

FailureOr<Meetings> findMeetings(const Timeline &timeline,
                                 PlanStreams &streams) {
  return MeetingFinder(timeline, streams).run();
}

} // namespace llmc::ordering
