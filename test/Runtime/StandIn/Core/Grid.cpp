//===- Grid.cpp - Kernels run by fibers -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Grid.h"
#include "Core/Fiber.h"
#include "Core/Memory.h"
#include "Core/Report.h"
#include "Core/SharedMemory.h"
#include "llmc/Runtime/Plan/Format/LaneTiles.h"

#include <cstring>

using namespace llmc::standin;

namespace {

constexpr uint32_t kLanes = 32;

enum class State : uint8_t { Runnable, Barrier, Shuffle, Over };

/// One thread of a block. Its lane comes first, so that the kernel's pointer to
/// the one is a pointer to the other.
struct Fiber {
  LlmcLane lane;
  StopPoint point;
  State state;
  bool started;
  uint32_t site, value, source;
  // Of a product of tiles, at which lanes meet as at a shuffle.
  const uint32_t *factors;
  uint32_t isBf16;
  float *sums;
};

class Block {
public:
  static Block &get() {
    static Block *block = new Block;
    return *block;
  }

  void run(const Launch &launch, uint32_t index);

  void barrier(Fiber &fiber, uint32_t site);
  uint32_t shuffle(Fiber &fiber, uint32_t site, uint32_t value,
                   uint32_t source);
  void multiply(Fiber &fiber, uint32_t site, uint32_t isBf16,
                const uint32_t *factors, float *sums);
  void touch(Fiber &fiber, uint32_t site, void *address, uint32_t bytes,
             bool write);

private:
  void begin(const Launch &launch, uint32_t index);
  void resume(Fiber &fiber);
  Fiber &take(size_t place);
  void stop(Fiber &fiber);
  static void enter();
  void release(State state, uint32_t first, uint32_t count);
  void meet(Fiber &fiber, uint32_t site);
  void exchange(uint32_t warp);
  [[noreturn]] void reportStuck();
  [[noreturn]] void report(const std::string &what);
  std::string where(const Fiber &fiber) const;

  const Launch *launch = nullptr;
  uint32_t index = 0, atBarrier = 0, over = 0;
  std::vector<Fiber> fibers;
  std::vector<uint32_t> runnable;
  std::vector<uint32_t> atShuffle; // for each warp
  std::vector<void *> parameters;
  std::vector<FiberStack> stacks; // that nobody uses
  SharedMemory shared;
  StopPoint scheduler;
  Fiber *current = nullptr;
  Activity *now = nullptr; // of this thread
  Random random{seed() + 17};
};

} // namespace

static Fiber &fiberOf(LlmcLane *lane) {
  return *reinterpret_cast<Fiber *>(lane);
}
static void laneBarrier(LlmcLane *lane, uint32_t site) {
  Block::get().barrier(fiberOf(lane), site);
}
static uint32_t laneShuffle(LlmcLane *lane, uint32_t site, uint32_t value,
                            uint32_t source) {
  return Block::get().shuffle(fiberOf(lane), site, value, source);
}
static void laneMultiply(LlmcLane *lane, uint32_t site, uint32_t isBf16,
                         const uint32_t *factors, float *sums) {
  Block::get().multiply(fiberOf(lane), site, isBf16, factors, sums);
}
static void laneTouch(LlmcLane *lane, uint32_t site, void *address,
                      uint32_t bytes, uint32_t write) {
  Block::get().touch(fiberOf(lane), site, address, bytes, write != 0);
}

void Block::begin(const Launch &given, uint32_t number) {
  launch = &given;
  index = number;
  atBarrier = over = 0;
  fibers.resize(given.threads);
  runnable.resize(given.threads);
  atShuffle.assign((given.threads + kLanes - 1) / kLanes, 0);
  shared.begin(given.sharedBytes, random.next());
  for (uint32_t i = 0; i < given.threads; ++i) {
    Fiber &fiber = fibers[i];
    fiber.lane = {
        i,           given.threads, number,    given.blocks, shared.data(),
        laneBarrier, laneShuffle,   laneTouch, laneMultiply};
    fiber.state = State::Runnable;
    fiber.started = false;
    fiber.site = 0;
    runnable[i] = i;
  }
  parameters.clear();
  for (const uint64_t &value : given.parameters)
    parameters.push_back(const_cast<uint64_t *>(&value));
}

void Block::enter() {
  Block &block = get();
  arrived(block.scheduler);
  Fiber &fiber = *block.current;
  block.launch->entry(&fiber.lane, block.parameters.data());
  fiber.state = State::Over;
  switchTo(fiber.point, block.scheduler, true);
}

/// A fiber that can go on, and now does.
Fiber &Block::take(size_t place) {
  Fiber &fiber = fibers[runnable[place]];
  runnable[place] = runnable.back();
  runnable.pop_back();
  current = &fiber;
  now->thread = fiber.lane.thread;
  return fiber;
}

/// Another fiber goes on, at once where it has begun.
void Block::stop(Fiber &fiber) {
  if (!runnable.empty()) {
    size_t place = random.below(runnable.size());
    if (fibers[runnable[place]].started) {
      Fiber &next = take(place);
      if (&next != &fiber)
        switchTo(fiber.point, next.point);
      return;
    }
  }
  switchTo(fiber.point, scheduler);
}

void Block::resume(Fiber &fiber) {
  if (!fiber.started) {
    FiberStack stack = stacks.empty() ? FiberStack::make() : stacks.back();
    if (!stacks.empty())
      stacks.pop_back();
    prepare(fiber.point, stack, enter);
    fiber.started = true;
  }
  switchTo(scheduler, fiber.point);
  // Perhaps another one has come back.
  if (current->state != State::Over)
    return;
  stacks.push_back(current->point.stack);
  ++over;
}

void Block::run(const Launch &given, uint32_t number) {
  now = &activity();
  *now = {given.kernel.c_str(), number, 0};
  begin(given, number);
  while (!runnable.empty()) {
    resume(take(random.below(runnable.size())));
    if (runnable.empty() && over < given.threads)
      reportStuck();
  }
  *now = {};
}

/// Lets `count` fibers go on, which all wait in `state`.
void Block::release(State state, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) {
    if (fibers[i].state != state)
      report("a fiber is not where it should be");
    fibers[i].state = State::Runnable;
    runnable.push_back(i);
  }
}

void Block::barrier(Fiber &fiber, uint32_t site) {
  fiber.site = site;
  fiber.state = State::Barrier;
  if (++atBarrier == launch->threads) {
    for (const Fiber &other : fibers)
      if (other.site != site)
        report(format("divergent barrier: thread %u is at site %u, thread %u "
                      "at site %u",
                      fiber.lane.thread, site, other.lane.thread, other.site));
    atBarrier = 0;
    shared.passBarrier();
    release(State::Barrier, 0, launch->threads);
  }
  stop(fiber);
}

uint32_t Block::shuffle(Fiber &fiber, uint32_t site, uint32_t value,
                        uint32_t source) {
  if (source >= kLanes)
    report(format("shuffle at site %u, thread %u: lane %u is asked for", site,
                  fiber.lane.thread, source));
  fiber.value = value;
  fiber.source = source;
  fiber.factors = nullptr;
  meet(fiber, site);
  return fiber.value;
}

void Block::multiply(Fiber &fiber, uint32_t site, uint32_t isBf16,
                     const uint32_t *factors, float *sums) {
  fiber.factors = factors;
  fiber.isBf16 = isBf16;
  fiber.sums = sums;
  meet(fiber, site);
}

/// The last lane of a warp that comes lets all go on.
void Block::meet(Fiber &fiber, uint32_t site) {
  uint32_t warp = fiber.lane.thread / kLanes;
  if ((warp + 1) * kLanes > launch->threads)
    report(format("shuffle at site %u, thread %u: its warp has %u lanes", site,
                  fiber.lane.thread, launch->threads - warp * kLanes));
  fiber.site = site;
  fiber.state = State::Shuffle;
  if (++atShuffle[warp] == kLanes)
    exchange(warp);
  stop(fiber);
}

static void multiplyLanes(Fiber *lanes) {
  uint32_t factors[kLanes][LLMC_LANE_FACTORS];
  for (uint32_t i = 0; i < kLanes; ++i)
    std::memcpy(factors[i], lanes[i].factors, sizeof factors[i]);
  for (uint32_t i = 0; i < kLanes; ++i)
    llmcMultiplyLanes(factors, lanes[i].isBf16, i, lanes[i].sums);
}

void Block::exchange(uint32_t warp) {
  Fiber *lanes = &fibers[warp * kLanes];
  uint32_t given[kLanes];
  for (uint32_t i = 0; i < kLanes; ++i) {
    if (lanes[i].site != lanes[0].site)
      report(format("divergent shuffle: thread %u is at site %u, thread %u at "
                    "site %u",
                    lanes[0].lane.thread, lanes[0].site, lanes[i].lane.thread,
                    lanes[i].site));
    given[i] = lanes[i].value;
  }
  if (lanes[0].factors)
    multiplyLanes(lanes);
  else
    for (uint32_t i = 0; i < kLanes; ++i)
      lanes[i].value = given[lanes[i].source];
  atShuffle[warp] = 0;
  release(State::Shuffle, warp * kLanes, kLanes);
}

void Block::touch(Fiber &fiber, uint32_t site, void *address, uint32_t bytes,
                  bool write) {
  std::string fault =
      shared.touch(fiber.lane.thread, site, address, bytes, write);
  if (!fault.empty())
    report(fault);
}

std::string Block::where(const Fiber &fiber) const {
  static const char *const states[] = {"runs after site", "waits at barrier",
                                       "waits at shuffle", "is over, last at"};
  return format("thread %u %s %u", fiber.lane.thread,
                states[static_cast<int>(fiber.state)], fiber.site);
}

/// Nobody can go on: names two threads that are not at the same place.
void Block::reportStuck() {
  const Fiber *waiting = nullptr, *other = nullptr;
  for (const Fiber &fiber : fibers)
    if (fiber.state != State::Over && !waiting)
      waiting = &fiber;
  bool inWarp = waiting->state == State::Shuffle;
  for (const Fiber &fiber : fibers)
    if (fiber.state != waiting->state || fiber.site != waiting->site)
      if (!inWarp ||
          fiber.lane.thread / kLanes == waiting->lane.thread / kLanes) {
        other = &fiber;
        break;
      }
  report(format("divergent %s: %s, and %s", inWarp ? "shuffle" : "barrier",
                where(*waiting).c_str(),
                other ? where(*other).c_str() : "no other thread comes"));
}

void Block::report(const std::string &what) {
  violation("kernel '%s', block %u: %s", launch->kernel.c_str(), index,
            what.c_str());
}

void llmc::standin::runGrid(const Launch &launch) {
  static Random random(seed() + 5);
  std::vector<uint32_t> order(launch.blocks);
  for (uint32_t i = 0; i < launch.blocks; ++i) {
    uint32_t other = random.below(i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  for (uint32_t block : order)
    Block::get().run(launch, block);
}
