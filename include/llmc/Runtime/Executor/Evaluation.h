//===- Evaluation.h - Steps on data that training leaves out ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every so many steps of training, an entry runs on what its sources hold out,
// always on the same samples, and says the means of its metrics:
//
//   evaluate: step: 200  loss: 4.0213  batches: 10
//
// In the log the same is a line {"entry": "evaluate", "step": 200, ...}. The
// step is how many have been trained. Training goes on as if nothing had been.
//
// Tested by test/Runtime/Executor/EvaluationTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_EVALUATION_H
#define LLMC_RUNTIME_EXECUTOR_EVALUATION_H

#include "llmc/Runtime/Executor/Session.h"

#include <string>

namespace llmc::rt {

struct EvaluationOptions {
  std::string entry = "evaluate";
  /// Steps of training; 0: never.
  int64_t every = 0;
  /// Of the entry; 0: as many as the data has whole batches.
  int64_t steps = 0;
};

/// What an evaluation gave.
struct Evaluated {
  std::string entry;
  /// How many have been trained.
  int64_t step = 0;
  /// Means over batches.
  std::vector<NamedValue> metrics;
  int64_t batches = 0;
  double seconds = 0;
  /// What is printed of it.
  std::string line;
};

class Evaluation {
public:
  explicit Evaluation(EvaluationOptions options)
      : options(std::move(options)) {}

  /// Whether the entry is to run after `done` steps, before the next one.
  bool holds(int64_t done) const {
    return options.every > 0 && done > last && done % options.every == 0;
  }
  /// The run begins after `done` steps. Errors: `Session::checkEvaluation`.
  Status begin(Session &session, int64_t done);
  /// Runs the entry. Errors: `Session::evaluate`.
  Result<Evaluated> run(Session &session, int64_t done);

private:
  EvaluationOptions options;
  int64_t last = 0; ///< Steps after which it ran, or the run began.
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_EVALUATION_H
