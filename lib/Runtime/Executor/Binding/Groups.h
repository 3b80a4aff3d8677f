//===- Groups.h - Communicators of mesh axes ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set of axes divides the devices into groups: those that agree in all other
// coordinates. Each set that a plan uses is one split, which makes the
// communicators of all its groups; so is each route
// (Runtime/Plan/Format/PlanRoutes.h), whose groups are the pairs of devices
// that it joins.
//
//   mesh <"pipe"=2, "tensor"=2>, axes {"tensor"}:  groups {0, 1} {2, 3}
//   route from stage 0 to stage 1:                 groups {0, 2} {1, 3}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_GROUPS_H
#define LLMC_LIB_RUNTIME_EXECUTOR_GROUPS_H

#include "llmc/Runtime/Comm/World.h"
#include "llmc/Runtime/Plan/Format/PlanRoutes.h"
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
  /// The device's end of the route of a transfer between its stage and that of
  /// the peer. Null when nobody sends it.
  Communicator *transfer(bool isSend, int32_t stage, int32_t peer,
                         int32_t transfer, int device);

  /// What the device took part in, by set of axes; zeros of others.
  std::vector<CommunicatorCounts> countsOf(int device) const;
  /// The same as rows by kind, axes, scalar or not, without transfers and bytes
  /// out, in the order of `plan::trafficOf`.
  std::vector<plan::Traffic>
  trafficOf(const Mesh &mesh,
            const std::vector<CommunicatorCounts> &counts) const;

  /// World numbers of the group that `device` is in, in member order.
  static std::vector<int> members(const Mesh &mesh,
                                  const std::vector<int32_t> &axes,
                                  const std::vector<int32_t> &stages,
                                  int device);

  /// What all groups moved, from what each process says of `firstOfEach`.
  static CommunicatorCounts
  sumOf(const std::vector<std::vector<CommunicatorCounts>> &all);

  /// Every communicator of a local device, once.
  const std::vector<Communicator *> &all() const { return handles; }
  /// The handle of the first member of each group, where it is local.
  const std::vector<Communicator *> &firstOfEach() const { return firsts; }

private:
  using Key = std::pair<std::vector<int32_t>, std::vector<int32_t>>;
  using ByDevice = std::vector<Communicator *>;

  /// Handles of one split by world number.
  Result<ByDevice> split(World &world,
                         const std::vector<std::vector<int>> &groups);
  Status makeRoutes(const plan::Plan &plan, World &world);

  std::map<Key, ByDevice> sets;
  plan::Routes routes;
  std::map<plan::Route, ByDevice> pairs;
  std::vector<Communicator *> handles, firsts;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_GROUPS_H
