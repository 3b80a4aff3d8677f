//===- Layout.h - Which part of a tensor a device stores --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dimension is a product of factors, each with a size and a stored extent
// (>= size); the product of the extents is split evenly by the axes, major to
// minor. Read with the extents, a storage position is a list of digits; it
// holds an element iff each digit is below its factor's size, and read with the
// sizes the digits are the element's global index. All devices have equal local
// shapes; what is no element is padding.
//
//   384 = 6 x 64 split by "tensor"=4, heads padded to 8:  axes {tensor},
//   factors [6:8, 64], extent 512, local 128; tensor=2 stores columns 256-383,
//   tensor=3 stores padding only.
//
// Test: test/Runtime/Layout/LayoutTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_LAYOUT_LAYOUT_H
#define LLMC_RUNTIME_LAYOUT_LAYOUT_H

#include "llmc/Runtime/Layout/Mesh.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt {

struct Factor {
  int64_t size = 1;
  int64_t extent = 1;
};

struct DimLayout {
  /// Indices of mesh axes, major to minor.
  std::vector<int32_t> axes;
  /// Major to minor; at least one.
  std::vector<Factor> factors;

  /// Products over the factors. Assume a checked layout.
  int64_t size() const;
  int64_t extent() const;
};

/// `length` elements at `local` in storage are the elements at `global`.
struct Run {
  int64_t local = 0;
  int64_t global = 0;
  int64_t length = 0;
};

/// A block of elements: where it starts in the device's storage and in the
/// whole tensor (one number for each dimension).
struct Box {
  std::vector<int64_t> local;
  std::vector<int64_t> global;
  std::vector<int64_t> size;
};

struct Layout {
  std::vector<DimLayout> dims;

  /// Every dimension unsplit and unpadded.
  static Layout whole(const std::vector<int64_t> &shape);
  /// One factor for each dimension, padded to the least multiple of its axes.
  static Layout split(const std::vector<int64_t> &shape,
                      const std::vector<std::vector<int32_t>> &axes,
                      const Mesh &mesh);

  /// Axes exist and occur once, extents are at least the sizes and divisible by
  /// the product of the axes; no product overflows.
  Status check(const Mesh &mesh) const;

  /// The whole tensor's shape. This and what follows assume `check` passed.
  std::vector<int64_t> globalShape() const;
  /// What each device stores, padding included.
  std::vector<int64_t> localShape(const Mesh &mesh) const;
  int64_t localElements(const Mesh &mesh) const;

  /// The runs of dimension `dim` on a device, in order of storage; adjacent
  /// runs are merged. `unsupported` above `maxRuns`.
  Result<std::vector<Run>> runs(size_t dim, const Mesh &mesh,
                                const std::vector<int64_t> &coordinates,
                                size_t maxRuns = 65536) const;
  /// The products of the runs of all dimensions; empty for a device that stores
  /// padding only. A scalar has one box without dimensions.
  Result<std::vector<Box>> boxes(const Mesh &mesh,
                                 const std::vector<int64_t> &coordinates,
                                 size_t maxBoxes = 65536) const;

  /// `[{"data"}:50257:50264, {"tensor"}:6:8x64, {}:3]`
  std::string describe(const Mesh &mesh) const;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_LAYOUT_LAYOUT_H
