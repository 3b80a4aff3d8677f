//===- Mesh.cpp - Named axes over devices ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Layout/MeshTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Layout/Mesh.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>

namespace llmc::rt {

Status Mesh::check() const {
  constexpr int64_t maxDevices = int64_t(1) << 24;
  Checked devices = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].size < 1) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected axis \"{}\" to have a size of at "
                                   "least 1, got {}",
                                   escape(axes[i].name), axes[i].size));
    }
    devices = devices * axes[i].size;
    for (size_t j = 0; j < i; ++j) {
      if (axes[i].name == axes[j].name) {
        return makeError(
            ErrorKind::malformed,
            fmt::format("axis \"{}\" occurs twice", escape(axes[i].name)));
      }
    }
  }
  if (!devices.within(1, maxDevices)) {
    return makeError(
        ErrorKind::malformed,
        fmt::format("expected at most {} devices in the mesh", maxDevices));
  }
  if (pipelineAxis < -1 || pipelineAxis >= static_cast<int64_t>(axes.size())) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected the pipeline axis to be one of {}, "
                                 "got index {}",
                                 axes.size(), pipelineAxis));
  }
  return Status::success();
}

int64_t Mesh::numDevices() const {
  int64_t product = 1;
  for (const MeshAxis &axis : axes) {
    product *= axis.size;
  }
  return product;
}

int64_t Mesh::numStages() const {
  return pipelineAxis < 0 ? 1 : axes[pipelineAxis].size;
}

int32_t Mesh::axisNamed(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == name) {
      return static_cast<int32_t>(i);
    }
  }
  return -1;
}

std::vector<int64_t> Mesh::coordinatesOf(int64_t device) const {
  std::vector<int64_t> coordinates(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    coordinates[i] = device % axes[i].size;
    device /= axes[i].size;
  }
  return coordinates;
}

int64_t Mesh::deviceAt(const std::vector<int64_t> &coordinates) const {
  int64_t device = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    device = device * axes[i].size + coordinates[i];
  }
  return device;
}

int64_t Mesh::stageOf(int64_t device) const {
  return pipelineAxis < 0 ? 0 : coordinatesOf(device)[pipelineAxis];
}

int64_t Mesh::groupSize(const std::vector<int32_t> &group) const {
  int64_t product = 1;
  for (int32_t axis : group) {
    product *= axes[axis].size;
  }
  return product;
}

int64_t Mesh::memberIndex(const std::vector<int32_t> &group,
                          const std::vector<int64_t> &coordinates) const {
  int64_t index = 0;
  for (int32_t axis : group) {
    index = index * axes[axis].size + coordinates[axis];
  }
  return index;
}

} // namespace llmc::rt
