//===- Evaluation.cpp - Steps on data that training leaves out ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/EvaluationTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Evaluation.h"

#include "llmc/Runtime/Base/Names.h"

#include <fmt/format.h>

#include <chrono>

namespace llmc::rt {

Status Evaluation::begin(Session &session, int64_t done) {
  last = done;
  return options.every > 0 ? session.checkEvaluation(options.entry)
                           : Status::success();
}

Result<Evaluated> Evaluation::run(Session &session, int64_t done) {
  auto begin = std::chrono::steady_clock::now();
  LLMC_TRY_ASSIGN(auto means, session.evaluate(options.entry, options.steps));
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  last = done;
  std::string line = fmt::format("{}: step: {}", options.entry, done);
  // The loss comes first, as in the line of a step.
  for (bool isLoss : {true, false}) {
    for (const NamedValue &mean : means.first) {
      if ((mean.name == "loss") == isLoss) {
        line += isLoss ? fmt::format("  loss: {:.4f}", mean.value)
                       : fmt::format("  {}: {:.4g}", unescapeName(mean.name),
                                     mean.value);
      }
    }
  }
  line += fmt::format("  batches: {}\n", means.second);
  return Evaluated{options.entry,   done, means.first, means.second,
                   seconds.count(), line};
}

} // namespace llmc::rt
