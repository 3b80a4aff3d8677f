//===- ReductionCut.h - In which order reductions add up --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of additions is part of what a program means: the same op gives the
// same bits in every kernel, on every number of threads and on every target. It
// is a function of the op's static shape and of its operands' type alone, never
// of what fusion loads. docs/rationale.md has the reasons and measurements.
//
//   along rows       element j goes to accumulator j mod W, in order of j;
//   (the last dim)   then l is combined with l + W/2, W/4, … 1. W is 32, and in
//                    rows of 2 KiB or more what 32 threads read in one access
//                    of 16 bytes each: 128 of f32
//                    Up to 16 rows of more than 65,536 elements are cut into
//                    parts, each a row; then the parts' values are one
//                    (cutRows)
//   along columns    blocks of 64 positions, in order; then the blocks' values
//                    in the same way, until one is left
//   scatter-adds     each element takes its updates in order of their
//                    positions, without partial sums
//
// A thread of a warp has the neighbours of its access as accumulators, a
// processor any run of them as a vector, one run after the other.
//
// Test: test/Solvers/Reduction/ReductionCutTest.cpp,
//       test/Codegen/KernelOrderTest.cpp
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_REDUCTION_REDUCTIONCUT_H
#define LLMC_SOLVERS_REDUCTION_REDUCTIONCUT_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace llmc {

/// Positions of a column that are added one after the other.
inline constexpr int64_t columnCut = 64;

/// The accumulators of a reduction of rows of `length` elements of
/// `elementBytes` bytes (1, 2, 4 or 8; of several operands the widest): a power
/// of two.
int64_t getRowAccumulators(int64_t length, int64_t elementBytes);

/// Elements of a row that are reduced at once: as many as one block of a GPU's
/// threads reads while it would start another launch some times over.
inline constexpr int64_t longestRow = 1 << 16;
/// More rows than this keep a GPU busy, whatever their length.
inline constexpr int64_t mostCutRows = 16;

/// How rows are cut.
struct RowCut {
  /// Elements of a part, which are neighbours; 0 where rows stay whole, as they
  /// are many, have at most `longestRow` elements, or no number of 16 or more
  /// divides these.
  int64_t part = 0;
  /// Dims that make up a part, where it is a product of the last ones; else 0.
  size_t numDims = 0;
};

/// Of `rows` rows whose elements have the dims `sizes`, outermost first. Parts
/// are whole dims where these are as long as they are many, within a factor of
/// 16; else as near to that as the divisors of the length are.
RowCut cutRows(int64_t rows, const std::vector<int64_t> &sizes);

/// How often blocks of a column of `length` positions are made into blocks:
/// 0 up to 64 positions, 1 up to 4096.
int64_t getColumnLevels(int64_t length);

/// The reduction of a row: `element(j)` for j in [0, length), starting each
/// accumulator from `start`, which is neutral.
template <typename T, typename Element, typename Combine>
T reduceRow(int64_t length, int64_t elementBytes, T start, Element element,
            Combine combine) {
  int64_t count = getRowAccumulators(length, elementBytes);
  std::vector<T> accumulators(static_cast<size_t>(count), start);
  for (int64_t j = 0; j < length; ++j)
    accumulators[j % count] = combine(accumulators[j % count], element(j));
  for (int64_t half = count / 2; half >= 1; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      accumulators[l] = combine(accumulators[l], accumulators[l + half]);
  return accumulators[0];
}

/// The reduction of a column, likewise.
template <typename T, typename Element, typename Combine>
T reduceColumn(int64_t length, T start, Element element, Combine combine) {
  std::vector<T> values;
  for (int64_t j = 0; j < length; ++j)
    values.push_back(element(j));
  while (true) {
    std::vector<T> blocks;
    for (size_t first = 0; first < values.size(); first += columnCut) {
      blocks.push_back(start);
      size_t last = std::min<size_t>(first + columnCut, values.size());
      for (size_t j = first; j < last; ++j)
        blocks.back() = combine(blocks.back(), values[j]);
    }
    if (blocks.size() <= 1)
      return blocks.empty() ? start : blocks[0];
    values = std::move(blocks);
  }
}

} // namespace llmc

#endif // LLMC_SOLVERS_REDUCTION_REDUCTIONCUT_H
