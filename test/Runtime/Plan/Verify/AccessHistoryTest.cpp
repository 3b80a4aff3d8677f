//===- AccessHistoryTest.cpp - Who accessed which bytes last --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AccessHistory.h"

#include <gtest/gtest.h>

using namespace llmc::rt::plan;
using Fault = AccessHistory::Fault;

namespace {
/// Two streams; an item's count is its own component of the clock.
struct History : testing::Test {
  AccessHistory history;

  static ByteAccess make(Access access, int64_t low, int64_t high,
                         int32_t buffer) {
    ByteAccess result;
    result.access = access;
    result.buffer = buffer;
    result.exact = result.hull = {low, high};
    return result;
  }
  Fault apply(const ByteAccess &access, int32_t stream, Clock clock) {
    Moment now{stream, clock[stream], 0};
    return history.apply(access, now, clock).fault;
  }
  Fault read(int64_t low, int64_t high, int32_t buffer, int32_t stream,
             Clock clock) {
    return apply(make(Access::read, low, high, buffer), stream, clock);
  }
  Fault write(int64_t low, int64_t high, int32_t buffer, int32_t stream,
              Clock clock) {
    return apply(make(Access::write, low, high, buffer), stream, clock);
  }
};
} // namespace

TEST_F(History, ReadsNeedAWrite) {
  EXPECT_EQ(read(0, 8, 1, 0, {1, 0}), Fault::undefined);
  EXPECT_EQ(write(0, 8, 1, 0, {1, 0}), Fault::none);
  EXPECT_EQ(read(0, 8, 1, 0, {2, 0}), Fault::none);
  EXPECT_EQ(read(4, 12, 1, 0, {3, 0}), Fault::undefined);
  history.define({8, 16}, 1);
  EXPECT_EQ(read(4, 12, 1, 0, {4, 0}), Fault::none);
}

TEST_F(History, WritesAreOrderedAfterReads) {
  history.define({0, 16}, 1);
  EXPECT_EQ(read(4, 8, 1, 0, {1, 0}), Fault::none);
  EXPECT_EQ(write(8, 16, 1, 1, {0, 1}), Fault::none);
  EXPECT_EQ(write(0, 5, 1, 1, {0, 2}), Fault::race);
  EXPECT_EQ(write(0, 5, 1, 1, {1, 2}), Fault::none);
}

TEST_F(History, ReadsAreOrderedAfterWrites) {
  EXPECT_EQ(write(0, 8, 1, 0, {5, 0}), Fault::none);
  EXPECT_EQ(read(7, 8, 1, 1, {4, 1}), Fault::race);
  EXPECT_EQ(read(7, 8, 1, 1, {5, 1}), Fault::none);
}

TEST_F(History, BytesBelongToABuffer) {
  EXPECT_EQ(write(0, 8, 1, 0, {1, 0}), Fault::none);
  EXPECT_EQ(write(6, 10, 2, 0, {2, 0}), Fault::none);
  EXPECT_EQ(read(0, 6, 1, 0, {3, 0}), Fault::none);
  EXPECT_EQ(read(0, 8, 1, 0, {4, 0}), Fault::lost);
  EXPECT_EQ(read(6, 10, 2, 0, {5, 0}), Fault::none);
}

TEST_F(History, OncePerMicrobatch) {
  ByteAccess write = make(Access::write, 0, 8, 1);
  write.oncePerMicrobatch = true;
  write.tag = 0;
  ByteAccess read = make(Access::read, 0, 8, 1);
  read.oncePerMicrobatch = true;
  read.tag = 1;
  EXPECT_EQ(apply(write, 0, {1, 0}), Fault::none);
  EXPECT_EQ(apply(read, 0, {2, 0}), Fault::stale);
  EXPECT_EQ(apply(write, 0, {3, 0}), Fault::rewritten);
  write.tag = 1;
  EXPECT_EQ(apply(write, 0, {4, 0}), Fault::none);
  EXPECT_EQ(apply(read, 0, {5, 0}), Fault::none);
  // What works in place has read it, and may follow other reads.
  write.access = Access::readWrite;
  EXPECT_EQ(apply(write, 0, {6, 0}), Fault::none);
  write.tag = 2;
  EXPECT_EQ(apply(write, 0, {7, 0}), Fault::stale);
}

// Another device may write where the representative does not.
TEST_F(History, HullsRaceButDefineNothing) {
  history.define({0, 16}, 1);
  ByteAccess rows = make(Access::write, 0, 4, 1);
  rows.hull = {0, 16};
  EXPECT_EQ(apply(rows, 0, {1, 0}), Fault::none);
  EXPECT_EQ(read(12, 16, 1, 1, {0, 1}), Fault::race);
  EXPECT_EQ(write(12, 16, 1, 1, {0, 2}), Fault::race);
  EXPECT_EQ(read(12, 16, 1, 1, {1, 3}), Fault::none);
}

// Where no buffer is known, the bytes are.
TEST_F(History, RacesNameTheirBytes) {
  ByteAccess rows = make(Access::write, 0, 4, 1);
  rows.hull = {0, 16};
  EXPECT_EQ(apply(rows, 0, {1, 0}), Fault::none);
  AccessHistory::Outcome race =
      history.apply(make(Access::write, 8, 24, 2), {1, 1, 0}, {0, 1});
  EXPECT_EQ(race.fault, Fault::race);
  EXPECT_EQ(race.otherBuffer, -1);
  EXPECT_EQ(race.bytes.low, 8);
  EXPECT_EQ(race.bytes.high, 16);
  race = history.apply(make(Access::write, 2, 24, 2), {1, 2, 0}, {0, 2});
  EXPECT_EQ(race.otherBuffer, 1);
  EXPECT_EQ(race.bytes.low, 2);
  EXPECT_EQ(race.bytes.high, 4);
}

TEST_F(History, ScratchHoldsNothing) {
  ByteAccess scratch = make(Access::write, 0, 8, 1);
  scratch.isScratch = true;
  EXPECT_EQ(apply(scratch, 0, {1, 0}), Fault::none);
  EXPECT_EQ(read(0, 8, 1, 0, {2, 0}), Fault::undefined);
  EXPECT_EQ(apply(scratch, 1, {0, 1}), Fault::race);
}

// An item adds to what it reads itself; once another stream has read it, be it
// an item of the same number, an item adds after that read alone.
TEST_F(History, AddedToAfterAnotherStreamReads) {
  ByteAccess sum = make(Access::write, 0, 8, 1);
  sum.oncePerMicrobatch = true;
  EXPECT_EQ(apply(sum, 0, {1, 0}), Fault::none);
  sum.access = Access::readWrite;
  EXPECT_EQ(apply(sum, 0, {2, 0}), Fault::none);
  EXPECT_EQ(apply(sum, 0, {3, 0}), Fault::none);
  EXPECT_EQ(read(0, 8, 1, 1, {3, 4}), Fault::none);
  EXPECT_EQ(apply(sum, 0, {4, 0}), Fault::race);
  EXPECT_EQ(apply(sum, 0, {5, 4}), Fault::none);
}

// Of no bytes, at the end of what other devices may write.
TEST_F(History, WritesOfNothing) {
  ByteAccess none = make(Access::write, 16, 16, 1);
  none.hull = {0, 16};
  EXPECT_EQ(apply(none, 0, {1, 0}), Fault::none);
  EXPECT_EQ(read(0, 16, 1, 0, {2, 0}), Fault::undefined);
  EXPECT_EQ(write(16, 24, 1, 0, {3, 0}), Fault::none);
  EXPECT_EQ(read(16, 24, 1, 0, {4, 0}), Fault::none);
}
