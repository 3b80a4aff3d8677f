//===- LoopReshards.h - Changes of layout in the trips of loops -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %W1 = reshard %W           %w0 = enter row %W
//   %w = enter row %W1     ->  %w = reshard %w0
//
//   %S = leave stack %g        %g1 = reshard %g
//   %S1 = reshard %S       ->  %S1 = leave stack %g1
//
// The same bytes move, of one row in each trip in place of all at once: the
// weights of one layer are whole at a time (FSDP, 2304.11277, section 3.2), and
// a gradient is scattered as soon as it is there.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_LOOPRESHARDS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_LOOPRESHARDS_H

#include "mlir/IR/Block.h"

namespace llmc {

/// Moves reshards of stacks into loops, where rows lie on each device whole
/// rows at a time.
void moveReshardsIntoLoops(mlir::Block &block);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_LOOPRESHARDS_H
