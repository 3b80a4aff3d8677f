//===- StepLine.cpp - A line for each step --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepLine.h"

#include "RunReport.h"
#include "llmc/Runtime/Base/Names.h"

#include <fmt/format.h>

namespace llmc::rt::exec {

std::string printDuration(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                     whole % 60);
}

/// Digits that the eye wants of a metric: rates by exponent, others plain.
static std::string printMetric(const NamedValue &metric) {
  if (metric.name == "lr") {
    return fmt::format("{:.1e}", metric.value);
  }
  return metric.name == "loss" ? fmt::format("{:.4f}", metric.value)
                               : fmt::format("{:.4g}", metric.value);
}

std::string printStepLine(const Session &session, const StepSize &size,
                          const StepFacts &facts) {
  std::string line = fmt::format("step: {}", facts.step);
  // The loss comes first, as readers of such lines expect.
  for (bool isLoss : {true, false}) {
    for (const NamedValue &metric : session.metrics()) {
      if ((metric.name == "loss") == isLoss) {
        line += fmt::format("  {}: {}", unescapeName(metric.name),
                            printMetric(metric));
      }
    }
  }
  line += fmt::format("  memory: {}", memoryText(session));
  if (size.count > 0) {
    line += fmt::format("  {}: {}", size.isTokens ? "tps" : "sps",
                        printCount(static_cast<uint64_t>(facts.rate)));
  }
  line += fmt::format("  data: {:.1f}%  eta: {}\n",
                      100 * facts.dataSeconds / facts.seconds,
                      printDuration(facts.eta));
  return line;
}

} // namespace llmc::rt::exec
