//===- SlicedOp.h - A sum of products in slices -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What contractions and convolutions share: they are cut along one index into
// slices, each of which one worker runs on its part of the operands. There are
// as many as the plan has threads, so the bits do not depend on the number of
// workers; between plans of different threads they are as the library's own
// order of additions lets them be (docs/rationale.md).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_SLICEDOP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_SLICEDOP_H

#include "LibraryOp.h"

namespace llmc::rt::cpu {

/// The buffers of a slice; the bias is null where there is none.
struct SliceBuffers {
  const void *a, *b, *bias;
  void *c, *workspace;
};

/// Runs one slice. A prepared op is called on one stream, so never do two
/// workers run the same slice at once.
class OpSlice {
public:
  virtual ~OpSlice() = default;
  virtual void run(const SliceBuffers &buffers) = 0;
  virtual uint64_t workspaceBytes() const = 0;
};

/// Where the operands of a slice begin, in bytes.
struct SlicePlace {
  int64_t a = 0, b = 0, bias = 0, c = 0;
};

/// The slice from `begin` on along an index (ContractionIndex) of `shape`. The
/// strides of a bias that is not there say nothing.
template <typename Shape>
SlicePlace placeOf(const Shape &shape, const ContractionIndex &index,
                   int64_t begin) {
  return {begin * index.strideA * sizeOf(shape.a),
          begin * index.strideB * sizeOf(shape.b),
          shape.hasBias ? begin * index.strideBias * sizeOf(shape.bias) : 0,
          begin * index.strideC * sizeOf(shape.c)};
}

class SlicedOp final : public CpuLibraryOp {
public:
  explicit SlicedOp(bool hasBias) : hasBias(hasBias) {}
  /// At least one, before the op is run.
  void add(std::unique_ptr<OpSlice> work, const SlicePlace &place);

  int tickets() const override { return static_cast<int>(slices.size()); }
  uint64_t workspaceBytes() const override { return workspace; }
  void run(const uint64_t *buffers, void *workspace, int ticket) const override;

private:
  struct Slice {
    std::unique_ptr<OpSlice> work;
    SlicePlace place;
    uint64_t workspace;
  };
  std::vector<Slice> slices;
  uint64_t workspace = 0;
  bool hasBias;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_SLICEDOP_H
