//===- StreamTimes.h - When streams run what --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One device of each stage runs entries on streams: each begins when the one
// before it on its stream and the one that it waits for have ended. At a
// meeting, entries of several devices begin together.
//
//   compute  | forward | backward        |      | update |
//   moves              | reduce |  reduce |~~~~~|          the last is exposed
//
// Test: test/Runtime/Plan/Verify/StreamTimesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_VERIFY_STREAMTIMES_H
#define LLMC_RUNTIME_PLAN_VERIFY_STREAMTIMES_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt::plan {

struct StreamTimesProblem {
  struct Entry {
    int32_t stream = 0;
    double seconds = 0;
    /// It is communication.
    bool moves = false;
    /// An entry of the same device that it waits for; -1: none.
    int32_t after = -1;
    /// Index into `meetings`; -1: the device is alone.
    int32_t meeting = -1;
  };
  int32_t numStreams = 1;
  /// Of each device, in the order in which its streams have them.
  std::vector<std::vector<Entry>> devices;
  /// How many devices meet.
  std::vector<int32_t> meetings;

  std::string check() const;
};

struct StreamTimes {
  /// Not empty where some entry never begins.
  std::string error;
  /// Until the last entry has ended.
  double seconds = 0;
  /// When each entry begins and ends, of each device; -1 where it never does.
  std::vector<std::vector<double>> begins, ends;
};

/// With `isFree` communication takes no time: what is longer with it, is
/// exposed. Assumes a checked problem.
StreamTimes findTimes(const StreamTimesProblem &problem, bool isFree = false);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_VERIFY_STREAMTIMES_H
