//===- Pool.cpp - The workers that serve all streams ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads, the choice of the next task, and the drain. How cursors move is in
// Cursor.cpp. Tested by test/Runtime/Backends/Cpu/PoolTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

#include "KernelObject.h"
#include "LibraryOp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

/// SplitMix64: enough to choose among heads, and the same on every machine.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static Status tooManySteps() {
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected at most {} steps that are not waited "
                               "for",
                               mostSteps));
}

static void mix(uint64_t &hash, uint64_t value) {
  hash = (hash ^ value) * 0x100000001b3u;
  hash ^= hash >> 29;
}

Pool::Pool(const WorldOptions &options)
    : options(options), random(options.shuffleSeed.value_or(0)) {
  if (owners.transport = options.transport.get(); owners.transport) {
    owners.devicesOfProcess =
        static_cast<int>(options.devices) / owners.transport->size();
  }
  std::unique_lock<std::mutex> lock(mutex);
  for (int i = 0; i < std::max(1, options.threads); ++i) {
    workers.emplace_back([this] { work(); });
  }
  // What a thread allocates for itself is there before the first step.
  done.wait(lock, [this] { return numReady == workers.size(); });
}

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    leaving = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers) {
    worker.join();
  }
  endLanes();
  groups.clear(); // Their lanes use all else.
}

/// One that waits has a step that nobody goes on with, here and perhaps there.
void Pool::endLanes() {
  std::lock_guard<std::mutex> lock(mutex);
  if (waiting && sticky.ok()) {
    sticky = makeError(ErrorKind::internal,
                       "expected all steps to end before their world");
  }
  if (owners.transport && !sticky.ok()) {
    owners.transport->abort(sticky);
  }
}

CpuStream *Pool::addStream(const StreamShape &shape, int device, int threads) {
  auto stream = std::make_unique<CpuStream>();
  stream->name = shape.name;
  stream->device = device;
  stream->priority = shape.priority;
  stream->threads = threads;
  stream->use = shape.use;
  stream->number = static_cast<uint32_t>(streams.size());
  for (Queue &queue : stream->queues) {
    queue.entries.resize(shape.entries);
    queue.words.resize(shape.words);
  }
  streams.push_back(std::move(stream));
  unsettled.reserve(streams.size());
  deferred.reserve(streams.size());
  reserveTasks(1);
  return streams.back().get();
}

Group *Pool::addGroup(std::vector<int> members) {
  auto number = static_cast<uint32_t>(groups.size());
  groups.push_back(std::make_unique<Group>(std::move(members), number));
  Group &group = *groups.back();
  for (int rank = 0; rank < group.size(); ++rank) {
    if (owners.isLocal(group.members[rank])) {
      group.local.push_back(rank);
    }
  }
  if (!group.local.empty() && group.local.size() < group.members.size()) {
    group.remote = std::make_unique<RemoteGroup>(*this, group, owners);
  }
  reserveTasks(2);
  return &group;
}

/// One task for the head of each stream; for each group one of a collective, or
/// of a transfer in each direction.
void Pool::reserveTasks(size_t more) {
  mostTasks += more;
  ready.reserve(mostTasks);
}

Entry *Pool::push(CpuStream &stream, uint32_t words, const Origin &origin) {
  if (submitted - waited == mostSteps) {
    fail(tooManySteps());
    return nullptr;
  }
  Queue &queue = stream.queues[submitted % mostSteps];
  if (queue.numEntries == queue.entries.size() ||
      queue.words.size() - queue.numWords < words) {
    fail(makeError(
        ErrorKind::mismatch,
        fmt::format("expected at most {} entries and {} words in one step in "
                    "stream '{}' of device {}, got more at '{}'",
                    queue.entries.size(), queue.words.size(), stream.name,
                    stream.device, origin.name)));
    return nullptr;
  }
  Entry &entry = queue.entries[queue.numEntries++];
  entry.origin = &origin;
  entry.words = queue.words.data() + queue.numWords;
  queue.numWords += words;
  return &entry;
}

void Pool::pushExchange(CpuStream &stream, const TransferPart *parts,
                        uint32_t numParts, const Origin &origin) {
  for (uint32_t i = 0; i < numParts; ++i) {
    if (parts[i].communicator->size() != 2) {
      fail(makeError(ErrorKind::mismatch,
                     fmt::format("expected transfers in groups of 2 in '{}', "
                                 "got one of {}",
                                 origin.name, parts[i].communicator->size())));
      return;
    }
  }
  Entry *entry = push(stream, wordsOfPart * numParts, origin);
  if (!entry) {
    return;
  }
  entry->work = ExchangeEntry{numParts};
  auto *queued = reinterpret_cast<ExchangePart *>(entry->words);
  for (uint32_t i = 0; i < numParts; ++i) {
    const TransferPart &part = parts[i];
    auto &own = static_cast<CpuCommunicator &>(*part.communicator);
    Channel &channel =
        own.members().channel(part.send ? own.rank() : 1 - own.rank());
    uint64_t sequence =
        part.send ? channel.sendsIssued++ : channel.receivesIssued++;
    queued[i] = {part.buffer, part.bytes, sequence, &channel, part.send, false};
  }
}

void Pool::fail(Status status) {
  std::lock_guard<std::mutex> lock(mutex);
  stop(std::move(status));
}

Status Pool::submit() {
  if (submitted - waited == mostSteps) {
    return tooManySteps();
  }
  std::lock_guard<std::mutex> lock(mutex);
  ++submitted;
  if (!active) {
    startSteps();
  }
  return sticky;
}

Status Pool::wait(std::chrono::milliseconds deadline) {
  std::unique_lock<std::mutex> lock(mutex);
  if (waited == submitted) {
    return sticky;
  }
  auto end = std::chrono::steady_clock::now() + deadline;
  bool inTime = done.wait_until(lock, end, [this] {
    return ended > waited || (!sticky.ok() && !active);
  });
  if (!inTime) {
    stop(overdue(deadline));
    active = false;
  }
  if (ended == waited) {
    return sticky;
  }
  ++waited;
  return Status::success();
}

Status Pool::drain(std::chrono::milliseconds deadline) {
  // What was enqueued since the last step is one more.
  while (submitted - waited == mostSteps) {
    LLMC_TRY(wait(deadline));
  }
  LLMC_TRY(submit());
  while (waited < submitted) {
    LLMC_TRY(wait(deadline));
  }
  std::lock_guard<std::mutex> lock(mutex);
  return sticky;
}

OrderDigest Pool::digest() const {
  std::lock_guard<std::mutex> lock(mutex);
  return order;
}

CommunicatorCounts Pool::countsOf(const Group &group) const {
  std::lock_guard<std::mutex> lock(mutex);
  return group.counts;
}

/// Begins the next step that was submitted, and ends those without work, until
/// one has tasks for the workers.
void Pool::startSteps() {
  while (sticky.ok() && ended < submitted) {
    undrained = 0;
    exposed[ended % mostSteps] = 0;
    for (auto &stream : streams) {
      stream->queue = &stream->queues[ended % mostSteps];
      stream->head = 0;
      if (stream->queue->numEntries) {
        ++undrained;
        unsettled.push_back(stream.get());
      }
    }
    // The list is taken from its end: the first stream is looked at first.
    std::reverse(unsettled.begin(), unsettled.end());
    settleAll();
    if (!ready.empty() || waiting || atGates) {
      active = true;
      wake.notify_one();
      return;
    }
    endStep();
  }
}

/// No task is left and no worker runs one. Empties the queues; generations and
/// sequence numbers go on.
void Pool::endStep() {
  active = false;
  if (sticky.ok() && undrained) {
    stop(deadlock());
  }
  if (sticky.ok()) {
    for (auto &stream : streams) {
      Queue &queue = stream->queues[ended % mostSteps];
      queue.numEntries = queue.numWords = stream->head = 0;
      stream->state = CpuStream::State::drained;
    }
    ++ended;
  }
  done.notify_all();
}

void Pool::stop(Status status) {
  if (sticky.ok()) {
    sticky = std::move(status);
    if (sticky.kind() == ErrorKind::peerLost) {
      sticky = sticky.withHint(whereWaits());
    }
  }
  ready.clear();
  if (waiting) {
    owners.transport->abort(sticky);
  }
  if (!running && !waiting) {
    active = false;
    done.notify_all();
  }
}

/// After a task or a lane has ended, or a gate was opened.
void Pool::goOn() {
  bool stands = atGates && sticky.ok();
  if (!running && !waiting && !stands && ready.empty()) {
    endStep();
    startSteps();
  }
  hint = active && !ready.empty();
}

/// Waits a little without sleeping: between two kernels of a step a sleep costs
/// more than the kernel. Returns with the lock.
void Pool::spin(std::unique_lock<std::mutex> &lock) {
  constexpr int mostTurns = 4000; // Some 20 microseconds.
  if (workers.size() < 2 || !active || !ready.empty()) {
    return;
  }
  lock.unlock();
  for (int turn = 0; turn < mostTurns && !hint.load(std::memory_order_relaxed);
       ++turn) {
    __builtin_ia32_pause();
  }
  lock.lock();
}

void Pool::work() {
  limitLibraryThreads();
  std::unique_lock<std::mutex> lock(mutex);
  ++numReady;
  done.notify_all();
  for (;;) {
    spin(lock);
    wake.wait(lock, [this] { return leaving || (active && !ready.empty()); });
    if (leaving) {
      return;
    }
    int ticket = 0;
    Task task = take(ticket);
    ++running;
    hint = !ready.empty();
    if (!ready.empty()) {
      wake.notify_one();
    }
    lock.unlock();
    run(task, ticket);
    lock.lock();
    --running;
    if (sticky.ok()) {
      finish(task);
    }
    goOn();
  }
}

void Pool::startClock(TimePoint &began) const {
  if (options.trace) {
    began = std::chrono::steady_clock::now();
  }
}

/// The entry at the stream's head has ended.
void Pool::note(const CpuStream &stream, TimePoint began) {
  if (options.trace) {
    spans.push_back({stream.device, stream.name, stream.front().origin, began,
                     std::chrono::steady_clock::now()});
  }
}

double Pool::exposedSeconds() const {
  std::lock_guard<std::mutex> lock(mutex);
  return waited > 0 ? exposed[(waited - 1) % mostSteps] : 0;
}

std::vector<TraceSpan> Pool::takeTrace() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(spans, {});
}

/// The next ready task: the first of the most urgent ones, or in shuffle mode
/// any.
size_t Pool::pick() {
  if (options.shuffleSeed) {
    return nextRandom(random) % ready.size();
  }
  size_t best = 0;
  for (size_t i = 1; i < ready.size(); ++i) {
    if (ready[i].priority > ready[best].priority) {
      best = i;
    }
  }
  return best;
}

/// Takes one ticket; the task stays among the ready ones while it has more.
Task Pool::take(int &ticket) {
  size_t index = pick();
  Task task = ready[index];
  bool last = true;
  if (task.kind == Task::Kind::head) {
    task.stream->state = CpuStream::State::running;
    ticket = task.stream->nextTicket++;
    last = task.stream->nextTicket == task.stream->tickets;
  } else if (task.kind == Task::Kind::collective) {
    ticket = task.group->nextTicket++;
    last = task.group->nextTicket == task.group->tickets;
  }
  if (ticket == 0) {
    startClock(task.began());
  }
  if (last) {
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(index));
  }
  mix(order.hash, static_cast<uint64_t>(task.kind));
  mix(order.hash, task.number);
  mix(order.hash, static_cast<uint64_t>(ticket));
  ++order.tasks;
  return task;
}

/// Calls `visit` with the places, in bytes, of each run of a box.
template <typename Visit>
static void forEachRun(const CopyBox &box, size_t dim, int64_t to, int64_t from,
                       Visit visit) {
  if (dim == box.dims.size()) {
    if (box.bytes > 0) {
      visit(to, from);
    }
    return;
  }
  const CopyDim &outer = box.dims[dim];
  for (uint64_t i = 0; i < outer.extent; ++i) {
    forEachRun(box, dim + 1, to, from, visit);
    to += outer.to;
    from += outer.from;
  }
}

namespace {
/// Runs one ticket of the entry at a stream's head.
struct RunEntry {
  const CpuStream &stream;
  int ticket;

  void operator()(const LaunchEntry &e) const {
    e.kernel->run(stream.frontWords(), e.numBuffers, e.scratch, ticket,
                  stream.tickets);
  }
  void operator()(const LibraryEntry &e) const {
    e.op->run(stream.frontWords(), e.workspace, ticket);
  }
  void operator()(const CopyEntry &e) const {
    forEachRun(*e.box, 0, 0, 0, [&](int64_t to, int64_t from) {
      std::memcpy(static_cast<char *>(e.to) + to,
                  static_cast<const char *>(e.from) + from, e.box->bytes);
    });
  }
  void operator()(const FillEntry &e) const {
    forEachRun(*e.box, 0, 0, 0, [&](int64_t run, int64_t) {
      char *to = static_cast<char *>(e.to) + run;
      if (e.size == 1) {
        std::memset(to, static_cast<int>(e.pattern & 0xff), e.box->bytes);
        return;
      }
      for (uint64_t at = 0; at + e.size <= e.box->bytes; at += e.size) {
        std::memcpy(to + at, &e.pattern, e.size);
      }
    });
  }
  // Never tasks of their own.
  void operator()(const RecordEntry &) const {}
  void operator()(const WaitEntry &) const {}
  void operator()(const CollectiveEntry &) const {}
  void operator()(const ExchangeEntry &) const {}
  void operator()(const RepeatEntry &) const {}
  void operator()(const RepeatEndEntry &) const {}
  void operator()(const GateEntry &) const {}
};
} // namespace

void Pool::run(const Task &task, int ticket) {
  switch (task.kind) {
  case Task::Kind::head:
    std::visit(RunEntry{*task.stream, ticket}, task.stream->front().work);
    return;
  case Task::Kind::collective:
    runCollective(*task.group, ticket);
    return;
  case Task::Kind::transfer:
    std::memcpy(task.channel->receive.buffer, task.channel->send.buffer,
                task.channel->send.bytes);
    return;
  }
}

} // namespace llmc::rt::cpu
