//===- DeviceScalars.h - Integers that are known on each device -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device's number, and what follows from it by arithmetic on scalars, is
// computed for each device, so that it varies along the axes on which it really
// depends: JAX takes the place on one axis from the number by division and
// remainder.
//
//   %i = partition_id, %p = %i / 4 % 2      mesh 2 x 4
//     ->
//   0, 0, 0, 0, 1, 1, 1, 1   ->   iota along axis 0
//
// Test: test/Import/StableHLO/manual-numbers.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_STABLEHLO_DEVICESCALARS_H
#define LLMC_LIB_IMPORT_STABLEHLO_DEVICESCALARS_H

#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Support/HostTensor.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::import {

class DeviceScalars {
public:
  /// Of a mesh with axes of these sizes.
  explicit DeviceScalars(ArrayRef<int64_t> sizes);

  bool isKnown(Value scalar) const { return known.contains(scalar); }
  /// `scalar`, an integer, is these numbers on the devices.
  void set(Value scalar, ArrayRef<int64_t> elements);
  /// Computes an op whose operands are known, for each device; whether it did.
  bool compute(Operation *op);
  /// The axes on which a known scalar depends.
  graph::DeviceAxes getAxes(Value scalar) const;
  /// The known scalar as a tensor along the axes on which it depends.
  graph::DeviceValue build(OpBuilder &builder, Value scalar) const;

private:
  /// By device.
  using Elements = SmallVector<HostTensor>;

  void bind(Value scalar, Elements elements);
  SmallVector<int64_t> getCoordinates(int64_t device) const;
  bool depends(const Elements &elements, unsigned axis) const;

  SmallVector<int64_t> sizes;
  int64_t numDevices = 1;
  /// Those that are not the same on all devices.
  llvm::DenseMap<Value, Elements> known;
};

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_STABLEHLO_DEVICESCALARS_H
