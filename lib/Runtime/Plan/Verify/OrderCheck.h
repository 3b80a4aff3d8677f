//===- OrderCheck.h - Run the streams, without computing --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams are queues in order; heads run as soon as they may. A send and its
// receive run when both stand at the head of their streams, a collective over
// stages when all its members do. When no head can run and one is left, that is
// the deadlock. Which ready head runs first does not matter for the clocks.
//
// Clocks span the streams of one device. That a message came from another
// device orders nothing here, although it often does: so a compiler reduces
// waits by looking at one device, and no library's buffering can break a plan.
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_ORDERCHECK_H
#define LLMC_LIB_RUNTIME_PLAN_ORDERCHECK_H

#include "AccessHistory.h"
#include "EntryWalk.h"
#include "PlanChecks.h"

#include <deque>
#include <map>
#include <memory>
#include <tuple>

namespace llmc::rt::plan {

class OrderCheck {
public:
  explicit OrderCheck(const EntryWalk &walk);
  Status run();

private:
  /// A stream of a stage.
  struct Head {
    int32_t stage;
    int32_t stream;
  };
  /// (transfer, microbatch, from, to): one message of a step.
  using MessageKey = std::tuple<int32_t, int64_t, int32_t, int32_t>;
  struct Waiting {
    Head head;
    const Message *message;
  };
  struct Meeting {
    std::deque<Waiting> senders;
    std::deque<Waiting> receivers;
  };
  struct Lane {
    size_t next = 0;
    Clock clock;
    /// What the item at the head still waits for, once it has arrived.
    int32_t openMessages = 0;
  };
  /// An operand of an instruction, looked up once.
  struct Use {
    Access access;
    bool isScratch;
    bool dense;
    bool moves; ///< depends on coordinates other than the stage
    int32_t buffer;
    int64_t offset;
    int64_t span;
    ExprId expr;
  };

  Lane &lane(Head head) {
    return lanes_[head.stage * numStreams_ + head.stream];
  }
  const Item *itemAt(Head head);

  void prepareUses();
  void prepareHistories();
  void prepareScopes();

  /// Runs the head if it may.
  Status step(Head head);
  Status arrive(Head head, const Item &item);
  Status arriveAtCollective(Head head, const Collective &collective);
  Status arriveAtMessages(Head head, const Item &item);
  Status postMessage(Head head, const Item &item, const Message &message,
                     bool isSend);
  Status meet(const Waiting &sender, const Waiting &receiver);
  Status compare(const Collective &a, const Collective &b, Head first,
                 Head second);
  /// Accesses, clock, next item.
  Status complete(Head head);
  Status access(Head head, const Item &item);
  ByteAccess resolve(Head head, const Item &item, const Use &use);
  Status refuse(const AccessHistory::Outcome &outcome, Head head,
                const Item &item, const ByteAccess &access);
  Status deadlock();
  /// Every state still holds its own value when the entry ends.
  Status checkStates();
  std::string whyBlocked(Head head, const Item &item);
  Status checkOneOrder();
  Status checkRoutes();

  const EntryWalk &walk_;
  const Plan &plan_;
  int32_t numStages_;
  int32_t numStreams_;
  std::vector<Lane> lanes_;
  std::vector<AccessHistory> histories_;
  std::vector<IntervalScope> scopes_;
  /// For each program and instruction.
  std::vector<std::vector<std::vector<Use>>> uses_;
  /// Clocks of signals that have run, while waits for them are left.
  std::vector<std::map<int32_t, std::pair<Clock, int32_t>>> signals_;
  std::vector<std::vector<bool>> done_;
  std::map<MessageKey, Meeting> meetings_;
  /// Symbol -> members that stand at it.
  std::map<int32_t, std::vector<Head>> gatherings_;
  std::deque<Head> ready_;
  /// Waits whose signal has not run: item of the stage -> heads.
  std::vector<std::map<int32_t, std::vector<Head>>> sleepers_;
};

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_ORDERCHECK_H
