//===- Collective.cpp - What members bring to a collective ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Comm/ConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Communicator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace llmc::rt {

std::string signature(const Collective &collective) {
  std::string text = fmt::format("{} '{}' {}", nameOf(collective.kind),
                                 collective.symbol, nameOf(collective.type));
  for (const CollectiveBuffer &buffer : collective.buffers) {
    text += fmt::format(" [{}, {}; {}]", buffer.outer, buffer.count,
                        buffer.outerOut);
  }
  const CollectiveTraits &traits = traitsOf(collective.kind);
  if (traits.reduces) {
    text += fmt::format(" {} in {}", nameOf(collective.reduction),
                        nameOf(collective.accumulate));
  }
  if (traits.takesCounts) {
    text += fmt::format(" {} to {} rows of {} in {} slices", collective.rows.in,
                        collective.rows.out, collective.rows.elements,
                        collective.rows.slices);
  }
  if (traits.peer == CollectivePeer::root) {
    text +=
        fmt::format(" {} {}", traits.reduces ? "to" : "from", collective.root);
  }
  if (traits.peer == CollectivePeer::source) {
    text += fmt::format(" from [{}]", fmt::join(collective.sources, ", "));
  }
  return text;
}

} // namespace llmc::rt
