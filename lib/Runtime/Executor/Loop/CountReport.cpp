//===- CountReport.cpp - What a run counted, beside what its plan says ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/EndToEnd/counts.test.
//
//===----------------------------------------------------------------------===//

#include "CountReport.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt {

static bool isMessage(const plan::Traffic &row) {
  return row.kind == "send" || row.kind == "receive";
}

static std::string describe(const plan::Traffic &row) {
  return fmt::format("{} {}{} over {}, {} B", row.count,
                     row.isScalar ? "scalar " : "", row.kind, row.axes,
                     row.bytesIn);
}

/// How often a row that is open in the plan moves, the run decides.
static bool isOpen(const std::vector<plan::Traffic> &planned,
                   const plan::Traffic &row) {
  return std::any_of(
      planned.begin(), planned.end(), [&](const plan::Traffic &each) {
        return each.isOpen && each.kind == row.kind && each.axes == row.axes &&
               each.isScalar == row.isScalar;
      });
}

/// How much moves where members have counts, the run decides; the plan has the
/// bound.
static bool isCounted(const plan::Traffic &row) {
  std::optional<CollectiveKind> kind = collectiveNamed(row.kind);
  return kind && traitsOf(*kind).takesCounts;
}

/// The row as it is compared.
static std::string compared(plan::Traffic row) {
  if (isCounted(row)) {
    row.bytesIn = 0;
  }
  return describe(row) + "; ";
}

/// What went between devices where the run says how much.
static void reportCounted(const CommunicatorCounts &all, std::FILE *out) {
  for (const CollectiveTraits &traits : collectiveTraits) {
    auto kind = static_cast<size_t>(traits.kind);
    if (traits.takesCounts && all.collectives[kind] > 0) {
      fmt::print(out, "counted on all devices: {} {}, {} B between devices\n",
                 all.collectives[kind], traits.name, all.bytes[kind]);
    }
  }
}

static Status checkStage(const std::vector<plan::Traffic> &counted,
                         const std::vector<plan::Traffic> &planned,
                         int64_t stage, int64_t steps) {
  std::string left, right;
  for (const plan::Traffic &row : counted) {
    left += isOpen(planned, row) ? "" : compared(row);
  }
  for (plan::Traffic row : planned) {
    row.count *= steps;
    row.bytesIn *= static_cast<uint64_t>(steps);
    right += isMessage(row) || row.isOpen ? "" : compared(row);
  }
  if (left == right) {
    return Status::success();
  }
  return makeError(ErrorKind::internal,
                   fmt::format("expected the traffic of the plan on stage {} "
                               "({}), got {}",
                               stage, right, left));
}

Status reportCounts(const Session &session, const plan::Entry &entry,
                    int64_t steps, std::FILE *out) {
  const plan::Plan &plan = session.plan();
  uint64_t sent = 0, groups = 0;
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    LLMC_TRY_ASSIGN(std::vector<plan::Traffic> counted, session.traffic(stage));
    for (const plan::Traffic &row : counted) {
      fmt::print(out, "counted on stage {}: {}\n", stage, describe(row));
    }
    std::vector<plan::Traffic> planned = plan::trafficOf(plan, entry, stage);
    for (const plan::Traffic &row : planned) {
      sent += row.kind == "send" ? row.bytesIn : 0;
    }
    LLMC_TRY(checkStage(counted, planned, stage, steps));
  }
  groups =
      static_cast<uint64_t>(plan.mesh.numDevices() / plan.mesh.numStages());
  LLMC_TRY_ASSIGN(CommunicatorCounts all, session.communication());
  uint64_t expected = sent * groups * static_cast<uint64_t>(steps);
  fmt::print(out, "counted on all devices: {} transfers, {} B\n", all.transfers,
             all.transferBytes);
  reportCounted(all, out);
  fmt::print(out, "counted in flight on each stage: {}\n",
             fmt::join(session.inFlight(), ", "));
  if (all.transferBytes != expected) {
    return makeError(ErrorKind::internal,
                     fmt::format("expected {} B of transfers as in the plan, "
                                 "got {}",
                                 expected, all.transferBytes));
  }
  return Status::success();
}

} // namespace llmc::rt
