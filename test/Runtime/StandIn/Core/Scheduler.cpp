//===- Scheduler.cpp - Work of all streams, in some legal order -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Scheduler.h"
#include "Core/Objects.h"

#include <csignal>
#include <sys/mman.h>
#include <thread>

using namespace llmc::standin;
using namespace std::chrono_literals;

static thread_local bool onHostThread = false;

bool llmc::standin::isHostFunctionThread() { return onHostThread; }

Scheduler &Scheduler::get() {
  static Scheduler *scheduler = new Scheduler;
  return *scheduler;
}

Scheduler::Scheduler() : random(seed()) {
  std::thread([this] { work(); }).detach();
  std::thread([this] { serveHost(); }).detach();
}

OpRef Scheduler::create(WorkRef work, uint64_t lane) {
  auto op = std::make_shared<Op>();
  op->work = std::move(work);
  op->lane = lane;
  op->missing = 1; // until it is submitted
  return op;
}

void Scheduler::order(const OpRef &op, const OpRef &earlier) {
  if (!earlier || earlier->done || earlier == op)
    return;
  earlier->followers.push_back(op);
  ++op->missing;
}

static void countPinned(const Work &work, int change) {
  for (uint64_t address : work.usesHost)
    if (HostRange *range = Memory::get().findHost(address))
      range->pending += change;
    else
      violation("'%s' uses host memory that is pinned no more",
                work.name.c_str());
}

void Scheduler::submit(const OpRef &op) {
  const Work &work = *op->work;
  for (const AllocationRef &use : work.uses) {
    if (!use->live)
      violation("'%s' is submitted, and its memory is freed",
                work.name.c_str());
    ++use->pending;
  }
  countPinned(work, 1);
  if (work.context)
    ++work.context->unfinished;
  if (work.meet)
    op->post = work.meet(op);
  if (work.submitted)
    work.submitted(op);
  if (--op->missing == 0)
    becomeReady(op);
}

void Scheduler::becomeReady(const OpRef &op) {
  if (op->post) {
    std::function<void()> post = std::move(op->post);
    post();
  } else if (op->work->onHost) {
    hostQueue.push_back(op);
    hostRunnable.notify_one();
  } else {
    ready.push_back(op);
    runnable.notify_one();
  }
}

void Scheduler::finish(const OpRef &op) {
  op->done = true;
  op->finished = std::chrono::steady_clock::now();
  for (const AllocationRef &use : op->work->uses)
    --use->pending;
  countPinned(*op->work, -1);
  if (op->work->context)
    --op->work->context->unfinished;
  std::vector<OpRef> followers = std::move(op->followers);
  for (const OpRef &follower : followers)
    if (--follower->missing == 0)
      becomeReady(follower);
  if (op->afterwards) {
    std::function<void()> afterwards = std::move(op->afterwards);
    afterwards();
  }
  changed.notify_all();
}

void Scheduler::wait(Lock &lock, const OpRef &op) {
  if (op)
    waitUntil(lock, [&op] { return op->done; });
}

void Scheduler::waitUntil(Lock &lock, const std::function<bool()> &reached) {
  if (reached())
    return;
  ++waiters;
  runnable.notify_one();
  changed.wait(lock, reached);
  --waiters;
}

void Scheduler::nudge() {
  budget = random.below(4);
  runnable.notify_one();
}

void Scheduler::poll(std::function<bool()> look) {
  looks.push_back(std::move(look));
  runnable.notify_one();
}

/// A ready op: for some time one is as good as another, then some streams run
/// ahead of others as far as they can.
OpRef Scheduler::take() {
  if (left-- == 0) {
    left = 8 + random.below(56);
    preference = random.below(2) ? random.next() | 1 : 0;
  }
  size_t chosen = random.below(ready.size());
  if (preference && random.below(8)) {
    auto rank = [this](const OpRef &op) {
      return Random(op->lane * preference).next();
    };
    for (size_t i = 0; i < ready.size(); ++i)
      if (rank(ready[i]) > rank(ready[chosen]))
        chosen = i;
  }
  OpRef op = ready[chosen];
  ready[chosen] = ready.back();
  ready.pop_back();
  return op;
}

void Scheduler::execute(Lock &lock, const OpRef &op) {
  for (const AllocationRef &use : op->work->uses)
    if (!use->live)
      violation("'%s' runs, and its memory is freed", op->work->name.c_str());
  if (op->work->run) {
    lock.unlock();
    op->work->run();
    lock.lock();
  }
  finish(op);
}

/// Calls what waits for other processes. True where one of them came.
bool Scheduler::lookAround() {
  bool any = false;
  for (size_t i = 0; i < looks.size();) {
    std::function<bool()> look = looks[i];
    if (!look()) {
      ++i;
      continue;
    }
    looks.erase(looks.begin() + i);
    any = true;
  }
  if (any)
    changed.notify_all();
  return any;
}

static void giveSignalsAStack() {
  constexpr size_t bytes = 64 << 10;
  stack_t stack = {};
  stack.ss_sp = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = bytes;
  sigaltstack(&stack, nullptr);
}

void Scheduler::work() {
  giveSignalsAStack();
  const std::chrono::milliseconds idle(
      environmentNumber("LLMC_STANDIN_IDLE_MS", 2));
  Lock lock(mutex);
  for (;;) {
    if (!looks.empty())
      lookAround();
    if (ready.empty())
      budget = 0; // what somebody asked for is done
    bool wanted = waiters || budget;
    if (ready.empty() && looks.empty())
      runnable.wait(lock);
    else if (ready.empty())
      runnable.wait_for(lock, 50us);
    else if (wanted ||
             runnable.wait_for(lock, 2ms) == std::cv_status::timeout) {
      budget -= budget && !waiters;
      execute(lock, take());
    }
  }
}

void Scheduler::serveHost() {
  onHostThread = true;
  Lock lock(mutex);
  for (;;) {
    hostRunnable.wait(lock, [this] { return !hostQueue.empty(); });
    OpRef op = hostQueue[random.below(hostQueue.size())];
    hostQueue.erase(std::find(hostQueue.begin(), hostQueue.end(), op));
    execute(lock, op);
  }
}
