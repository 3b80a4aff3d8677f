//===- LoopValues.cpp - Rows and sums over the trips of a loop ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Interpreter/LoopsTest.cpp
//===----------------------------------------------------------------------===//

#include "LoopValues.h"
#include "StepValues.h"
#include <cstring>

using namespace mlir;
using namespace llmc;

HostTensor llmc::takeRow(const HostTensor &stack, int64_t row) {
  HostTensor result(stack.getElementType(), stack.getShape().drop_front());
  if (result.getNumBytes() > 0)
    std::memcpy(result.mutableBytes(),
                stack.bytes() + row * result.getNumBytes(),
                result.getNumBytes());
  return result;
}

static HostTensor stackRows(ArrayRef<HostTensor> rows) {
  SmallVector<int64_t> shape = {static_cast<int64_t>(rows.size())};
  llvm::append_range(shape, rows.front().getShape());
  HostTensor stack(rows.front().getElementType(), shape);
  int64_t bytes = rows.front().getNumBytes();
  for (auto [i, row] : llvm::enumerate(rows))
    if (bytes > 0)
      std::memcpy(stack.mutableBytes() + static_cast<int64_t>(i) * bytes,
                  row.bytes(), bytes);
  return stack;
}

HostTensor llmc::leaveTrips(dist::LeaveOp op, ArrayRef<HostTensor> trips) {
  dist::LoopAttr loop = op.getLoop();
  if (op.isStack())
    return stackRows(trips);
  if (loop.getConditional())
    return trips.front();
  if (op.isLast())
    return trips[loop.getTrip(loop.getTrips() - 1)];
  HostTensor sum;
  for (int64_t n = 0; n < loop.getTrips(); ++n)
    addTo(sum, trips[loop.getTrip(n)], trips.front().getElementType());
  return sum;
}
