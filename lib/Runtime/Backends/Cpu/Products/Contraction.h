//===- Contraction.h - Contractions on CPU --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction is cut along a batch index or its rows. A slice runs as a
// oneDNN primitive of one thread where oneDNN has the types and strides, or has
// them in f32, else as plain loops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_CONTRACTION_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_CONTRACTION_H

#include "../SlicedOp.h"

namespace llmc::rt::cpu {

/// A contraction with at most one index each of m and n, and of k where
/// `outerK` is empty. Surplus m and n became batch indices over which b or a
/// repeat.
struct MatrixShape {
  std::string name;
  /// Types, factors, bias and activation; its indices are the members below.
  ContractionShape shape;
  std::vector<ContractionIndex> batch;
  std::vector<ContractionIndex> outerK;
  ContractionIndex m, n, k;
};

/// Merges indices that are one walk in all operands and picks the matrices.
///   m 4 (strides 24, 0, 6), m 2 (12, 0, 3)  ->  m 8 (12, 0, 3)
MatrixShape toMatrix(const ContractionShape &shape, std::string name);

/// Null when oneDNN cannot express `shape`.
Result<std::unique_ptr<OpSlice>> makeLibrarySlice(const MatrixShape &shape);
/// The library's, of sides and result that are copied to f32; null when it
/// cannot express that either.
Result<std::unique_ptr<OpSlice>> makeWidenedSlice(const MatrixShape &shape);
/// The library's, of operands that each run copies to where it is fastest; null
/// where it has no such product.
Result<std::unique_ptr<OpSlice>> makePackedSlice(const MatrixShape &shape);
/// Tiles of f64, with the bits of plain loops; null for other types and for
/// activations.
std::unique_ptr<OpSlice> makeTiledSlice(const MatrixShape &shape);
/// Plain loops; k innermost, in order.
Result<std::unique_ptr<OpSlice>> makeLoopSlice(const MatrixShape &shape);
/// By oneDNN where it has it, else in tiles, else by loops.
Result<std::unique_ptr<OpSlice>> makeSlice(const MatrixShape &shape);

/// Refuses what neither oneDNN nor the loops have.
Status checkContraction(const ContractionShape &shape, const std::string &name);

/// The forms of a contraction, by their numbers in plans: append only.
enum class ContractionForm : uint8_t {
  asItLies = 0,      ///< In place, cut along a batch index or the rows.
  packed = 1,        ///< The same of operands that a run copies.
  columns = 2,       ///< In place, cut along the columns.
  packedColumns = 3, ///< Both.
};
inline constexpr std::array<std::string_view, 4> contractionFormNames = {
    "as it lies", "packed", "columns", "packed columns"};

/// Error (15) where the contraction has not got the form.
Result<std::unique_ptr<CpuLibraryOp>>
makeContraction(const ContractionShape &shape, const std::string &name,
                int threads, ContractionForm form = ContractionForm::asItLies);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_CONTRACTION_H
