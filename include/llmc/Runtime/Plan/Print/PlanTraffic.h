//===- PlanTraffic.h - What a device communicates in a step -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the collectives and messages that an entry makes a device of a stage
// take part in: prologue, cells of the table, epilogue, calls included.
//
//   all-reduce tensor   24 times, 18,874,368 B
//   send pipe            4 times,    262,144 B
//
// Test: test/Runtime/Plan/Print/PlanTrafficTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_PRINT_PLANTRAFFIC_H
#define LLMC_RUNTIME_PLAN_PRINT_PLANTRAFFIC_H

#include "llmc/Runtime/Plan/Format/Plan.h"

namespace llmc::rt::plan {

/// All that moves in one way.
struct Traffic {
  /// "all_reduce", ..., "send", "receive".
  std::string kind;
  /// Names of mesh axes, major to minor.
  std::string axes;
  /// Every buffer has one element: loss, count, norm.
  bool isScalar = false;
  int64_t count = 0;
  /// Of the device's buffers before and after.
  uint64_t bytesIn = 0;
  uint64_t bytesOut = 0;
  /// Some of it is in a loop that the run ends, of which one trip is counted.
  bool isOpen = false;
  /// Where rows are told apart by place: index into Plan::locations, or -1,
  /// and the first buffer that is moved, of what has no location.
  int32_t location = -1, buffer = -1;
  /// Numbers of the mesh axes.
  std::vector<int32_t> axisNumbers = {};
};

/// One row for each (kind, axes, scalar or not), in the order of these.
std::vector<Traffic> trafficOf(const Plan &plan, const Entry &entry,
                               int64_t stage);

/// The same with a row for each place in the model too.
std::vector<Traffic> trafficByPlace(const Plan &plan, const Entry &entry,
                                    int64_t stage);

/// "pipe data"; where all parts of an axis stand side by side, the axis.
std::string axisNames(const Mesh &mesh, const std::vector<int32_t> &axes);

/// Floating-point operations of the library's calls (LibraryCost.h) that the
/// entry makes a device of the stage run; of a loop that the run ends those of
/// one trip.
double workOf(const Plan &plan, const Entry &entry, int64_t stage);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_PRINT_PLANTRAFFIC_H
