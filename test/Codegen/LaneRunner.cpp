//===- LaneRunner.cpp - Runs kernels of a GPU on the processor ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneRunner.h"
#include "llmc/Runtime/Plan/Format/LaneTiles.h"
#include <algorithm>
#include <cstring>

namespace llmc::test {

static constexpr size_t warpSize = 32, stackBytes = size_t(1) << 17;

void LaneRunner::fail(const std::string &what, uint32_t site) {
  if (message.empty())
    message = what + ", at site " + std::to_string(site);
}

void LaneRunner::enter(unsigned high, unsigned low) {
  auto *fiber = reinterpret_cast<Fiber *>((uintptr_t(high) << 32) | low);
  fiber->runner->function(&fiber->lane, fiber->runner->parameters);
  fiber->runner->wait(*fiber, State::Done, 0);
}

/// Lets others go on; comes back when the state is `Ready` again.
void LaneRunner::wait(Fiber &fiber, State state, uint32_t site) {
  fiber.state = state;
  fiber.site = site;
  swapcontext(&fiber.context, &scheduler);
}

void LaneRunner::barrier(LlmcLane *lane, uint32_t site) {
  Fiber &fiber = fiberOf(lane);
  fiber.runner->wait(fiber, State::AtBarrier, site);
}

uint32_t LaneRunner::shuffle(LlmcLane *lane, uint32_t site, uint32_t value,
                             uint32_t source) {
  Fiber &fiber = fiberOf(lane);
  fiber.value = value;
  fiber.source = source;
  fiber.factors = nullptr;
  fiber.runner->wait(fiber, State::AtShuffle, site);
  return fiber.value;
}

void LaneRunner::touch(LlmcLane *lane, uint32_t site, void *address,
                       uint32_t bytes, uint32_t write) {
  Fiber &fiber = fiberOf(lane);
  LaneRunner &runner = *fiber.runner;
  auto first = static_cast<char *>(address) - runner.shared;
  if (first < 0 || size_t(first) + bytes > runner.touched.size()) {
    runner.fail("access beyond shared memory", site);
    runner.wait(fiber, State::Done, site);
  }
  int64_t me = lane->thread;
  for (size_t at = first; at < size_t(first) + bytes; ++at) {
    Touched &byte = runner.touched[at];
    bool others = byte.hasReaders || (byte.reader >= 0 && byte.reader != me);
    if ((byte.writer >= 0 && byte.writer != me) || (write && others))
      runner.fail("race in shared memory", site);
    if (write)
      byte.writer = me;
    else if (byte.reader < 0)
      byte.reader = me;
    else
      byte.hasReaders |= byte.reader != me;
  }
}

void LaneRunner::multiply(LlmcLane *lane, uint32_t site, uint32_t isBf16,
                          const uint32_t *factors, float *sums) {
  Fiber &fiber = fiberOf(lane);
  fiber.factors = factors;
  fiber.isBf16 = isBf16;
  fiber.sums = sums;
  fiber.runner->wait(fiber, State::AtShuffle, site);
}

void LaneRunner::shuffleWarp(size_t first) {
  uint32_t values[warpSize];
  for (size_t lane = 0; lane < warpSize; ++lane)
    values[lane] = fibers[first + lane]->value;
  for (size_t lane = 0; lane < warpSize; ++lane) {
    Fiber &fiber = *fibers[first + lane];
    if (fiber.source >= warpSize)
      fail("shuffle from lane " + std::to_string(fiber.source), fiber.site);
    fiber.value = values[fiber.source % warpSize];
  }
}

void LaneRunner::multiplyWarp(size_t first) {
  uint32_t factors[warpSize][LLMC_LANE_FACTORS];
  for (size_t lane = 0; lane < warpSize; ++lane)
    std::memcpy(factors[lane], fibers[first + lane]->factors,
                sizeof factors[lane]);
  for (size_t lane = 0; lane < warpSize; ++lane) {
    Fiber &fiber = *fibers[first + lane];
    llmcMultiplyLanes(factors, fiber.isBf16, lane, fiber.sums);
  }
}

/// A warp whose lanes have all come to one shuffle or product goes on.
bool LaneRunner::releaseWarp(size_t first) {
  for (size_t lane = 0; lane < warpSize; ++lane) {
    Fiber &fiber = *fibers[first + lane];
    if (fiber.state != State::AtShuffle || fiber.site != fibers[first]->site)
      return false;
  }
  if (fibers[first]->factors)
    multiplyWarp(first);
  else
    shuffleWarp(first);
  for (size_t lane = 0; lane < warpSize; ++lane)
    fibers[first + lane]->state = State::Ready;
  return true;
}

bool LaneRunner::releaseBlock() {
  for (auto &fiber : fibers)
    if (fiber->state != State::AtBarrier || fiber->site != fibers[0]->site)
      return false;
  for (auto &fiber : fibers)
    fiber->state = State::Ready;
  std::fill(touched.begin(), touched.end(), Touched());
  return true;
}

/// When nobody is ready; false when nobody gets so.
bool LaneRunner::release() {
  bool any = releaseBlock();
  for (size_t first = 0; first + warpSize <= fibers.size(); first += warpSize)
    any |= releaseWarp(first);
  return any;
}

void LaneRunner::prepare(Fiber &fiber, uint32_t block, uint32_t blocks) {
  fiber.lane.block = block;
  fiber.lane.blocks = blocks;
  fiber.lane.shared = shared;
  fiber.state = State::Ready;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.data();
  fiber.context.uc_stack.ss_size = fiber.stack.size();
  fiber.context.uc_link = nullptr;
  auto address = reinterpret_cast<uintptr_t>(&fiber);
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(&enter), 2,
              unsigned(address >> 32), unsigned(address));
}

bool LaneRunner::runBlock(uint32_t block, uint32_t blocks) {
  for (auto &fiber : fibers)
    prepare(*fiber, block, blocks);
  // Nothing is there before it is stored.
  std::memset(shared, 0x7f, touched.size());
  std::fill(touched.begin(), touched.end(), Touched());
  std::vector<Fiber *> ready;
  while (message.empty()) {
    ready.clear();
    for (auto &fiber : fibers)
      if (fiber->state == State::Ready)
        ready.push_back(fiber.get());
    std::shuffle(ready.begin(), ready.end(), random);
    for (Fiber *fiber : ready)
      swapcontext(&scheduler, &fiber->context);
    bool isDone = std::all_of(fibers.begin(), fibers.end(), [](auto &fiber) {
      return fiber->state == State::Done;
    });
    if (isDone)
      break;
    if (ready.empty() && !release())
      for (auto &fiber : fibers)
        if (fiber->state != State::Done)
          fail("threads that do not meet", fiber->site);
  }
  return message.empty();
}

bool LaneRunner::launch(LlmcLaneFn toRun, const rt::plan::KernelInfo &info,
                        void *const *values) {
  function = toRun;
  parameters = values;
  sharedMemory.assign(info.sharedBytes + 64, 0);
  auto start = reinterpret_cast<uintptr_t>(sharedMemory.data());
  shared = sharedMemory.data() + (64 - start % 64) % 64;
  touched.assign(info.sharedBytes, Touched());
  fibers.resize(std::min<size_t>(fibers.size(), info.threadsPerBlock));
  while (fibers.size() < info.threadsPerBlock) {
    fibers.push_back(std::make_unique<Fiber>());
    fibers.back()->stack.resize(stackBytes);
  }
  for (size_t thread = 0; thread < fibers.size(); ++thread) {
    fibers[thread]->runner = this;
    fibers[thread]->lane = {uint32_t(thread),
                            info.threadsPerBlock,
                            0,
                            0,
                            nullptr,
                            barrier,
                            shuffle,
                            touch,
                            multiply};
  }
  auto blocks =
      uint32_t((info.rows + info.rowsPerBlock - 1) / info.rowsPerBlock);
  std::vector<uint32_t> order(blocks);
  for (uint32_t block = 0; block < blocks; ++block)
    order[block] = block;
  std::shuffle(order.begin(), order.end(), random);
  for (uint32_t block : order)
    if (!runBlock(block, blocks))
      return false;
  return true;
}

} // namespace llmc::test
