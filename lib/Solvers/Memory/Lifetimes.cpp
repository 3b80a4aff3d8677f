//===- Lifetimes.cpp - When buffers of a program hold values --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Solvers/Memory/LifetimesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/Lifetimes.h"

#include <algorithm>
#include <map>

namespace llmc {

namespace {

using Clock = std::vector<int64_t>;

/// An access on a stream other than compute.
struct RemoteAccess {
  int32_t buffer;
  int32_t stream;
  /// Of the instruction in its stream, from 1.
  int64_t count;
  /// Compute instructions that are known to have completed.
  int64_t after;
};

} // namespace

std::string LifetimeProblem::check() const {
  if (computeStream < 0 || computeStream >= numStreams)
    return "expected the compute stream to be one of the streams";
  for (const Instruction &instruction : instructions) {
    if (instruction.stream < 0 || instruction.stream >= numStreams)
      return "an instruction is on a stream that is not there";
    for (int32_t buffer : instruction.buffers)
      if (buffer < 0 || buffer >= numBuffers)
        return "an instruction touches a buffer that is not there";
  }
  return "";
}

static void extend(Lifetime &life, int64_t begin, int64_t end) {
  bool isNew = life.begin == life.end;
  life.begin = isNew ? begin : std::min(life.begin, begin);
  life.end = std::max(life.end, end);
}

std::vector<Lifetime> findLifetimes(const LifetimeProblem &problem) {
  std::vector<Lifetime> lives(problem.numBuffers);
  std::vector<Clock> clocks(problem.numStreams, Clock(problem.numStreams, 0));
  std::map<int32_t, Clock> signals;
  std::vector<RemoteAccess> remote;
  // The compute stream's clock at each of its instructions.
  std::vector<Clock> computeClocks;
  for (const auto &instruction : problem.instructions) {
    Clock &clock = clocks[instruction.stream];
    auto signal = signals.find(instruction.waits);
    if (instruction.waits >= 0 && signal != signals.end())
      for (int32_t s = 0; s < problem.numStreams; ++s)
        clock[s] = std::max(clock[s], signal->second[s]);
    int64_t count = ++clock[instruction.stream];
    if (instruction.signals >= 0)
      signals[instruction.signals] = clock;
    bool isCompute = instruction.stream == problem.computeStream;
    if (isCompute)
      computeClocks.push_back(clock);
    for (int32_t buffer : instruction.buffers) {
      if (isCompute)
        extend(lives[buffer], count - 1, count);
      else
        remote.push_back(
            {buffer, instruction.stream, count, clock[problem.computeStream]});
    }
  }
  auto numCompute = static_cast<int64_t>(computeClocks.size());
  for (const RemoteAccess &access : remote) {
    auto follower = std::partition_point(
        computeClocks.begin(), computeClocks.end(), [&](const Clock &clock) {
          return clock[access.stream] < access.count;
        });
    int64_t end = follower - computeClocks.begin();
    lives[access.buffer].isClosed &= access.after > 0 && end < numCompute;
    extend(lives[access.buffer], access.after, end + 1);
  }
  return lives;
}

} // namespace llmc
