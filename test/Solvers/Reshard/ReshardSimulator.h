//===- ReshardSimulator.h - Moves performed on small tensors ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices with local arrays of integers; a move exchanges their elements, and
// nothing else knows where an element belongs. A device outside the value's
// stages holds nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ANALYSIS_RESHARDSIMULATOR_H
#define LLMC_TEST_ANALYSIS_RESHARDSIMULATOR_H

#include "llmc/Solvers/Reshard/ReshardPlanner.h"

namespace llmc {

class ReshardSimulator {
public:
  /// Every device gets its part of the tensor with the elements 3, 10, 17, ...
  ReshardSimulator(const rt::Mesh &mesh, std::vector<int64_t> shape,
                   const ReshardLayout &layout);

  /// The first fault, or an empty string.
  std::string perform(const ReshardMove &move);
  /// Whether the devices hold the tensor in `layout`.
  std::string holds(const ReshardLayout &layout) const;

private:
  struct Local {
    std::vector<int64_t> shape, data;
  };
  using Axes = std::vector<int32_t>;

  static Local part(const Local &whole, size_t dim, int64_t count, int64_t i);
  static Local joined(const std::vector<Local> &parts, size_t dim);
  int64_t neutral() const;
  int64_t combine(int64_t a, int64_t b) const;
  int64_t term(int64_t element, int64_t member, int64_t count) const;
  int64_t coordinate(int64_t device, int32_t axis) const;
  int64_t moved(int64_t device, int32_t axis, int64_t coordinate) const;
  bool lives(int64_t device, uint64_t stages) const;
  std::vector<int64_t> group(int64_t device, const Axes &axes) const;
  size_t memberOf(int64_t device, const std::vector<int64_t> &group) const;
  int64_t position(int64_t device, const Axes &list) const;
  Local indices(int64_t device, const ReshardLayout &layout) const;
  Local total(const std::vector<int64_t> &group) const;
  void lift(const ReshardMove &move, int64_t device, Local &local) const;
  Local exchange(const ReshardMove &move, int64_t device) const;

  const rt::Mesh &mesh;
  int64_t numDevices = 1;
  std::vector<int64_t> shape;
  ReshardLayout now;
  ReductionKind kind;
  /// No shape and no data where absent.
  std::vector<Local> locals;
};

} // namespace llmc

#endif // LLMC_TEST_ANALYSIS_RESHARDSIMULATOR_H
