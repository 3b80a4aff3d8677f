//===- Contraction.h - Contractions on CPU --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction is cut into tickets along a batch index or its rows, each of
// which runs on one worker: as a oneDNN primitive of one thread where oneDNN
// has the types and strides, else as plain loops. The cut is part of the
// shape, so the bits do not depend on the number of workers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_CONTRACTION_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_CONTRACTION_H

#include "LibraryOp.h"

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

/// The buffers of a slice; the bias is null where there is none.
struct SliceBuffers {
  const void *a, *b, *bias;
  void *c, *workspace;
};

/// Runs one slice of a contraction. A prepared op is called on one stream, so
/// never do two workers run the same slice at once.
class ContractionSlice {
public:
  virtual ~ContractionSlice() = default;
  virtual void run(const SliceBuffers &buffers) = 0;
  virtual uint64_t workspaceBytes() const = 0;
};

/// Null when oneDNN cannot express `shape`.
Result<std::unique_ptr<ContractionSlice>>
makeLibrarySlice(const MatrixShape &shape);
/// Plain loops; k innermost, in order.
Result<std::unique_ptr<ContractionSlice>>
makeLoopSlice(const MatrixShape &shape);

class CpuContraction final : public CpuLibraryOp {
public:
  static Result<std::unique_ptr<CpuLibraryOp>>
  make(const ContractionShape &shape, const std::string &name, int threads);

  int tickets() const override { return static_cast<int>(slices.size()); }
  uint64_t workspaceBytes() const override;
  void run(const uint64_t *buffers, void *workspace, int ticket) const override;

private:
  struct Slice {
    std::unique_ptr<ContractionSlice> work;
    int64_t a, b, bias, c, workspace; ///< Offsets in bytes.
  };
  std::vector<Slice> slices;
  bool hasBias = false;
};

/// Makes the calling thread's oneDNN primitives run on that thread alone.
void limitLibraryThreads();

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_CONTRACTION_H
