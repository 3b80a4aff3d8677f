//===- CollectiveBucketsTest.cpp - Collectives that go together -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Streams/CollectiveBuckets.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace llmc;

namespace {
using Groups = std::vector<std::vector<int32_t>>;

BucketProblem::Op compute(std::vector<int32_t> after, int64_t time = 1) {
  return {std::move(after), time, 0, 0, 0, -1, 0};
}

BucketProblem::Op move(std::vector<int32_t> after, int64_t bytes,
                       int32_t key = 0) {
  return {std::move(after), 0, 0, 1, 0, key, bytes};
}

Groups solve(BucketProblem problem) {
  problem.numStreams = 2;
  EXPECT_EQ(problem.check(), "");
  return findBuckets(problem);
}

/// Each gradient is made and reduced: g0 r0 g1 r1 …
BucketProblem makeGradients(int count, int64_t full) {
  BucketProblem problem;
  problem.numStreams = 2;
  problem.full = {full};
  for (int i = 0; i < count; ++i) {
    problem.ops.push_back(compute({}));
    problem.ops.push_back(move({2 * i}, 4));
  }
  return problem;
}

TEST(CollectiveBuckets, FindsFaults) {
  auto check = [](auto change) {
    BucketProblem problem = makeGradients(2, 8);
    change(problem);
    return problem.check();
  };
  using P = BucketProblem;
  EXPECT_EQ(check([](P &) {}), "");
  for (int32_t before : {-1, 3, 4})
    EXPECT_EQ(check([&](P &p) { p.ops[3].after = {before}; }),
              "op 3 follows one that does not stand before it");
  EXPECT_EQ(check([](P &p) { p.ops[1].key = 1; }),
            "op 1 has a key that is not there");
  EXPECT_EQ(check([](P &p) { p.ops[0].time = -1; }),
            "op 0 has a negative cost");
  EXPECT_EQ(check([](P &p) { p.ops[1].bytes = -1; }),
            "op 1 has a negative cost");
  EXPECT_EQ(check([](P &p) { p.ops[0].startup = 2; }),
            "op 0 has a negative cost");
  EXPECT_EQ(check([](P &p) { p.ops[0].startup = -1; }),
            "op 0 has a negative cost");
  EXPECT_EQ(check([](P &p) { p.ops[0].ready = 1; }),
            "op 0 is ready after the start");
  for (int32_t stream : {-1, 2})
    EXPECT_EQ(check([&](P &p) { p.ops[1].stream = stream; }),
              "op 1 is on a stream that is not there");
}

TEST(CollectiveBuckets, AreFullAtTheirSize) {
  EXPECT_EQ(solve(makeGradients(3, 0)), (Groups{{0}, {1}, {2}, {3}, {4}, {5}}));
  EXPECT_EQ(solve(makeGradients(3, 4)), (Groups{{0}, {1}, {2}, {3}, {4}, {5}}));
  // Issued when the second is there, before the third is made.
  EXPECT_EQ(solve(makeGradients(3, 5)), (Groups{{0}, {2}, {1, 3}, {4}, {5}}));
  EXPECT_EQ(solve(makeGradients(3, 8)), (Groups{{0}, {2}, {1, 3}, {4}, {5}}));
  EXPECT_EQ(solve(makeGradients(3, 9)), (Groups{{0}, {2}, {4}, {1, 3, 5}}));
}

TEST(CollectiveBuckets, KeysStayApart) {
  BucketProblem problem = makeGradients(3, 100);
  problem.full = {100, 100};
  problem.ops[3].key = 1;
  EXPECT_EQ(solve(problem), (Groups{{0}, {2}, {3}, {4}, {1, 5}}));
  problem.ops[3].key = -1;
  EXPECT_EQ(solve(problem), (Groups{{0}, {2}, {3}, {4}, {1, 5}}));
}

TEST(CollectiveBuckets, MembersDoNotDependOnEachOther) {
  // Directly, by an op, and by a bucket: 2 and 4 go together, and 6 depends on
  // 1 by 2 and by 4's member of that bucket.
  BucketProblem problem;
  problem.full = {100, 100};
  problem.ops = {compute({}),     move({0}, 4), move({1}, 4, 1), compute({}),
                 move({3}, 4, 1), compute({4}), move({5}, 4)};
  EXPECT_EQ(solve(problem), (Groups{{0}, {1}, {3}, {2, 4}, {5}, {6}}));
}

TEST(CollectiveBuckets, WhatIsReadyEarlierIsMovedUp) {
  BucketProblem problem;
  problem.full = {100};
  problem.ops = {compute({}), move({0}, 4), compute({1}), compute({2}),
                 move({0}, 4)};
  EXPECT_EQ(solve(problem), (Groups{{0}, {1, 4}, {2}, {3}}));
}

TEST(CollectiveBuckets, NoneWaitsLongerThanItsReadersMay) {
  // The second one is ready after 2 and 3; 5 at the end reads 2, which reads
  // the first. What is left beside 2 and 5 is 3: the first may wait for it.
  BucketProblem problem;
  problem.full = {100};
  problem.ops = {compute({}),    move({0}, 4), compute({1}, 5),
                 compute({}, 5), move({3}, 4), compute({2}, 100)};
  EXPECT_EQ(solve(problem), (Groups{{0}, {1}, {2}, {3}, {4}, {5}}));
  // Nothing between the two reads the first.
  std::swap(problem.ops[2], problem.ops[3]);
  problem.ops[4].after = {2};
  problem.ops[5].after = {3};
  EXPECT_EQ(solve(problem), (Groups{{0}, {2}, {1, 4}, {3}, {5}}));
  // It does, but has as much time.
  std::swap(problem.ops[2], problem.ops[3]);
  problem.ops[4].after = {3};
  problem.ops[5].after = {3};
  EXPECT_EQ(solve(problem), (Groups{{0}, {3}, {1, 4}, {2}, {5}}));
}

TEST(CollectiveBuckets, ReadersOfAMemberComeAfterTheBucket) {
  // reduce, use, reduce, use: as in an update.
  BucketProblem problem;
  problem.full = {100};
  problem.ops = {move({}, 4), compute({0}), move({}, 4), compute({2})};
  EXPECT_EQ(solve(problem), (Groups{{0, 2}, {1}, {3}}));
}

/// Reduce, compute, gather, twice: the second is reduced while the first is
/// computed, not after the first is gathered.
TEST(CollectiveBuckets, NoStreamStandsStillWhileItCouldRun) {
  BucketProblem problem;
  problem.full = {0};
  problem.ops = {move({}, 4), compute({0}), move({1}, 4),
                 move({}, 4), compute({3}), move({4}, 4)};
  for (int op : {0, 2, 3, 5})
    problem.ops[op].time = 2;
  EXPECT_EQ(solve(problem), (Groups{{0}, {3}, {1}, {2}, {4}, {5}}));
}

TEST(CollectiveBuckets, MembersShareAStartup) {
  BucketProblem problem;
  problem.full = {100};
  problem.ops = {move({}, 4), move({}, 4), compute({0}), compute({}, 6),
                 compute({})};
  for (int op : {0, 1}) {
    problem.ops[op].time = 5;
    problem.ops[op].startup = 4;
  }
  EXPECT_EQ(solve(problem), (Groups{{0, 1}, {3}, {2}, {4}}));
  // Of 2 alone, and 3 for the bytes of each: 8 and not 6.
  problem.ops[0].startup = problem.ops[1].startup = 2;
  EXPECT_EQ(solve(problem), (Groups{{0, 1}, {3}, {4}, {2}}));
}

/// Gradients that the program before has made, the last one first: they are
/// reduced while it still computes, with those that are there together.
TEST(CollectiveBuckets, WhatIsThereFirstIsReducedFirst) {
  BucketProblem problem;
  problem.full = {8};
  problem.ops = {move({}, 4),  compute({0}), move({}, 4),
                 compute({2}), move({}, 4),  compute({4})};
  problem.ops[2].ready = -5;
  problem.ops[4].ready = -6;
  EXPECT_EQ(solve(problem), (Groups{{4, 2}, {0}, {1}, {3}, {5}}));
  problem.full = {0};
  EXPECT_EQ(solve(problem), (Groups{{4}, {2}, {0}, {1}, {3}, {5}}));
}

/// What the buckets promise, on random programs.
TEST(CollectiveBuckets, KeepDependenciesAndSizes) {
  std::mt19937 random(1);
  size_t buckets = 0;
  for (int round = 0; round < 200; ++round) {
    BucketProblem problem;
    problem.full = {int64_t(random() % 30), int64_t(random() % 30)};
    bool isEarly = round % 2;
    for (int op = 0; op < 40; ++op) {
      std::vector<int32_t> after;
      for (int i = 0; op > 0 && i < int(random() % 3); ++i)
        after.push_back(static_cast<int32_t>(random() % op));
      problem.ops.push_back(random() % 2
                                ? compute(after, random() % 5)
                                : move(after, random() % 9, random() % 2));
      if (isEarly && problem.ops.back().key >= 0)
        problem.ops.back().ready = -int64_t(random() % 20);
    }
    Groups groups = solve(problem);
    std::vector<size_t> place(problem.ops.size(), groups.size());
    for (size_t group = 0; group < groups.size(); ++group)
      for (int32_t op : groups[group]) {
        EXPECT_EQ(place[op], groups.size()) << "twice";
        place[op] = group;
      }
    for (size_t op = 0; op < problem.ops.size(); ++op) {
      ASSERT_LT(place[op], groups.size()) << "not at all";
      for (int32_t before : problem.ops[op].after)
        EXPECT_LT(place[before], place[op]);
    }
    for (const auto &members : groups) {
      int32_t key = problem.ops[members.front()].key;
      int64_t bytes = 0;
      EXPECT_TRUE(isEarly || std::is_sorted(members.begin(), members.end()));
      for (int32_t op : members) {
        EXPECT_EQ(problem.ops[op].key, key);
        if (members.size() > 1)
          EXPECT_LT(bytes, problem.full[key]) << "was full";
        bytes += problem.ops[op].bytes;
      }
      buckets += members.size() > 1;
    }
  }
  EXPECT_GT(buckets, 200u);
}

} // namespace
