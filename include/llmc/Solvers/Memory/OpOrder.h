//===- OpOrder.h - An order of ops with a low peak of memory ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops touch buffers; a buffer takes memory from the first op that touches it
// to the last. Solvers choose among the orders that respect dependencies; the
// problem says what an order costs, and whether it is one.
//
//   op 0 makes A (4), op 1 makes B (4), op 2: A -> C (1), op 3: B -> D (1)
//   in this order 9 at the peak;  0, 2, 1, 3: 5
//
// Test: test/Solvers/Memory/OpOrderTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_MEMORY_OPORDER_H
#define LLMC_SOLVERS_MEMORY_OPORDER_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct OpOrderProblem {
  struct Op {
    /// Ops that must run before it.
    std::vector<int32_t> after;
    /// Buffers that it reads or writes.
    std::vector<int32_t> touches;
    /// It communicates while others compute: the sooner it begins, the better.
    bool runsBeside = false;
  };
  /// In their original order, which need not be a legal one.
  std::vector<Op> ops;
  /// Bytes of each buffer; 0 for those that live longer anyway.
  std::vector<int64_t> bytes;

  /// Empty when indices are in range and dependencies have no cycle.
  std::string check() const;
  /// Empty when `order` has each op once, after those that it depends on.
  std::string verify(const std::vector<int32_t> &order) const;
  /// The greatest number of bytes that live at once.
  int64_t getPeak(const std::vector<int32_t> &order) const;
};

/// List scheduling, in O(n log n) for ops that touch few buffers: takes the op
/// that frees most, and where none frees, the first (or the one that allots
/// least, if that gives a lower peak; or the original order, if that is legal
/// and no worse). What communicates and needs nothing before it, such as the
/// gather of a weight, could begin at once and fill the memory: it stands
/// before its first use, by so many ops that what is made and not yet used is
/// at most twice the largest of these (Zhao et al., 2304.11277, 3.4: a limit of
/// gathers ahead). Assumes a checked problem; the same problem gives the same
/// order.
std::vector<int32_t> orderOps(const OpOrderProblem &problem);

} // namespace llmc

#endif // LLMC_SOLVERS_MEMORY_OPORDER_H
