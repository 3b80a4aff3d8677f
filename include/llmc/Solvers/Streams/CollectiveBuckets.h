//===- CollectiveBuckets.h - Collectives that go together -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A collective costs a latency, however small it is. Those of one key (kind,
// axes, type) that are ready at about the same time become one of several
// buffers, a bucket, until it is full:
//
//   g1 reduce g1  g2 reduce g2  g3 reduce g3        ->
//   g1  g2 reduce {g1, g2}  g3 reduce {g3}
//
// No member depends on another one. A bucket is issued when its last member is
// there, so the others wait; none of them waits longer than what is computed
// meanwhile may be put off: the time of the ops behind it that nothing on its
// way to the end of the program needs.
//
// Then the ops get a new order, in which no stream stands still while an op of
// it could run: what reads a bucket comes after what does not need it yet, and
// a collective whose operands are there goes before one that waits.
//
// Test: test/Solvers/Streams/CollectiveBucketsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_STREAMS_COLLECTIVEBUCKETS_H
#define LLMC_SOLVERS_STREAMS_COLLECTIVEBUCKETS_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct BucketProblem {
  struct Op {
    /// Ops of smaller numbers that must run before it.
    std::vector<int32_t> after;
    /// How long it takes, in any unit; of a collective that besides others in
    /// a bucket is shorter by `startup`.
    int64_t time = 0, startup = 0;
    /// Streams run side by side; number 0 computes.
    int32_t stream = 0;
    /// When what was made before these ops is there: computing begins at 0, and
    /// other streams may begin while what runs before still computes.
    int64_t ready = 0;
    /// Of collectives that may go together; -1 of all else.
    int32_t key = -1;
    int64_t bytes = 0;
  };
  /// In the order in which they run.
  std::vector<Op> ops;
  int32_t numStreams = 1;
  /// Of each key the bytes at which a bucket is full; 0: no buckets.
  std::vector<int64_t> full;

  std::string check() const;
};

/// The ops in groups, in the order in which they are to run; a group of several
/// is a bucket. On a stream the first group that is
/// ready runs, in the order of first members. Assumes a checked problem.
std::vector<std::vector<int32_t>> findBuckets(const BucketProblem &problem);

} // namespace llmc

#endif // LLMC_SOLVERS_STREAMS_COLLECTIVEBUCKETS_H
