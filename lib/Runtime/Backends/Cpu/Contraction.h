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

#include "llmc/Runtime/Device/Device.h"

#include <memory>

namespace llmc::rt::cpu {

/// A contraction with at most one index each of m and n, and of k where
/// `outerK` is empty. Surplus m and n became batch indices over which b or a
/// repeat.
struct MatrixShape {
  std::string name;
  DType a, b, c, accumulate;
  std::vector<ContractionIndex> batch;
  std::vector<ContractionIndex> outerK;
  ContractionIndex m, n, k;
  double alpha;
  bool addToResult;
};

/// Merges indices that are one walk in all operands and picks the matrices.
///   m 4 (strides 24, 0, 6), m 2 (12, 0, 3)  ->  m 8 (12, 0, 3)
MatrixShape toMatrix(const ContractionShape &shape);

/// Runs one slice of a contraction; owned by one instruction of one device, so
/// that never two workers run the same slice at once.
class ContractionSlice {
public:
  virtual ~ContractionSlice() = default;
  virtual void run(const void *a, const void *b, void *c, void *scratch) = 0;
  virtual uint64_t scratchBytes() const = 0;
};

/// Null when oneDNN cannot express `shape`.
Result<std::unique_ptr<ContractionSlice>>
makeLibrarySlice(const MatrixShape &shape);
/// Plain loops; k innermost, in order.
Result<std::unique_ptr<ContractionSlice>>
makeLoopSlice(const MatrixShape &shape);

class CpuContraction final : public Contraction {
public:
  static Result<std::unique_ptr<CpuContraction>>
  make(const ContractionShape &shape);

  int tickets() const { return static_cast<int>(slices.size()); }
  uint64_t scratchBytes() const;
  void run(const void *a, const void *b, void *c, void *scratch,
           int ticket) const;

private:
  struct Slice {
    std::unique_ptr<ContractionSlice> work;
    int64_t a, b, c, scratch; ///< Offsets in bytes.
  };
  std::vector<Slice> slices;
};

/// Makes the calling thread's oneDNN primitives run on that thread alone.
void limitLibraryThreads();

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_CONTRACTION_H
