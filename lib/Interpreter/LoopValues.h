//===- LoopValues.h - Rows and sums over the trips of a loop ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `dist.enter row` and `dist.leave` do to tensors.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_INTERPRETER_LOOPVALUES_H
#define LLMC_LIB_INTERPRETER_LOOPVALUES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/HostTensor.h"

namespace llmc {

/// Row `row` along the first dim.
HostTensor takeRow(const HostTensor &stack, int64_t row);

/// What the op makes of the values of all trips, by number; of a conditional
/// loop of the last one.
HostTensor leaveTrips(dist::LeaveOp op, ArrayRef<HostTensor> trips);

} // namespace llmc

#endif // LLMC_LIB_INTERPRETER_LOOPVALUES_H
