//===- DeviceRuns.cpp - Numbers of devices as axes of a mesh --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/DeviceRuns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
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

std::optional<std::vector<AxisPart>> import::findParts(const MeshAxes &mesh,
                                                       DeviceRun run) {
  std::vector<AxisPart> parts;
  int64_t stride = countDevices(mesh), count = 1;
  for (const auto &[axis, size] : mesh) {
    int64_t end = stride;
    stride /= size;
    int64_t first = std::max(stride, run.stride),
            last = std::min(end, run.stride * run.count);
    if (first >= last)
      continue;
    if (first % stride != 0 || end % last != 0 || last % first != 0)
      return std::nullopt;
    bool isWhole = first == stride && last == end;
    parts.push_back(isWhole ? AxisPart{axis}
                            : AxisPart{axis, end / last, last / first});
    count *= last / first;
  }
  return count == run.count ? std::optional(parts) : std::nullopt;
}
