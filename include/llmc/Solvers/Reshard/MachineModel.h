//===- MachineModel.h - What links and devices can do -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine is a list of link classes, a device, and the class that each mesh
// axis crosses. Decisions on layouts compare byte counts weighted by the
// *slowness* of an axis: the bandwidth of the fastest class divided by that of
// its own, at least 1.
//
//   links: nvlink 450 GB/s, network 50 GB/s; axes: data -> network, tensor ->
//   nvlink: slowness of data 9, of tensor 1
//
// Test: test/Solvers/Reshard/ReshardPlannerTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_RESHARD_MACHINEMODEL_H
#define LLMC_SOLVERS_RESHARD_MACHINEMODEL_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

struct MachineModel {
  struct Link {
    std::string name;
    /// Seconds for each message.
    double latency = 0;
    /// Bytes a second that a device receives.
    double bandwidth = 1;
  };

  std::vector<Link> links;
  /// For each mesh axis an index into `links`.
  std::vector<int32_t> axisLinks;
  /// Of one device: operations a second, bytes.
  double flops = 1;
  int64_t memory = 0;
  /// Bytes a second of its memory; 0: unknown.
  double memoryBandwidth = 0;
  /// Bytes at which a bucket of collectives is full; -1: see `bucketBytes`.
  double bucket = -1;

  /// Operations a second of products, by the type of their factors.
  std::map<std::string, double> rates;

  /// Operations a second of products of factors of a type: `flops` where no
  /// rate is given.
  double rateOf(std::string_view type) const;

  /// One link class for all axes.
  static MachineModel uniform(size_t numAxes);

  /// The first fault, or an empty string.
  std::string check(size_t numAxes) const;

  /// For each mesh axis. Assumes that `check` passed.
  std::vector<double> slowness() const;

  /// For each mesh axis: what the fastest class carries within the latency of
  /// its own.
  std::vector<double> latencyBytes() const;

  /// The link class that a collective over `axes` waits for.
  const Link &linkOf(const std::vector<int32_t> &axes) const;

  /// Bytes, whole, at which a bucket of collectives of `members` devices over
  /// `axes` is full: `bucket`, or as many as make the latencies a fifth of the
  /// time. A ring of n takes n - 1 times a latency and an nth of the bytes, so
  /// that is 4 n latency bandwidth. 0: no buckets.
  int64_t bucketBytes(const std::vector<int32_t> &axes, int64_t members) const;
};

} // namespace llmc

#endif // LLMC_SOLVERS_RESHARD_MACHINEMODEL_H
