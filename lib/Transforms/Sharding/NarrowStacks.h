//===- NarrowStacks.h - What trips read narrow is narrow before -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %w = enter row %W                        %N = convert %W : f32 to bf16
//   %n = convert %w : f32 to bf16    ->      %n = enter row %N
//
// An op that makes each element narrow commutes with the rows of a stack, and
// with what enters a loop as it is. In front of the loop it is one op in place
// of one in each trip, and its result may be kept; it takes the memory of the
// whole stack.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_NARROWSTACKS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_NARROWSTACKS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace llmc {

/// The value of which an op makes each element narrow that enters a trip, by
/// rows or as it is, through all loops that it enters one after the other; null
/// for ops that read something else.
Value findNarrowedStack(Operation *op);

/// Puts such ops in front of these loops. Equal ones of one chunk become one.
class StackNarrower {
public:
  /// `op` has a stack; it is erased.
  void lift(Operation *op, int64_t chunk);

private:
  Value narrow(Operation *op, Value stack, int64_t chunk);

  struct Lifted {
    Operation *op;
    int64_t chunk;
  };
  std::vector<Lifted> lifted;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_NARROWSTACKS_H
