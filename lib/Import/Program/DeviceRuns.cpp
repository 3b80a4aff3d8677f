//===- DeviceRuns.cpp - Numbers of devices as axes of a mesh --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/DeviceRuns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

/// The run of which a step adds `weight` to the number of the part. The first
/// device with one step and nothing else is the stride.
static std::optional<DeviceRun> findRun(ArrayRef<int64_t> parts, int64_t count,
                                        int64_t weight) {
  auto devices = static_cast<int64_t>(parts.size());
  const int64_t *first = llvm::find(parts, weight);
  int64_t stride = first - parts.begin();
  if (first == parts.end() || stride == 0 || devices % stride != 0)
    return std::nullopt;
  int64_t steps = 1;
  while (stride * steps < devices && weight * steps < count &&
         parts[stride * steps] == weight * steps)
    ++steps;
  if (devices % (stride * steps) != 0 || count % (weight * steps) != 0)
    return std::nullopt;
  return DeviceRun{stride, steps};
}

std::optional<DeviceRuns> import::findRuns(ArrayRef<int64_t> parts,
                                           int64_t count) {
  DeviceRuns runs;
  for (int64_t weight = 1; weight < count; weight *= runs.front().count) {
    std::optional<DeviceRun> run = findRun(parts, count, weight);
    if (!run)
      return std::nullopt;
    runs.insert(runs.begin(), *run);
  }
  for (auto [device, part] : llvm::enumerate(parts)) {
    int64_t number = 0;
    for (const DeviceRun &run : runs)
      number = number * run.count + device / run.stride % run.count;
    if (number != part)
      return std::nullopt;
  }
  return runs;
}

std::string import::showSizes(ArrayRef<int64_t> sizes) {
  return llvm::join(
      llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }),
      ", ");
}

std::string import::showMesh(const MeshAxes &axes) {
  return llvm::join(llvm::map_range(axes,
                                    [](const auto &axis) {
                                      return "\"" + axis.first + "\"=" +
                                             std::to_string(axis.second);
                                    }),
                    ", ");
}

int64_t import::countDevices(const MeshAxes &axes) {
  int64_t devices = 1;
  for (const auto &[axis, size] : axes)
    devices *= size;
  return devices;
}

std::optional<SmallVector<int64_t>>
import::cutDevices(int64_t devices, ArrayRef<DeviceRun> runs) {
  std::set<int64_t> ends = {1, devices};
  for (const DeviceRun &run : runs)
    ends.insert({run.stride, run.stride * run.count});
  SmallVector<int64_t> sizes;
  for (auto end = ends.begin(); std::next(end) != ends.end(); ++end) {
    if (*std::next(end) % *end != 0)
      return std::nullopt;
    sizes.insert(sizes.begin(), *std::next(end) / *end);
  }
  return sizes;
}

std::optional<SmallVector<unsigned>> import::findAxes(const MeshAxes &mesh,
                                                      DeviceRun run) {
  SmallVector<unsigned> axes;
  int64_t stride = countDevices(mesh), count = 1, first = 0;
  for (auto [number, axis] : llvm::enumerate(mesh)) {
    stride /= axis.second;
    if (axis.second == 1 || stride < run.stride ||
        stride >= run.stride * run.count)
      continue;
    axes.push_back(number);
    count *= axis.second;
    first = stride;
  }
  bool isWhole = count == run.count && (count == 1 || first == run.stride);
  return isWhole ? std::optional(axes) : std::nullopt;
}
