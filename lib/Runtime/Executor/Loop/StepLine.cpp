//===- StepLine.cpp - A line for each step --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepLine.h"

#include "RunReport.h"
#include "llmc/Runtime/Base/Names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace llmc::rt::exec {

void StepTimes::add(const StepTime &time) {
  if (times.size() < kept) {
    times.push_back(time);
  } else {
    times[next] = time;
  }
  next = (next + 1) % kept;
  if (!isWarm && times.size() == 2 * left) {
    times.erase(times.begin(), times.begin() + left);
    next = times.size();
    isWarm = true;
  }
}

static double medianOf(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

StepTime StepTimes::typical(size_t most) const {
  std::vector<double> seconds, exposed;
  for (size_t i = 0; i < std::min(most, times.size()); ++i) {
    const StepTime &time = times[(next + times.size() - 1 - i) % times.size()];
    seconds.push_back(time.seconds);
    if (time.exposed) {
      exposed.push_back(*time.exposed);
    }
  }
  auto typicalOf = [this](const std::vector<double> &values) {
    return isWarm ? medianOf(values)
                  : std::accumulate(values.begin(), values.end(), 0.0) /
                        static_cast<double>(values.size());
  };
  StepTime result{typicalOf(seconds), std::nullopt};
  if (!exposed.empty()) {
    result.exposed = typicalOf(exposed);
  }
  return result;
}

StepWork StepWork::of(const plan::Plan &plan, const plan::Entry &entry) {
  return {stepSize(plan, entry), entry.modelFlops,
          plan.machine.flops * static_cast<double>(plan.mesh.numDevices())};
}

std::optional<double> StepWork::utilisation(const StepTime &time) const {
  if (flops <= 0 || peak <= 0) {
    return std::nullopt;
  }
  return flops / (time.seconds * peak);
}

std::optional<double> exposedShare(const StepTime &time) {
  if (!time.exposed) {
    return std::nullopt;
  }
  return std::min(*time.exposed / time.seconds, 1.0);
}

std::string printDuration(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                     whole % 60);
}

std::string printMetric(const NamedValue &metric) {
  if (metric.name == "lr") {
    return fmt::format("{:.1e}", metric.value);
  }
  return metric.name == "loss" ? fmt::format("{:.4f}", metric.value)
                               : fmt::format("{:.4g}", metric.value);
}

std::string printStepLine(const Session &session, const StepWork &work,
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
  if (facts.epochs) {
    line += fmt::format("  epoch: {:.4g}", *facts.epochs);
  }
  line += fmt::format("  memory: {}", memoryText(session));
  if (work.size.count > 0) {
    line +=
        fmt::format("  {}: {}", work.size.isTokens ? "tps" : "sps",
                    printCount(static_cast<uint64_t>(work.rate(facts.late))));
  }
  if (auto mfu = work.utilisation(facts.late)) {
    line += fmt::format("  mfu: {:.1f}%", 100 * *mfu);
  }
  if (auto share = exposedShare(facts.late)) {
    line += fmt::format("  comm: {:.1f}%", 100 * *share);
  }
  line += fmt::format("  data: {:.1f}%  eta: {}\n",
                      100 * facts.dataSeconds / facts.time.seconds,
                      printDuration(facts.eta));
  return line;
}

} // namespace llmc::rt::exec
