//===- DeviceArrangement.h - Axes among the dims of a value -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction leaves axes between dims, a collective turns axes into parts of
// dims and back, and so do entry and exit of a manual region. A tensor whose
// dims are axes of the mesh and parts of dims of what one device has, in any
// order, is brought into the order of Batching.h by one transposition and one
// reshape:
//
//   dims axis 0, dim 0, axis 1, dim 1   ->   axis 0, axis 1, dim 0, dim 1
//   dims part 0 of dim 1, dim 0, dim 1  ->   dim 0, (part 0, rest) of dim 1
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_MODELS_DEVICEARRANGEMENT_H
#define LLMC_DIALECT_STABLEHLO_MODELS_DEVICEARRANGEMENT_H

#include "llmc/Dialect/Graph/IR/Batching.h"
#include <limits>

namespace llmc::stablehlo {

/// What a dim is: an axis, or a part of a dim of one device.
struct DeviceDim {
  bool isAxis;
  /// The axis, or the dim.
  int64_t number;
  /// Parts stand major to minor.
  int64_t part = 0;

  bool operator==(const DeviceDim &other) const {
    return isAxis == other.isAxis && number == other.number &&
           part == other.part;
  }

  static DeviceDim ofAxis(unsigned axis) { return {true, axis}; }
  static DeviceDim ofPart(int64_t dim, int64_t part) {
    return {false, dim, part};
  }
  /// The whole dim, or its most minor part.
  static DeviceDim ofDim(int64_t dim) {
    return {false, dim, std::numeric_limits<int64_t>::max()};
  }
};

/// The value with its axes ahead, of the shape `shape` on one device.
graph::DeviceValue arrange(graph::BatchForm &form, Value value,
                           ArrayRef<int64_t> shape, ArrayRef<DeviceDim> dims);

/// Dim `dim` of what one device has of `value` is cut: its major part becomes
/// the axes `cuts[dim]`, major to minor, which the value lacks and whose sizes
/// divide it.
graph::DeviceValue cutDims(graph::BatchForm &form,
                           const graph::DeviceValue &value,
                           ArrayRef<SmallVector<unsigned, 2>> cuts);

/// The other way round: the axes `joins[dim]`, along which the value varies,
/// become the major part of dim `dim`.
graph::DeviceValue joinDims(graph::BatchForm &form,
                            const graph::DeviceValue &value,
                            ArrayRef<SmallVector<unsigned, 2>> joins);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_MODELS_DEVICEARRANGEMENT_H
