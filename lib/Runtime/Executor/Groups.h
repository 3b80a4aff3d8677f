//===- Groups.h - Communicators of mesh axes ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set of axes divides the devices into groups: those that agree in all other
// coordinates. Each set that a plan uses becomes one communicator for each of
// its groups; all transfers along the pipeline share one, told apart by tags.
//
//   mesh <"data"=2, "tensor"=2>, axes {"tensor"}:  groups {0, 1} {2, 3}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_GROUPS_H
#define LLMC_LIB_RUNTIME_EXECUTOR_GROUPS_H

#include "llmc/Runtime/Comm/World.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <map>
#include <utility>
#include <vector>

namespace llmc::rt::exec {

class Groups {
public:
  /// Makes the communicators of all axis sets in the plan, in its order.
  Status make(const plan::Plan &plan, World &world);

  /// The device's member of a collective's group. Assumes that `make` saw it.
  Communicator *collective(const plan::Collective &collective, int device);
  Communicator *transfers(int device) { return pipeline[device]; }

  /// What the device took part in: rows by kind, axes, scalar or not, without
  /// transfers and bytes out, in the order of `plan::trafficOf`.
  std::vector<plan::Traffic> trafficOf(const Mesh &mesh, int device) const;

  /// World numbers of the group that `device` is in, in member order.
  static std::vector<int> members(const Mesh &mesh,
                                  const std::vector<int32_t> &axes,
                                  const std::vector<int32_t> &stages,
                                  int device);

  /// Every communicator of a local device, once.
  const std::vector<Communicator *> &all() const { return handles; }
  /// One handle of each group.
  const std::vector<Communicator *> &firstOfEach() const { return firsts; }

private:
  using Key = std::pair<std::vector<int32_t>, std::vector<int32_t>>;
  using ByDevice = std::vector<Communicator *>;

  Result<ByDevice> makeSet(const Mesh &mesh, World &world,
                           const std::vector<int32_t> &axes,
                           const std::vector<int32_t> &stages, int tags);

  std::map<Key, ByDevice> sets;
  ByDevice pipeline;
  std::vector<Communicator *> handles, firsts;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_GROUPS_H
