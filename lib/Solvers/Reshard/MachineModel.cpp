//===- MachineModel.cpp - What links and devices can do -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reshard/MachineModel.h"

#include <algorithm>

namespace llmc {

MachineModel MachineModel::uniform(size_t numAxes) {
  MachineModel model;
  model.links.push_back({"link", 0, 1});
  model.axisLinks.assign(numAxes, 0);
  return model;
}

double MachineModel::rateOf(std::string_view type) const {
  auto rate = rates.find(std::string(type));
  return rate == rates.end() ? flops : rate->second;
}

std::string MachineModel::check(size_t numAxes) const {
  if (axisLinks.size() != numAxes)
    return "expected a link class for each of " + std::to_string(numAxes) +
           " mesh axes, got " + std::to_string(axisLinks.size());
  for (const Link &link : links) {
    if (!(link.bandwidth > 0) || !(link.bandwidth < 1e300))
      return "expected a positive bandwidth of link class '" + link.name +
             "', got " + std::to_string(link.bandwidth);
    if (!(link.latency >= 0))
      return "expected a latency of at least 0 of link class '" + link.name +
             "', got " + std::to_string(link.latency);
  }
  for (int32_t link : axisLinks)
    if (link < 0 || size_t(link) >= links.size())
      return "expected an index below " + std::to_string(links.size()) +
             " as link class of an axis, got " + std::to_string(link);
  return "";
}

static double fastestOf(const MachineModel &machine) {
  double fastest = 0;
  for (const MachineModel::Link &link : machine.links)
    fastest = std::max(fastest, link.bandwidth);
  return fastest;
}

std::vector<double> MachineModel::slowness() const {
  std::vector<double> result;
  for (int32_t link : axisLinks)
    result.push_back(fastestOf(*this) / links[link].bandwidth);
  return result;
}

std::vector<double> MachineModel::latencyBytes() const {
  std::vector<double> result;
  for (int32_t link : axisLinks)
    result.push_back(fastestOf(*this) * links[link].latency);
  return result;
}

const MachineModel::Link &
MachineModel::linkOf(const std::vector<int32_t> &axes) const {
  const Link *slowest = &links[axisLinks[axes.front()]];
  for (int32_t axis : axes)
    if (links[axisLinks[axis]].bandwidth < slowest->bandwidth)
      slowest = &links[axisLinks[axis]];
  return *slowest;
}

int64_t MachineModel::bucketBytes(const std::vector<int32_t> &axes,
                                  int64_t members) const {
  // Beyond that sums of bytes overflow.
  constexpr double most = 1e18;
  if (bucket >= 0)
    return static_cast<int64_t>(std::min(bucket, most));
  const Link &link = linkOf(axes);
  return static_cast<int64_t>(
      std::min(4.0 * double(members) * link.latency * link.bandwidth, most));
}

} // namespace llmc
