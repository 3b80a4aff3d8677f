//===- Cursor.cpp - How cursors move --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scheduler's half of the pool: it looks at heads, makes tasks, and moves
// cursors when tasks end. Runs under the pool's mutex.
//
//   C [ matmul | record e ]          settle(C): matmul is a task
//   T [ wait e | all_reduce ]        settle(T): linked to e
//   matmul ends -> C moves to record: e reached -> T is looked at again,
//   passes the wait, stands at all_reduce
//
//===----------------------------------------------------------------------===//

#include "KernelObject.h"
#include "LibraryOp.h"
#include "Pool.h"

#include <fmt/format.h>

namespace llmc::rt::cpu {

/// Looks at all streams whose cursor moved or may move, until none is left.
void Pool::settleAll() {
  while (!unsettled.empty() && sticky.ok()) {
    CpuStream *stream = unsettled.back();
    unsettled.pop_back();
    while (sticky.ok() && passes(*stream)) {
      ++stream->head;
    }
  }
  unsettled.clear();
}

/// Whether the cursor passes the head at once; otherwise the head becomes a
/// task, or the stream is linked to what it waits for.
bool Pool::passes(CpuStream &stream) {
  if (stream.atEnd()) {
    stream.state = CpuStream::State::drained;
    --undrained;
    return false;
  }
  const Entry &entry = stream.front();
  if (auto *record = std::get_if<RecordEntry>(&entry.work)) {
    reach(*record->event, record->generation);
    return true;
  }
  if (auto *wait = std::get_if<WaitEntry>(&entry.work)) {
    if (wait->event->reached >= wait->generation) {
      endWait(stream);
      return true;
    }
    if (wait->isForCommunication && stream.stands == TimePoint()) {
      stream.stands = std::chrono::steady_clock::now();
    }
    stream.state = CpuStream::State::blocked;
    stream.nextWaiter = wait->event->waiters;
    wait->event->waiters = &stream;
    return false;
  }
  if (auto *gate = std::get_if<GateEntry>(&entry.work)) {
    return passesGate(stream, *gate);
  }
  if (std::holds_alternative<RepeatEntry>(entry.work)) {
    standAtRepeat(stream);
    return false;
  }
  if (auto *end = std::get_if<RepeatEndEntry>(&entry.work)) {
    leaveRepeat(stream, *end);
    return false;
  }
  if (auto *collective = std::get_if<CollectiveEntry>(&entry.work)) {
    stream.state = CpuStream::State::blocked;
    standAtCollective(stream, *collective);
    return false;
  }
  if (auto *exchange = std::get_if<ExchangeEntry>(&entry.work)) {
    stream.state = CpuStream::State::blocked;
    postParts(stream, *exchange);
    return stream.partsLeft == 0;
  }
  if (stream.skips) {
    return true;
  }
  makeHeadReady(stream);
  return false;
}

/// What it stood for communication is exposed.
void Pool::endWait(CpuStream &stream) {
  if (stream.stands != TimePoint()) {
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - stream.stands;
    exposed[ended % mostSteps] += time.count();
    stream.stands = TimePoint();
  }
}

void Pool::reach(CpuEvent &event, uint64_t generation) {
  event.reached = std::max(event.reached, generation);
  CpuStream *waiter = event.waiters;
  event.waiters = nullptr;
  while (waiter) {
    unsettled.push_back(waiter);
    waiter = waiter->nextWaiter;
  }
}

/// What the data says of a call, with the place of what is wrong.
static Status checkCall(const CpuStream &stream, const LibraryEntry &call) {
  Status status = call.op->check(stream.frontWords());
  return status.ok()
             ? status
             : makeError(status.kind(), fmt::format("{} in '{}' of device {}",
                                                    status.message(),
                                                    stream.front().origin->name,
                                                    stream.device));
}

void Pool::makeHeadReady(CpuStream &stream) {
  stream.tickets = 1;
  if (auto *launch = std::get_if<LaunchEntry>(&stream.front().work)) {
    stream.tickets = launch->kernel->tickets(stream.threads);
  } else if (auto *call = std::get_if<LibraryEntry>(&stream.front().work)) {
    if (Status status = checkCall(stream, *call); !status.ok()) {
      stop(std::move(status));
      return;
    }
    stream.tickets = call->op->tickets();
  }
  stream.state = CpuStream::State::ready;
  stream.nextTicket = stream.doneTickets = 0;
  Task task;
  task.stream = &stream;
  task.priority = stream.priority;
  task.number = stream.number;
  ready.push_back(task);
}

void Pool::standAtCollective(CpuStream &stream, const CollectiveEntry &entry) {
  Group &group = *entry.group;
  if (entry.sequence + group.again[entry.rank] != group.current) {
    deferred.push_back(&stream);
    return;
  }
  group.standing[entry.rank] = &stream;
  if (++group.numStanding < static_cast<int>(group.local.size())) {
    return;
  }
  if (Status status = checkMembers(group); !status.ok()) {
    stop(std::move(status));
    return;
  }
  if (stream.skips) {
    leaveCollective(group);
    return;
  }
  group.tickets = 1;
  if (group.remote) {
    startClock(group.began);
    group.remote->startCollective();
    return;
  }
  if (Status status = checkCounts(group); !status.ok()) {
    stop(std::move(status));
    return;
  }
  group.tickets = collectiveTickets(*entry.collective, numWorkers());
  group.nextTicket = group.doneTickets = 0;
  Task task;
  task.kind = Task::Kind::collective;
  task.group = &group;
  task.priority = stream.priority;
  task.number = group.number;
  ready.push_back(task);
}

/// Posts the parts of the exchange at the head that are not posted yet. A part
/// whose channel is still busy with an earlier transfer of its direction
/// stays behind, and the stream is looked at again when any transfer ends.
void Pool::postParts(CpuStream &stream, const ExchangeEntry &entry) {
  auto *parts = reinterpret_cast<ExchangePart *>(stream.frontWords());
  if (!stream.posted) {
    stream.posted = true;
    stream.partsLeft = entry.numParts;
  }
  bool early = false;
  for (uint32_t i = 0; i < entry.numParts; ++i) {
    ExchangePart &part = parts[i];
    if (part.posted) {
      continue;
    }
    Channel &channel = *part.channel;
    if (part.sequence != channel.current) {
      early = true;
      continue;
    }
    part.posted = true;
    (part.send ? channel.send : channel.receive) = {&stream, part.buffer,
                                                    part.bytes};
    if (channel.group->remote) {
      startClock(channel.began);
      channel.group->remote->startTransfer(channel.sender);
    } else if (channel.send.stream && channel.receive.stream) {
      startTransfer(channel);
    }
  }
  if (early) {
    deferred.push_back(&stream);
  }
}

void Pool::startTransfer(Channel &channel) {
  const CpuStream &from = *channel.send.stream;
  const CpuStream &to = *channel.receive.stream;
  if (channel.send.bytes != channel.receive.bytes) {
    stop(makeError(
        ErrorKind::mismatch,
        fmt::format(
            "expected {} bytes in receive '{}' of device {}, got {} from send "
            "'{}' of device {}",
            channel.receive.bytes, to.front().origin->name, to.device,
            channel.send.bytes, from.front().origin->name, from.device)));
    return;
  }
  Task task;
  task.kind = Task::Kind::transfer;
  task.channel = &channel;
  task.priority = std::max(from.priority, to.priority);
  task.number = from.number * 65537u + to.number;
  ready.push_back(task);
}

void Pool::finish(const Task &task) {
  switch (task.kind) {
  case Task::Kind::head:
    if (++task.stream->doneTickets == task.stream->tickets) {
      note(*task.stream, task.stream->began);
      advance(*task.stream);
    }
    break;
  case Task::Kind::collective:
    if (++task.group->doneTickets == task.group->tickets) {
      finishCollective(*task.group);
    }
    break;
  case Task::Kind::transfer:
    finishTransfer(*task.channel);
    break;
  }
  settleAll();
}

void Pool::advance(CpuStream &stream) {
  ++stream.head;
  stream.posted = false;
  unsettled.push_back(&stream);
}

void Pool::finishCollective(Group &group) {
  const CollectiveEntry &entry = entryOf(group, group.local.front());
  auto kind = static_cast<size_t>(entry.collective->kind);
  uint64_t bytes = movedBytes(group);
  bool scalar = isScalar(*entry.collective, group.size());
  group.counts.collectives[kind] += 1;
  group.counts.bytes[kind] += bytes;
  group.counts.scalars[kind] += scalar;
  group.counts.scalarBytes[kind] += scalar ? bytes : 0;
  for (int rank : group.local) {
    note(*group.standing[rank], group.began);
  }
  leaveCollective(group);
}

/// The members move on.
void Pool::leaveCollective(Group &group) {
  ++group.current;
  group.numStanding = 0;
  for (int rank : group.local) {
    advance(*group.standing[rank]);
    group.standing[rank] = nullptr;
  }
  settleDeferred();
}

void Pool::finishTransfer(Channel &channel) {
  channel.group->counts.transfers += 1;
  channel.group->counts.transferBytes +=
      std::max(channel.send.bytes, channel.receive.bytes);
  ++channel.current;
  for (ChannelSide *side : {&channel.send, &channel.receive}) {
    CpuStream *stream = side->stream;
    *side = {};
    if (stream && --stream->partsLeft == 0) {
      note(*stream, channel.began);
      advance(*stream);
    }
  }
  settleDeferred();
}

void Pool::settleDeferred() {
  for (CpuStream *stream : deferred) {
    unsettled.push_back(stream);
  }
  deferred.clear();
}

} // namespace llmc::rt::cpu
