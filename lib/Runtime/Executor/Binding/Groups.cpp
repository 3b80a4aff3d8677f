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

/// All groups of a set of axes. A device of a stage that takes no part is in
/// none.
static std::vector<std::vector<int>>
groupsOf(const Mesh &mesh, const std::vector<int32_t> &axes,
         const std::vector<int32_t> &stages) {
  std::vector<std::vector<int>> groups;
  std::vector<bool> seen(static_cast<size_t>(mesh.numDevices()));
  for (int device = 0; device < mesh.numDevices(); ++device) {
    std::vector<int> group = Groups::members(mesh, axes, stages, device);
    if (seen[device] ||
        std::find(group.begin(), group.end(), device) == group.end()) {
      continue;
    }
    for (int member : group) {
      seen[member] = true;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

/// The pairs of devices that a route joins: sender, receiver.
static std::vector<std::vector<int>> pairsOf(const Mesh &mesh,
                                             const plan::Route &route) {
  std::vector<std::vector<int>> pairs;
  for (int device = 0; device < mesh.numDevices(); ++device) {
    if (mesh.stageOf(device) != route.from) {
      continue;
    }
    std::vector<int64_t> coordinates = mesh.coordinatesOf(device);
    coordinates[mesh.pipelineAxis] = route.to;
    pairs.push_back({device, static_cast<int>(mesh.deviceAt(coordinates))});
  }
  return pairs;
}

Result<Groups::ByDevice>
Groups::split(World &world, const std::vector<std::vector<int>> &groups) {
  LLMC_TRY_ASSIGN(std::vector<Communicator *> made, world.split(groups));
  ByDevice byDevice(static_cast<size_t>(world.size()));
  for (size_t i = 0; i < made.size(); ++i) {
    byDevice[world.local()[i]] = made[i];
  }
  for (const std::vector<int> &group : groups) {
    for (int member : group) {
      if (Communicator *handle = byDevice[member]) {
        handles.push_back(handle);
        if (handle->rank() == 0) {
          firsts.push_back(handle);
        }
      }
    }
  }
  return byDevice;
}

Status Groups::makeRoutes(const plan::Plan &plan, World &world) {
  LLMC_TRY_ASSIGN(routes, plan::Routes::of(plan));
  for (const plan::Route &route : routes.all()) {
    LLMC_TRY_ASSIGN(ByDevice made, split(world, pairsOf(plan.mesh, route)));
    pairs.emplace(route, std::move(made));
  }
  return Status::success();
}

Status Groups::make(const plan::Plan &plan, World &world) {
  LLMC_TRY(makeRoutes(plan, world));
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
                      split(world, groupsOf(plan.mesh, key.first, key.second)));
      sets.emplace(std::move(key), std::move(made));
    }
  }
  return Status::success();
}

Communicator *Groups::transfer(bool isSend, int32_t stage, int32_t peer,
                               int32_t transfer, int device) {
  const plan::Route *route = isSend ? routes.find(stage, peer, transfer)
                                    : routes.find(peer, stage, transfer);
  return route ? pairs.at(*route)[device] : nullptr;
}

std::vector<CommunicatorCounts> Groups::countsOf(int device) const {
  std::vector<CommunicatorCounts> counts;
  for (const auto &[key, handles] : sets) {
    Communicator *handle = handles[device];
    counts.push_back(handle ? handle->counts() : CommunicatorCounts());
  }
  return counts;
}

std::vector<plan::Traffic>
Groups::trafficOf(const Mesh &mesh,
                  const std::vector<CommunicatorCounts> &all) const {
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
  size_t index = 0;
  for (const auto &[key, handles] : sets) {
    const CommunicatorCounts &counts = all[index++];
    for (unsigned i = 0; i < numCollectiveKinds; ++i) {
      CollectiveKind kind = collectiveTraits[i].kind;
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

CommunicatorCounts
Groups::sumOf(const std::vector<std::vector<CommunicatorCounts>> &all) {
  CommunicatorCounts sum;
  for (const std::vector<CommunicatorCounts> &ofProcess : all) {
    for (const CommunicatorCounts &counts : ofProcess) {
      for (unsigned kind = 0; kind < numCollectiveKinds; ++kind) {
        sum.collectives[kind] += counts.collectives[kind];
        sum.bytes[kind] += counts.bytes[kind];
      }
      sum.transfers += counts.transfers;
      sum.transferBytes += counts.transferBytes;
    }
  }
  return sum;
}

} // namespace llmc::rt::exec
