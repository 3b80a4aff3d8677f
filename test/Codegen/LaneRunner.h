//===- LaneRunner.h - Runs kernels of a GPU on the processor ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread of a block is a fiber; which one goes on at a barrier or a
// shuffle is drawn at random. Wrong are: threads of a block that come to
// different barriers, or lanes of a warp to different shuffles; two threads
// that touch a byte of shared memory between two barriers, one of them to write
// it; an access beyond the shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_CODEGEN_LANERUNNER_H
#define LLMC_TEST_CODEGEN_LANERUNNER_H

#include "llmc/Runtime/Plan/Format/LaneAbi.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include <memory>
#include <random>
#include <string>
#include <ucontext.h>
#include <vector>

namespace llmc::test {

class LaneRunner {
public:
  explicit LaneRunner(uint64_t seed) : random(seed) {}

  /// All blocks of a launch over all rows; false after an error.
  bool launch(LlmcLaneFn function, const rt::plan::KernelInfo &info,
              void *const *parameters);
  const std::string &error() const { return message; }

private:
  enum class State { Ready, AtBarrier, AtShuffle, Done };
  struct Fiber {
    LlmcLane lane; ///< First: a lane is cast to its fiber.
    LaneRunner *runner;
    State state;
    uint32_t site, value, source;
    /// Of a product of tiles, at which lanes meet as at a shuffle.
    const uint32_t *factors;
    uint32_t isBf16;
    float *sums;
    ucontext_t context;
    std::vector<char> stack;
  };
  /// Who has touched a byte since the last barrier.
  struct Touched {
    int64_t writer = -1, reader = -1;
    bool hasReaders = false; ///< Others than `reader`.
  };

  static Fiber &fiberOf(LlmcLane *lane) {
    return *reinterpret_cast<Fiber *>(lane);
  }
  static void enter(unsigned high, unsigned low);
  static void barrier(LlmcLane *lane, uint32_t site);
  static uint32_t shuffle(LlmcLane *lane, uint32_t site, uint32_t value,
                          uint32_t source);
  static void touch(LlmcLane *lane, uint32_t site, void *address,
                    uint32_t bytes, uint32_t write);
  static void multiply(LlmcLane *lane, uint32_t site, uint32_t isBf16,
                       const uint32_t *factors, float *sums);

  bool runBlock(uint32_t block, uint32_t blocks);
  void prepare(Fiber &fiber, uint32_t block, uint32_t blocks);
  bool release();
  bool releaseWarp(size_t first);
  void shuffleWarp(size_t first);
  void multiplyWarp(size_t first);
  bool releaseBlock();
  void wait(Fiber &fiber, State state, uint32_t site);
  void fail(const std::string &what, uint32_t site);

  std::mt19937_64 random;
  std::string message;
  LlmcLaneFn function = nullptr;
  void *const *parameters = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<char> sharedMemory;
  char *shared = nullptr;
  std::vector<Touched> touched;
  ucontext_t scheduler;
};

} // namespace llmc::test

#endif // LLMC_TEST_CODEGEN_LANERUNNER_H
