//===- KernelStages.h - Kernels that are several launches -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the rows of a kernel would be walked one after the other by few
// threads, a target whose threads are many computes it in stages, each a launch
// of its own that leaves tensors to the next one:
//
//   a sum along 16,384 rows         blocks   16,384 rows -> 256 rows of sums
//   of 768 columns                  tile     256 rows    -> the result
//
//   16,384 updates of rows of 768   sort     64 sorted runs of 256 places
//   columns                         merge    4 runs of 4,096
//                                   merge    one run
//                                   segments each element takes its updates
//
// A place is where an update goes (above) and its number (below) in 64 bits, so
// that the updates of an element stand side by side, in order. The order of
// additions is that of one launch (ReductionCut.h), and so are the bits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_KERNELSTAGES_H
#define LLMC_LIB_TRANSFORMS_KERNELS_KERNELSTAGES_H

#include "KernelTarget.h"
#include "llmc/Analysis/KernelFormation/KernelFormation.h"

namespace llmc::kernels {

/// One of the launches.
struct KernelStage {
  enum class Part {
    /// All of it.
    Whole,
    /// Of a reduction along columns: blocks of positions, each to one.
    Blocks,
    /// The same, and the blocks' values to the result.
    Tile,
    /// Of an Update: places of its updates, in sorted runs.
    Sort,
    /// Runs of places to longer ones.
    Merge,
    /// The updates, which lie in order of their places.
    Segments
  };
  Part part = Part::Whole;
  /// With the inputs that this launch reads, and the outputs that it makes.
  KernelSpec spec;
  /// Further operands and results: what the launch before left, and what is
  /// left to the next.
  SmallVector<RankedTensorType> taken, made;
  /// Blocks and Tile: positions of a column. Merge: places of a run.
  int64_t length = 0;
};

/// Of an Update's space: the dims whose updates are sorted, and those behind
/// them, of which an update keeps its index.
struct UpdateDims {
  SmallVector<int64_t> sorted, kept;
  /// Rows of operand 0 that the sorted ones go to, and elements of one.
  int64_t targets = 1, targetSize = 1;
  /// No two updates go to one element.
  bool areDistinct = false;
  /// The operands that say where an update goes.
  llvm::SmallDenseSet<unsigned> operands;

  static UpdateDims of(Operation *op);
  /// Bits of a place that are the update's number.
  unsigned getNumberBits() const;
};

/// Places of a sorted run that one block makes, and runs that are merged into
/// one at a time.
inline constexpr int64_t sortedRun = 256, mergedRuns = 16;

/// Threads of a tile that have neighbouring columns, and blocks of positions
/// that it has at most.
inline constexpr int64_t tileColumns = 32, tileBlocks = 16;

/// The launches of `spec`, one for most. On failure an error has been emitted.
FailureOr<std::vector<KernelStage>> planStages(const KernelSpec &spec,
                                               const KernelTarget &target);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_KERNELSTAGES_H
