//===- DeviceGroups.cpp - Which devices exchange --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceGroups.h. How numbers are to be read says the StableHLO
// specification, section "Process groups":
//
//   channel   global ids   groups are of
//   0         no           replicas, the same partition
//   > 0       no           replicas with all their partitions
//   > 0       yes          devices
//   0         -            replicas    } all_to_all, collective_permute,
//   > 0       -            partitions  } collective_broadcast
//
// With one replica a group of replicas is one device, or all.
//
// Test: test/Import/StableHLO/manual-collectives.mlir
//===----------------------------------------------------------------------===//

#include "DeviceGroups.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

static int64_t countDevices(ArrayRef<int64_t> mesh) {
  int64_t devices = 1;
  for (int64_t size : mesh)
    devices *= size;
  return devices;
}

/// The device's place along each axis.
static SmallVector<int64_t> getCoordinates(ArrayRef<int64_t> mesh,
                                           int64_t device) {
  SmallVector<int64_t> at(mesh.size());
  for (size_t axis = mesh.size(); axis-- > 0;) {
    at[axis] = device % mesh[axis];
    device /= mesh[axis];
  }
  return at;
}

/// The number of the place `at` along `axes`, major to minor.
static int64_t getNumber(ArrayRef<int64_t> mesh, ArrayRef<unsigned> axes,
                         ArrayRef<int64_t> at) {
  int64_t number = 0;
  for (unsigned axis : axes)
    number = number * mesh[axis] + at[axis];
  return number;
}

static bool isGlobal(ChannelHandleAttr channel) {
  return channel && channel.getHandle() > 0;
}

LogicalResult stablehlo::verifyOneReplica(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto replicas = module->getAttrOfType<IntegerAttr>("mhlo.num_replicas");
  if (!replicas || replicas.getInt() == 1)
    return success();
  return emitRefusal(op, rt::ErrorKind::unsupported)
         << "expected a module of 1 replica, got " << replicas.getInt();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The axes along which the members of the first group differ, in the order of
/// the members; the order is right if the groups are those of axes.
static GroupAxes guessAxes(ArrayRef<int64_t> mesh, ArrayRef<int64_t> group) {
  // The member at which a coordinate first differs from the first member's.
  SmallVector<std::pair<int64_t, unsigned>> strides;
  SmallVector<int64_t> first = getCoordinates(mesh, group.front());
  for (unsigned axis = 0; axis < mesh.size(); ++axis)
    for (auto [i, device] : llvm::enumerate(group))
      if (getCoordinates(mesh, device)[axis] != first[axis]) {
        strides.push_back({-static_cast<int64_t>(i), axis});
        break;
      }
  llvm::sort(strides);
  return llvm::map_to_vector<2>(strides, [](auto pair) { return pair.second; });
}

/// Whether member i of each group is at place i along the axes.
static bool areGroupsOf(ArrayRef<unsigned> axes, ArrayRef<int64_t> mesh,
                        ArrayRef<int64_t> devices, int64_t size) {
  SmallVector<int64_t> first;
  for (auto [i, device] : llvm::enumerate(devices)) {
    SmallVector<int64_t> at = getCoordinates(mesh, device);
    int64_t place = i % size;
    if (getNumber(mesh, axes, at) != place)
      return false;
    for (unsigned axis : axes)
      at[axis] = 0;
    if (place == 0)
      first = at;
    if (first != at)
      return false;
  }
  return true;
}

static FailureOr<GroupAxes> findAxes(BatchForm &form,
                                     DenseIntElementsAttr groups) {
  auto devices = llvm::to_vector(groups.getValues<int64_t>());
  int64_t size = groups.getType().getDimSize(1), all = countDevices(form.mesh);
  // No number stands twice, so that all are there if none is too large.
  bool isComplete = static_cast<int64_t>(devices.size()) == all && size > 0 &&
                    llvm::all_of(devices, [&](int64_t device) {
                      return device >= 0 && device < all;
                    });
  if (!isComplete)
    return emitRefusal(form.op, rt::ErrorKind::unsupported)
           << "expected groups of one size with each of the " << all
           << " devices of the mesh, got " << groups;
  GroupAxes axes = guessAxes(form.mesh, ArrayRef(devices).take_front(size));
  if (areGroupsOf(axes, form.mesh, devices, size))
    return axes;
  return emitRefusal(form.op, rt::ErrorKind::unsupported)
         << "expected groups of devices along whole axes of the mesh, got "
         << groups
         << " (give the mesh an axis for them in place of axis_index_groups)";
}

static GroupAxes getAllAxes(ArrayRef<int64_t> mesh) {
  GroupAxes axes;
  for (unsigned axis = 0; axis < mesh.size(); ++axis)
    if (mesh[axis] > 1)
      axes.push_back(axis);
  return axes;
}

FailureOr<GroupAxes> stablehlo::readGroups(BatchForm &form,
                                           DenseIntElementsAttr groups,
                                           ChannelHandleAttr channel,
                                           bool useGlobalDeviceIds) {
  if (failed(verifyOneReplica(form.op)))
    return failure();
  if (useGlobalDeviceIds && isGlobal(channel))
    return findAxes(form, groups);
  return isGlobal(channel) ? getAllAxes(form.mesh) : GroupAxes();
}

FailureOr<GroupAxes> stablehlo::readPartitionGroups(BatchForm &form,
                                                    DenseIntElementsAttr groups,
                                                    ChannelHandleAttr channel) {
  if (failed(verifyOneReplica(form.op)))
    return failure();
  return isGlobal(channel) ? findAxes(form, groups) : GroupAxes();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// The sources along `axes`, if they are the same at all other places.
static std::optional<SmallVector<int64_t>>
findSources(ArrayRef<int64_t> mesh, ArrayRef<unsigned> axes,
            ArrayRef<int64_t> sourceOf) {
  int64_t count = 1;
  for (unsigned axis : axes)
    count *= mesh[axis];
  constexpr int64_t unknown = -2;
  SmallVector<int64_t> sources(count, unknown);
  for (auto [device, source] : llvm::enumerate(sourceOf)) {
    int64_t from =
        source < 0 ? -1 : getNumber(mesh, axes, getCoordinates(mesh, source));
    int64_t &known =
        sources[getNumber(mesh, axes, getCoordinates(mesh, device))];
    if (known != unknown && known != from)
      return std::nullopt;
    known = from;
  }
  return sources;
}

FailureOr<DeviceSources> stablehlo::readSources(BatchForm &form,
                                                DenseIntElementsAttr pairs,
                                                ChannelHandleAttr channel) {
  if (failed(verifyOneReplica(form.op)))
    return failure();
  if (!isGlobal(channel))
    return emitRefusal(form.op, rt::ErrorKind::unsupported)
           << "expected pairs of partitions (a channel above 0), got pairs of "
              "replicas";
  int64_t all = countDevices(form.mesh);
  SmallVector<int64_t> sourceOf(all, -1);
  auto numbers = llvm::to_vector(pairs.getValues<int64_t>());
  for (size_t i = 0; i < numbers.size(); i += 2) {
    int64_t source = numbers[i], target = numbers[i + 1];
    if (std::max(source, target) >= all)
      return emitRefusal(form.op)
             << "expected numbers of devices below " << all
             << " in 'source_target_pairs', got " << std::max(source, target);
    sourceOf[target] = source;
  }
  DeviceAxes axes;
  for (unsigned axis = 0; axis < form.mesh.size(); ++axis)
    if (llvm::any_of(llvm::enumerate(sourceOf), [&](auto entry) {
          return entry.value() >= 0 &&
                 getCoordinates(form.mesh, entry.value())[axis] !=
                     getCoordinates(form.mesh, entry.index())[axis];
        }))
      axes.push_back(axis);
  if (auto sources = findSources(form.mesh, axes, sourceOf))
    return DeviceSources{axes, *sources};
  GroupAxes whole = getAllAxes(form.mesh);
  return DeviceSources{whole, *findSources(form.mesh, whole, sourceOf)};
}
