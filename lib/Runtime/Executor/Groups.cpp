//===- Groups.cpp - Communicators of mesh axes ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "Groups.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace llmc::rt::exec {

std::vector<int> Groups::members(const Mesh &mesh,
                                 const std::vector<int32_t> &axes,
                                 const std::vector<int32_t> &stages,
                                 int device) {
  std::vector<int64_t> coordinates = mesh.coordinatesOf(device);
  std::vector<int> found;
  int64_t size = mesh.groupSize(axes);
  for (int64_t member = 0; member < size; ++member) {
    int64_t rest = member;
    bool takesPart = true;
    for (size_t i = axes.size(); i-- > 0;) {
      int32_t axis = axes[i];
      coordinates[axis] = rest % mesh.axes[axis].size;
      rest /= mesh.axes[axis].size;
      takesPart = takesPart && (axis != mesh.pipelineAxis ||
                                plan::hasStage(stages, coordinates[axis]));
    }
    if (takesPart) {
      found.push_back(static_cast<int>(mesh.deviceAt(coordinates)));
    }
  }
  return found;
}

Result<Groups::ByDevice> Groups::makeSet(const Mesh &mesh, World &world,
                                         const std::vector<int32_t> &axes,
                                         const std::vector<int32_t> &stages,
                                         int tags) {
  ByDevice byDevice(static_cast<size_t>(world.size()));
  std::vector<bool> seen(byDevice.size());
  const std::vector<int> &local = world.local();
  for (int device = 0; device < world.size(); ++device) {
    std::vector<int> group = members(mesh, axes, stages, device);
    // A device of a stage that takes no part is not in its own group.
    if (seen[device] ||
        std::find(group.begin(), group.end(), device) == group.end()) {
      continue;
    }
    LLMC_TRY_ASSIGN(std::vector<Communicator *> made,
                    world.communicator(group, tags));
    size_t next = 0;
    for (int member : group) {
      seen[member] = true;
      if (std::binary_search(local.begin(), local.end(), member)) {
        byDevice[member] = made[next++];
      }
    }
    handles.insert(handles.end(), made.begin(), made.end());
    if (!made.empty()) {
      firsts.push_back(made.front());
    }
  }
  return byDevice;
}

Status Groups::make(const plan::Plan &plan, World &world) {
  const Mesh &mesh = plan.mesh;
  if (mesh.pipelineAxis >= 0 && !plan.transfers.empty()) {
    LLMC_TRY_ASSIGN(pipeline, makeSet(mesh, world, {mesh.pipelineAxis}, {},
                                      static_cast<int>(plan.transfers.size())));
  }
  for (const plan::Program &program : plan.programs) {
    for (const plan::Instruction &instruction : program.instructions) {
      auto *collective = std::get_if<plan::Collective>(&instruction.action);
      if (!collective) {
        continue;
      }
      Key key(collective->axes, collective->stages);
      if (sets.count(key)) {
        continue;
      }
      LLMC_TRY_ASSIGN(ByDevice made,
                      makeSet(mesh, world, key.first, key.second, 1));
      sets.emplace(std::move(key), std::move(made));
    }
  }
  return Status::success();
}

std::vector<plan::Traffic> Groups::trafficOf(const Mesh &mesh,
                                             int device) const {
  std::map<std::tuple<std::string, std::string, bool>, plan::Traffic> rows;
  auto add = [&](CollectiveKind kind, const std::vector<int32_t> &axes,
                 bool isScalar, uint64_t count, uint64_t bytes) {
    if (!count) {
      return;
    }
    std::string name(nameOf(kind)), names = plan::axisNames(mesh, axes);
    plan::Traffic &row = rows[{name, names, isScalar}];
    row.kind = name;
    row.axes = names;
    row.isScalar = isScalar;
    row.count += static_cast<int64_t>(count);
    row.bytesIn += bytes;
  };
  for (const auto &[key, handles] : sets) {
    if (!handles[device]) {
      continue;
    }
    CommunicatorCounts counts = handles[device]->counts();
    for (unsigned i = 0; i < numCollectiveKinds; ++i) {
      auto kind = static_cast<CollectiveKind>(i);
      add(kind, key.first, true, counts.scalars[i], counts.scalarBytes[i]);
      add(kind, key.first, false, counts.collectives[i] - counts.scalars[i],
          counts.bytes[i] - counts.scalarBytes[i]);
    }
  }
  std::vector<plan::Traffic> list;
  for (auto &[key, row] : rows) {
    list.push_back(std::move(row));
  }
  return list;
}

Communicator *Groups::collective(const plan::Collective &collective,
                                 int device) {
  return sets.at(Key(collective.axes, collective.stages))[device];
}

} // namespace llmc::rt::exec
