//===- WriteOrder.h - In which order a step writes states -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checkpoint may be read while the next step runs: that step first reads
// states, and its update then writes them one after the other. So boxes are
// read in the order in which they are written, and each instruction that writes
// a state waits until the boxes up to those that it touches are read.
//
//   boxes in order      steps   wte  wte.m  w  w.m
//   read                at the edge | 1 ->  2 -> 3 -> 4
//   the step            counts steps, forward, backward,
//                       [2] AdamW of wte, [4] AdamW of w
//
// What is small and written outside of updates, as a counter of each
// microbatch, is read before the step begins, and nothing waits for it.
//
// Tested by test/Runtime/Executor/BoxReadsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_WRITEORDER_H
#define LLMC_LIB_RUNTIME_EXECUTOR_WRITEORDER_H

#include "States.h"

namespace llmc::rt::exec {

/// Bytes, of all boxes together, that are read before the next step begins.
constexpr int64_t mostEdgeBytes = int64_t(1) << 20;

/// Sorts the boxes by the first write to the buffer that they lie in, in the
/// order in which each device walks the entries that train; those that are
/// never written come last. Sets `writesAfter` of all bound instructions.
/// Returns how many boxes are read before the next step begins.
size_t orderByWrites(const plan::Plan &plan, std::vector<LocalDevice> &devices,
                     std::vector<States::OwnedBox> &owned);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_WRITEORDER_H
