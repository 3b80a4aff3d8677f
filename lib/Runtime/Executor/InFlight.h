//===- InFlight.h - Microbatches between forward and backward -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A microbatch of a chunk is in flight on a stage from its first cell to its
// last. A device computes in the order of issue, so counting while issuing
// counts what its frames hold at once.
//
//   stage 0 of two: F0 F1 B0 B1      most 2
//   stage 1:           F0 B0 F1 B1   most 1
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_INFLIGHT_H
#define LLMC_LIB_RUNTIME_EXECUTOR_INFLIGHT_H

#include "llmc/Runtime/Plan/Format/Plan.h"

#include <vector>

namespace llmc::rt::exec {

class InFlight {
public:
  InFlight(const plan::Plan &plan, const plan::Entry &entry);

  /// Of a step.
  void start();
  /// The cells of all stages in one row, given by its first; allocates nothing.
  void visit(size_t firstCell);
  const std::vector<int64_t> &most() const { return highest; }

private:
  std::vector<bool> begins, ends;     ///< By cell.
  std::vector<int64_t> live, highest; ///< By stage.
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_INFLIGHT_H
