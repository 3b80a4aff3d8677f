//===- SegmentResults.h - More results for a segment ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_MEMORY_SEGMENTRESULTS_H
#define LLMC_LIB_TRANSFORMS_MEMORY_SEGMENTRESULTS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"

namespace llmc {

/// `segment` with `values` (of its body) among its results; the old op is
/// replaced.
dist::SegmentOp withResults(dist::SegmentOp segment, ArrayRef<Value> values);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_MEMORY_SEGMENTRESULTS_H
