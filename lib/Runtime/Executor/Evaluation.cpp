//===- Evaluation.cpp - Steps on data that training leaves out ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/EvaluationTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Evaluation.h"

#include "llmc/Runtime/Base/Json.h"
#include "llmc/Runtime/Base/Names.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace llmc::rt {

static std::string exactNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.17g}", value) : "null";
}

Status Evaluation::begin(Session &session, int64_t done) {
  last = done;
  return options.every > 0 ? session.checkEvaluation(options.entry)
                           : Status::success();
}

Result<std::pair<std::string, std::string>> Evaluation::run(Session &session,
                                                            int64_t done) {
  auto begin = std::chrono::steady_clock::now();
  LLMC_TRY_ASSIGN(auto means, session.evaluate(options.entry, options.steps));
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  last = done;
  std::string line = fmt::format("evaluate: step: {}", done), users;
  std::string log = fmt::format("{{\"entry\": {}, \"step\": {}",
                                quoteAsJson(options.entry), done);
  // The loss comes first, as in the line of a step.
  for (bool isLoss : {true, false}) {
    for (const NamedValue &mean : means.first) {
      if ((mean.name == "loss") != isLoss) {
        continue;
      }
      std::string name = unescapeName(mean.name);
      line += isLoss ? fmt::format("  loss: {:.4f}", mean.value)
                     : fmt::format("  {}: {:.4g}", name, mean.value);
      bool isUsers = !isOurs(mean.name);
      (isUsers ? users : log) +=
          fmt::format("{}{}: {}", isUsers && users.empty() ? "" : ", ",
                      quoteAsJson(name), exactNumber(mean.value));
    }
  }
  if (!users.empty()) {
    log += fmt::format(", \"metrics\": {{{}}}", users);
  }
  line += fmt::format("  batches: {}\n", means.second);
  log += fmt::format(", \"batches\": {}, \"seconds\": {}}}\n", means.second,
                     exactNumber(seconds.count()));
  return std::make_pair(line, log);
}

} // namespace llmc::rt
