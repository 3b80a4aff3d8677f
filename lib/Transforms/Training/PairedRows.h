//===- PairedRows.h - Positions that count along the indices ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `x[arange(8)[:, None], i]` reads of each row of `x` what the row of `i` of
// the same number says. In the text the row is a position that is looked up, as
// any other: whoever splits the rows does not see that they stay apart. So it
// becomes a batching dim of both tensors:
//
//   gather %x, concatenate(iota along rows, %i), start_index_map = [0, 1]
//     ->
//   gather %x, %i, operand_batching_dims = [0],
//                  start_indices_batching_dims = [0], start_index_map = [1]
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_PAIREDROWS_H
#define LLMC_TRANSFORMS_TRAINING_PAIREDROWS_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/LLVM.h"

namespace llmc::training {

/// Makes positions that count along a dim of the indices batching dims. One
/// position stays where all of them count.
void pairRows(stablehlo::GatherOp gather);
void pairRows(stablehlo::ScatterOp scatter);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_PAIREDROWS_H
