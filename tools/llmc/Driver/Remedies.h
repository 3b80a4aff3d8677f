//===- Remedies.h - Ways to need less memory --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user may ask for when a plan does not fit: to compute activations
// again, to split states over the axes of the batch, to cut the batch of a step
// finer, another order of a pipeline. Each is a change of the configuration,
// and is tried by compiling with it. None changes what is computed, but for the
// order of sums.
//
// Test: test/EndToEnd/Families/memory.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_REMEDIES_H
#define LLMC_TOOLS_LLMC_REMEDIES_H

#include "../Options/Options.h"
#include "PlanFacts.h"
#include <functional>

namespace llmc::driver {

struct Remedy {
  /// The flag or the lines of the configuration that ask for it.
  std::string ask;
  std::function<void(rt::Config &)> apply;
  /// It has more and smaller microbatches.
  bool cutsBatch = false;
};

/// What a try showed: the facts, or why it is no way.
struct Trial {
  const Remedy *remedy = nullptr;
  std::string refusal;
  int64_t bytes = 0;
  std::optional<rt::plan::PlannedStep> time;
  double operations = 0;
  int64_t bytesReceived = 0;

  bool isPossible() const { return refusal.empty(); }
  std::string describe() const;
};

/// Those that change something of this configuration; the last is all of them
/// together where there are several. `isStep`: the text is a whole step, whose
/// batch is that of all its microbatches.
std::vector<Remedy> listRemedies(const rt::Config &config,
                                 const Options &options, bool isStep);

/// Compiles with each, in a context of its own, until `seconds` are over.
std::vector<Trial> tryRemedies(const std::vector<Remedy> &remedies,
                               const Options &options, const rt::Config &config,
                               double seconds);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_REMEDIES_H
