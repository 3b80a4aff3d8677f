//===- InFlight.cpp - Microbatches between forward and backward -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/WalkthroughTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace llmc::rt::exec {

InFlight::InFlight(const plan::Plan &plan, const plan::Entry &entry)
    : begins(entry.table.size()), ends(entry.table.size()),
      live(static_cast<size_t>(plan.mesh.numStages())), highest(live) {
  std::map<std::tuple<size_t, int32_t, int32_t>, size_t> last;
  for (size_t at = 0; at < entry.table.size(); ++at) {
    const plan::Cell &cell = entry.table[at];
    if (cell.program < 0) {
      continue;
    }
    auto [found, isNew] = last.insert(
        {{at % live.size(), plan.programs[cell.program].chunk, cell.microbatch},
         at});
    begins[at] = isNew;
    found->second = at;
  }
  for (const auto &[key, at] : last) {
    ends[at] = true;
  }
}

void InFlight::start() {
  std::fill(live.begin(), live.end(), 0);
  std::fill(highest.begin(), highest.end(), 0);
}

void InFlight::visit(size_t firstCell) {
  for (size_t stage = 0; stage < live.size(); ++stage) {
    live[stage] += begins[firstCell + stage];
    highest[stage] = std::max(highest[stage], live[stage]);
    live[stage] -= ends[firstCell + stage];
  }
}

} // namespace llmc::rt::exec
