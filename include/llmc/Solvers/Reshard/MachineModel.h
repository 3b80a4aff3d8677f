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
#include <string>
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

  /// One link class for all axes.
  static MachineModel uniform(size_t numAxes);

  /// The first fault, or an empty string.
  std::string check(size_t numAxes) const;

  /// For each mesh axis. Assumes that `check` passed.
  std::vector<double> slowness() const;

  /// For each mesh axis: what the fastest class carries within the latency of
  /// its own.
  std::vector<double> latencyBytes() const;
};

} // namespace llmc

#endif // LLMC_SOLVERS_RESHARD_MACHINEMODEL_H
