//===- Lifetimes.h - When buffers of a program hold values ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time is the compute stream's count of instructions. What happens on another
// stream lies between the last compute instruction that is known to have
// completed before it and the first that is known to follow (signals and waits
// tell, by vector clocks). So buffers of disjoint lifetimes are ordered, and
// may share bytes.
//
//   compute  0 write A   1 signal e            2 wait f   3 read B
//   copy                    wait e  A -> B  signal f
//   lifetimes: A [0, 3)  B [2, 4)
//
// Test: test/Solvers/Memory/LifetimesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_MEMORY_LIFETIMES_H
#define LLMC_SOLVERS_MEMORY_LIFETIMES_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct LifetimeProblem {
  struct Instruction {
    int32_t stream = 0;
    std::vector<int32_t> buffers;
    /// Number of the event that it sets or waits for, or -1.
    int32_t signals = -1;
    int32_t waits = -1;
  };
  int32_t numStreams = 1;
  int32_t computeStream = 0;
  int32_t numBuffers = 0;
  /// In the order in which they are enqueued. A wait for an event that nothing
  /// signals before it orders nothing.
  std::vector<Instruction> instructions;

  std::string check() const;
};

struct Lifetime {
  /// [begin, end) in compute instructions; empty when nothing touches it.
  int64_t begin = 0;
  int64_t end = 0;
  /// Every access is a compute instruction, or is ordered after one and before
  /// one: calls on one compute stream follow each other.
  bool isClosed = true;
};

/// One for each buffer. Assumes a checked problem.
std::vector<Lifetime> findLifetimes(const LifetimeProblem &problem);

} // namespace llmc

#endif // LLMC_SOLVERS_MEMORY_LIFETIMES_H
