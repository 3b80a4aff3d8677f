//===- Mesh.h - Named axes over devices -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices are numbered in row-major order of their coordinates: the last axis
// varies fastest. At most one axis is the pipeline; its coordinate is the stage
// of a device, and selects the programs that it runs.
//
//   mesh <"pipe"=2, "data"=2, "tensor"=2>: device 5 = (1, 0, 1), stage 1
//
// Test: test/Runtime/Layout/MeshTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_LAYOUT_MESH_H
#define LLMC_RUNTIME_LAYOUT_MESH_H

#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

struct Mesh {
  std::vector<MeshAxis> axes;
  /// Index of the pipeline axis, or -1.
  int32_t pipelineAxis = -1;

  /// Unique names, sizes of at least 1, at most 2^24 devices.
  Status check() const;

  int64_t numDevices() const;
  int64_t numStages() const;
  /// -1 when there is none.
  int32_t axisNamed(std::string_view name) const;

  std::vector<int64_t> coordinatesOf(int64_t device) const;
  int64_t deviceAt(const std::vector<int64_t> &coordinates) const;
  int64_t stageOf(int64_t device) const;

  /// Product of the sizes of `axes`.
  int64_t groupSize(const std::vector<int32_t> &axes) const;
  /// The index of a device among those that differ from it in `axes` only; the
  /// first of `axes` is the major one.
  int64_t memberIndex(const std::vector<int32_t> &axes,
                      const std::vector<int64_t> &coordinates) const;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_LAYOUT_MESH_H
