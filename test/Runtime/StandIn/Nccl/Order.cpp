//===- Order.cpp - Whether devices call in one order ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Order.h"
#include "Core/Report.h"

#include <algorithm>
#include <map>
#include <set>
#include <unistd.h>

using namespace llmc::standin;

Turn llmc::standin::takeTurn(int device, uint64_t group,
                             const void *communicator) {
  struct Last {
    uint64_t place = 0, group = 0;
    std::set<const void *> communicators;
  };
  static auto *devices = new std::map<int, Last>;
  Last &last = (*devices)[device];
  // A communicator that comes a second time belongs to another launch.
  if (last.group != group || last.communicators.count(communicator)) {
    ++last.place;
    last.group = group;
    last.communicators.clear();
  }
  last.communicators.insert(communicator);
  return {uint64_t(getpid()) << 16 | uint64_t(device), last.place};
}

void llmc::standin::meetInOrder(const Turn &own, const Turn &other,
                                const std::string &what) {
  static const bool wanted = environmentNumber("LLMC_STANDIN_NCCL_ORDER", 0);
  if (!wanted || own.device == other.device)
    return;
  /// Places of the other device, the first and the last, by the own place.
  using Places = std::map<uint64_t, std::pair<uint64_t, uint64_t>>;
  static auto *met = new std::map<std::pair<uint64_t, uint64_t>, Places>;
  Places &places = (*met)[{own.device, other.device}];
  auto here =
      places.emplace(own.place, std::make_pair(other.place, other.place)).first;
  here->second.first = std::min(here->second.first, other.place);
  here->second.second = std::max(here->second.second, other.place);
  auto next = std::next(here);
  bool early = here != places.begin() &&
               std::prev(here)->second.second > here->second.first;
  bool late = next != places.end() && next->second.first < here->second.second;
  if (early || late)
    violation("nccl: devices %llu and %llu call %s, and another operation that "
              "both take part in, in different orders",
              static_cast<unsigned long long>(own.device & 0xffff),
              static_cast<unsigned long long>(other.device & 0xffff),
              what.c_str());
  if (places.size() > 4096)
    places.erase(places.begin());
}
