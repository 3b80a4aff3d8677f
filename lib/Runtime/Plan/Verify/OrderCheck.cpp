//===- OrderCheck.cpp - Run the streams, without computing ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heads, where they meet, and what is reported when they cannot.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "OrderCheck.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Format/PlanRoutes.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

Status checkOrder(const EntryWalk &walk) { return OrderCheck(walk).run(); }

OrderCheck::OrderCheck(const EntryWalk &walk)
    : walk_(walk), plan_(walk.plan()),
      numStages_(static_cast<int32_t>(walk.stages.size())),
      numStreams_(static_cast<int32_t>(walk.plan().streams.size())) {
  lanes_.resize(static_cast<size_t>(numStages_) * numStreams_);
  for (Lane &lane : lanes_) {
    lane.clock.assign(numStreams_, 0);
  }
  signals_.resize(numStages_);
  sleepers_.resize(numStages_);
  for (const StageWalk &stage : walk.stages) {
    done_.emplace_back(stage.items.size());
  }
}

const Item *OrderCheck::itemAt(Head head) {
  const StageWalk &stage = walk_.stages[head.stage];
  const auto &queue = stage.queues[head.stream];
  size_t next = lane(head).next;
  return next < queue.size() ? &stage.items[queue[next]] : nullptr;
}

/// More than one stage takes part.
static bool isOverStages(const Plan &plan, const Collective &collective) {
  return plan.mesh.numStages() > 1 && collective.stages.size() != 1 &&
         std::find(collective.axes.begin(), collective.axes.end(),
                   plan.mesh.pipelineAxis) != collective.axes.end();
}

Status OrderCheck::complete(Head head) {
  Lane &at = lane(head);
  const StageWalk &stage = walk_.stages[head.stage];
  int32_t index = stage.queues[head.stream][at.next];
  const Item &item = stage.items[index];
  at.clock[head.stream] = static_cast<int32_t>(at.next) + 1;
  LLMC_TRY(access(head, item));
  done_[head.stage][index] = true;
  if (item.waits > 0) {
    signals_[head.stage][index] = {at.clock, item.waits};
  }
  auto sleeping = sleepers_[head.stage].find(index);
  if (sleeping != sleepers_[head.stage].end()) {
    ready_.insert(ready_.end(), sleeping->second.begin(),
                  sleeping->second.end());
    sleepers_[head.stage].erase(sleeping);
  }
  ++at.next;
  ready_.push_back(head);
  return Status::success();
}

Status OrderCheck::compare(const Collective &a, const Collective &b, Head first,
                           Head second) {
  bool same = a.kind == b.kind && a.axes == b.axes && a.stages == b.stages &&
              a.reduction == b.reduction && a.dim == b.dim &&
              a.concatDim == b.concatDim && a.inputs.size() == b.inputs.size();
  // The inputs' shapes decide those of the outputs.
  for (size_t i = 0; same && i < a.inputs.size(); ++i) {
    same = a.inputs[i].dtype == b.inputs[i].dtype &&
           a.inputs[i].shape == b.inputs[i].shape;
  }
  if (!same) {
    return mismatch(fmt::format(
        "collective '{}' differs between stages {} and {} in kind, axes, type "
        "or bytes",
        escape(plan_.symbols[a.symbol]), first.stage, second.stage));
  }
  return Status::success();
}

Status OrderCheck::arriveAtCollective(Head head, const Collective &collective) {
  std::vector<Head> &members = gatherings_[collective.symbol];
  for (Head member : members) {
    if (member.stage == head.stage) {
      return mismatch(fmt::format("collective '{}' stands at the heads of two "
                                  "streams of stage {}",
                                  escape(plan_.symbols[collective.symbol]),
                                  head.stage));
    }
    const auto &other =
        std::get<Collective>(itemAt(member)->instruction->action);
    LLMC_TRY(compare(collective, other, head, member));
  }
  members.push_back(head);
  size_t expected =
      collective.stages.empty() ? numStages_ : collective.stages.size();
  if (members.size() < expected) {
    return Status::success();
  }
  std::vector<Head> complete = std::move(members);
  gatherings_.erase(collective.symbol);
  for (Head member : complete) {
    LLMC_TRY(this->complete(member));
  }
  return Status::success();
}

Status OrderCheck::meet(const Waiting &sender, const Waiting &receiver) {
  const auto &sent = sender.message->operands;
  const auto &received = receiver.message->operands;
  bool same = sent.size() == received.size();
  for (size_t i = 0; same && i < sent.size(); ++i) {
    same = sent[i].dtype == received[i].dtype &&
           elementsOf(sent[i]) == elementsOf(received[i]);
  }
  if (!same) {
    return mismatch(fmt::format(
        "transfer '{}' from stage {} to stage {} differs in type or bytes",
        escape(plan_.transfers[sender.message->transfer]), sender.head.stage,
        receiver.head.stage));
  }
  for (Head head : {sender.head, receiver.head}) {
    if (--lane(head).openMessages == 0) {
      LLMC_TRY(complete(head));
    }
  }
  return Status::success();
}

Status OrderCheck::postMessage(Head head, const Item &item,
                               const Message &message, bool isSend) {
  const StageWalk &stage = walk_.stages[head.stage];
  const Invocation &invocation = stage.invocations[item.invocation];
  auto peer =
      static_cast<int32_t>(walk_.evaluateAt(stage, invocation, message.peer));
  MessageKey key(message.transfer, invocation.tag, isSend ? head.stage : peer,
                 isSend ? peer : head.stage);
  Meeting &meeting = meetings_[key];
  (isSend ? meeting.senders : meeting.receivers).push_back({head, &message});
  if (meeting.senders.empty() || meeting.receivers.empty()) {
    return Status::success();
  }
  Waiting sender = meeting.senders.front();
  Waiting receiver = meeting.receivers.front();
  meeting.senders.pop_front();
  meeting.receivers.pop_front();
  if (meeting.senders.empty() && meeting.receivers.empty()) {
    meetings_.erase(key);
  }
  return meet(sender, receiver);
}

Status OrderCheck::arriveAtMessages(Head head, const Item &item) {
  const Action &action = item.instruction->action;
  Lane &at = lane(head);
  // One more than there are, so that it cannot complete while it is posted.
  if (const auto *send = std::get_if<Send>(&action)) {
    at.openMessages = 2;
    LLMC_TRY(postMessage(head, item, send->message, true));
  } else if (const auto *receive = std::get_if<Receive>(&action)) {
    at.openMessages = 2;
    LLMC_TRY(postMessage(head, item, receive->message, false));
  } else {
    const auto &exchange = std::get<Exchange>(action);
    at.openMessages = 1 + static_cast<int32_t>(exchange.sends.size() +
                                               exchange.receives.size());
    for (const Message &message : exchange.sends) {
      LLMC_TRY(postMessage(head, item, message, true));
    }
    for (const Message &message : exchange.receives) {
      LLMC_TRY(postMessage(head, item, message, false));
    }
  }
  return --at.openMessages == 0 ? complete(head) : Status::success();
}

Status OrderCheck::arrive(Head head, const Item &item) {
  const Action &action = item.instruction->action;
  if (std::holds_alternative<Send>(action) ||
      std::holds_alternative<Receive>(action) ||
      std::holds_alternative<Exchange>(action)) {
    return arriveAtMessages(head, item);
  }
  const auto *collective = std::get_if<Collective>(&action);
  if (collective && isOverStages(plan_, *collective)) {
    return arriveAtCollective(head, *collective);
  }
  if (std::holds_alternative<Wait>(action) && item.signal >= 0) {
    auto &signals = signals_[head.stage];
    auto signal = signals.find(item.signal);
    joinClock(lane(head).clock, signal->second.first);
    if (--signal->second.second == 0) {
      signals.erase(signal);
    }
  }
  return complete(head);
}

Status OrderCheck::step(Head head) {
  const Item *item = itemAt(head);
  if (!item) {
    return Status::success();
  }
  if (item->signal >= 0 && !done_[head.stage][item->signal]) {
    sleepers_[head.stage][item->signal].push_back(head);
    return Status::success();
  }
  return arrive(head, *item);
}

std::string OrderCheck::whyBlocked(Head head, const Item &item) {
  std::string text =
      fmt::format("stream '{}': {}", escape(plan_.streams[head.stream].name),
                  walk_.describe(head.stage, item));
  const Action &action = item.instruction->action;
  if (item.signal >= 0) {
    const Item &signal = walk_.stages[head.stage].items[item.signal];
    return text + " waits for " + walk_.describe(head.stage, signal);
  }
  if (const auto *collective = std::get_if<Collective>(&action)) {
    text += fmt::format(" waits in '{}' for stages",
                        escape(plan_.symbols[collective->symbol]));
    for (int32_t stage = 0; stage < numStages_; ++stage) {
      bool present = false;
      for (Head member : gatherings_[collective->symbol]) {
        present |= member.stage == stage;
      }
      if (!present && hasStage(collective->stages, stage)) {
        text += fmt::format(" {}", stage);
      }
    }
    return text;
  }
  return text + " waits for its partner";
}

Status OrderCheck::deadlock() {
  std::string text;
  int blocked = 0;
  // What lacks a partner comes first: waits are mostly its consequence.
  for (bool isWait : {false, true}) {
    for (int32_t s = 0; s < numStages_; ++s) {
      for (int32_t t = 0; t < numStreams_; ++t) {
        const Item *item = itemAt({s, t});
        if (item && (item->signal >= 0) == isWait && ++blocked <= 4) {
          text += (text.empty() ? "" : "; ") + whyBlocked({s, t}, *item);
        }
      }
    }
  }
  if (blocked == 0) {
    return Status::success();
  }
  if (blocked > 4) {
    text += fmt::format("; and {} more", blocked - 4);
  }
  return mismatch("deadlock: " + text);
}

/// Libraries want all collectives of a device in one order: those that two
/// stages share come in the same order on both.
Status OrderCheck::checkOneOrder() {
  std::vector<std::vector<const Collective *>> orders(numStages_);
  for (int32_t s = 0; s < numStages_; ++s) {
    for (const Item &item : walk_.stages[s].items) {
      const auto *collective =
          std::get_if<Collective>(&item.instruction->action);
      if (collective && isOverStages(plan_, *collective)) {
        orders[s].push_back(collective);
      }
    }
  }
  for (int32_t a = 0; a < numStages_; ++a) {
    for (int32_t b = a + 1; b < numStages_; ++b) {
      std::vector<int32_t> first, second;
      for (const Collective *each : orders[a]) {
        if (hasStage(each->stages, b)) {
          first.push_back(each->symbol);
        }
      }
      for (const Collective *each : orders[b]) {
        if (hasStage(each->stages, a)) {
          second.push_back(each->symbol);
        }
      }
      if (first != second) {
        return mismatch(
            fmt::format("stages {} and {} enqueue their collectives "
                        "in different orders",
                        a, b));
      }
    }
  }
  return Status::success();
}

/// A communicator has no tags: the messages of a route are issued in one order
/// at both ends.
Status OrderCheck::checkRoutes() {
  LLMC_TRY_ASSIGN(Routes routes, Routes::of(plan_));
  using Order = std::vector<std::pair<int32_t, int64_t>>;
  std::map<Route, std::pair<Order, Order>> orders; // of sends, of receives
  for (int32_t s = 0; s < numStages_; ++s) {
    const StageWalk &stage = walk_.stages[s];
    for (const Item &item : stage.items) {
      const Invocation &invocation = stage.invocations[item.invocation];
      visitMessages(item.instruction->action, [&](const Message &message,
                                                  bool isSend) {
        auto peer = static_cast<int32_t>(
            walk_.evaluateAt(stage, invocation, message.peer));
        const Route *route = isSend ? routes.find(s, peer, message.transfer)
                                    : routes.find(peer, s, message.transfer);
        if (route) {
          auto &order = orders[*route];
          (isSend ? order.first : order.second)
              .push_back({message.transfer, invocation.tag});
        }
      });
    }
  }
  for (const auto &[route, order] : orders) {
    if (order.first != order.second) {
      return mismatch(fmt::format(
          "stages {} and {} enqueue the messages of stream '{}' in different "
          "orders",
          route.from, route.to, escape(plan_.streams[route.stream].name)));
    }
  }
  return Status::success();
}

Status OrderCheck::run() {
  prepareUses();
  prepareScopes();
  prepareHistories();
  for (int32_t s = 0; s < numStages_; ++s) {
    for (int32_t t = 0; t < numStreams_; ++t) {
      ready_.push_back({s, t});
    }
  }
  while (!ready_.empty()) {
    Head head = ready_.front();
    ready_.pop_front();
    LLMC_TRY(step(head));
  }
  LLMC_TRY(deadlock());
  LLMC_TRY(checkOneOrder());
  LLMC_TRY(checkRoutes());
  return checkStates();
}

} // namespace llmc::rt::plan
