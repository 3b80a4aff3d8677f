//===- SegmentResults.h - More results for a segment ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_MEMORY_SEGMENTRESULTS_H
#define LLMC_LIB_TRANSFORMS_MEMORY_SEGMENTRESULTS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"

namespace llmc {

/// `segment` with `values` (of its body) among its results; the old op is
/// replaced.
dist::SegmentOp withResults(dist::SegmentOp segment, ArrayRef<Value> values);

/// Whether the backward segment is that of the forward one's chunk, and runs
/// once for each of its trips.
bool readsTripsOf(dist::SegmentOp backward, dist::SegmentOp forward);

/// Lets what enters the trips of the forward, perhaps of several loops one
/// after the other, enter those of `backward`; returns it there.
Value enterBackward(mlir::OpBuilder &builder, Value entered,
                    dist::SegmentOp backward);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_MEMORY_SEGMENTRESULTS_H
