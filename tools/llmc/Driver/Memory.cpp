//===- Memory.cpp - Plans that do not fit ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "BufferNames.h"
#include "Compile.h"
#include "Remedies.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Plan/Print/PlanPeak.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::plan::Plan;

/// After so long no further way is tried.
static constexpr double kSecondsOfTrying = 60;
/// Lines of the report.
static constexpr size_t kMostValues = 10, kMostRemedies = 3;

//===----------------------------------------------------------------------===//
// What is in memory
//===----------------------------------------------------------------------===//

namespace {
struct PeakRow {
  std::string text;
  int64_t bytes = 0, times = 0;
  std::string place;
};
} // namespace

std::string driver::describePeak(const Plan &plan, int64_t stage,
                                 const std::string &model, size_t most) {
  rt::plan::Peak peak = rt::plan::peakOf(plan, stage);
  if (peak.program < 0)
    return "";
  Places places(model);
  BufferNames buffers(plan, places);
  std::vector<PeakRow> rows;
  std::map<std::pair<std::string, int64_t>, size_t> numbers;
  for (const rt::plan::LiveBuffer &live : peak.live) {
    auto kind =
        rt::plan::nameOf(plan.frames[plan.buffers[live.buffer].frame].kind);
    std::string name = rt::hideNumbers(buffers.nameOf(live.buffer)),
                place = buffers.placeOf(live.buffer);
    std::string what = std::string(kind) + (name.empty() ? "" : " " + name);
    // Values without a name are told apart by their places.
    auto [known, isNew] = numbers.insert(
        {{what + (name.empty() ? place : ""), live.bytes}, rows.size()});
    if (isNew)
      rows.push_back({what, live.bytes, 0, place});
    ++rows[known->second].times;
  }
  std::string text =
      llvm::formatv(
          "largest at the peak of stage {0}, in '{1}' ({2} B live):\n", stage,
          plan.programs[peak.program].name,
          rt::printCount(static_cast<uint64_t>(peak.bytes)))
          .str();
  for (const PeakRow &row : ArrayRef(rows).take_front(most))
    text += "  " + row.place + ": " + std::to_string(row.times) + " x " +
            rt::printCount(uint64_t(row.bytes)) + " B, " + row.text + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// What would need less
//===----------------------------------------------------------------------===//

/// What the run takes counts before what is communicated and what is stored.
static bool isCheaper(const Trial &one, const Trial &other) {
  auto cost = [](const Trial &trial) {
    return std::tuple(trial.time ? trial.time->seconds : 0, trial.operations,
                      trial.bytesReceived, trial.bytes, trial.remedy);
  };
  return cost(one) < cost(other);
}

/// The cheapest that fit; where these are few, those that come nearest.
static std::vector<Trial> chooseShown(std::vector<Trial> trials, int64_t needed,
                                      double limit) {
  llvm::erase_if(trials, [&](const Trial &trial) {
    return !trial.isPossible() || trial.bytes >= needed;
  });
  llvm::sort(trials, [&](const Trial &one, const Trial &other) {
    bool fits = double(one.bytes) <= limit,
         otherFits = double(other.bytes) <= limit;
    if (fits != otherFits)
      return fits;
    return fits ? isCheaper(one, other)
                : std::tie(one.bytes, one.remedy) <
                      std::tie(other.bytes, other.remedy);
  });
  if (trials.size() > kMostRemedies)
    trials.resize(kMostRemedies);
  return trials;
}

/// Whether the text is a whole step, which its import says.
static rt::Result<bool> isWholeStep(const Options &options,
                                    const rt::Config &config) {
  std::unique_ptr<MLIRContext> context = makeContext();
  LLMC_TRY_ASSIGN(OwningOpRef<ModuleOp> module,
                  compileToPhase(*context, options, config, 0));
  for (auto training : module->getOps<dist::TrainingOp>())
    return !training.getOptimizer();
  return false;
}

static std::string describeTrials(const std::vector<Trial> &trials,
                                  ArrayRef<Trial> shown, size_t numRemedies,
                                  double limit) {
  std::string text = "tried " + std::to_string(trials.size()) + " of " +
                     std::to_string(numRemedies) +
                     " ways that may need less, each compiled; the cheapest:\n";
  for (const Trial &trial : shown)
    text +=
        std::string(double(trial.bytes) <= limit ? "  fits   " : "  over   ") +
        trial.remedy->ask + ": " + trial.describe() + "\n";
  if (shown.empty())
    text += "  none needs less\n";
  std::string others;
  for (const Trial &trial : trials)
    if (llvm::none_of(shown, [&](const Trial &each) {
          return each.remedy == trial.remedy;
        }))
      others +=
          "  " + trial.remedy->ask + ": " +
          (trial.isPossible() ? showBytes(trial.bytes) : trial.describe()) +
          "\n";
  text += others.empty() ? "" : "also tried:\n" + others;
  // The batch of a microbatch is that of the text, but of a whole step.
  bool hasFiner = llvm::any_of(
      trials, [](const Trial &trial) { return trial.remedy->cutsBatch; });
  return text + (hasFiner || trials.empty()
                     ? ""
                     : "not tried: finer microbatches, since the model has the "
                       "batch of one; export it with fewer samples, and ask "
                       "for as many times training.microbatches\n");
}

/// The error, with the cheapest way that fits.
static rt::Status refuse(const std::vector<Trial> &trials,
                         ArrayRef<Trial> shown, const PlanFacts &facts,
                         double limit) {
  auto count = [](double bytes) {
    return rt::printCount(static_cast<uint64_t>(bytes)) + " B";
  };
  int64_t needed = facts.getMostBytes(), least = needed;
  for (const Trial &trial : trials)
    if (trial.isPossible())
      least = std::min(least, trial.bytes);
  std::string text = "expected a plan within 'machine.memory', " +
                     count(limit) + " on each device, got " +
                     count(double(needed)) + " on stage " +
                     std::to_string(facts.getFullestStage());
  if (least < needed)
    text += "; the least of " + std::to_string(trials.size()) +
            " ways that were tried is " + count(double(least));
  rt::Status status = rt::makeError(rt::ErrorKind::infeasible, text);
  bool fits = !shown.empty() && double(shown.front().bytes) <= limit;
  return fits ? status.withHint("the cheapest that fits: " +
                                shown.front().remedy->ask)
              : status;
}

static double getLimit(ModuleOp module, const rt::Config &config) {
  for (auto mesh : module.getOps<dist::MeshOp>())
    if (auto machine = mesh.getMachine(); machine && machine->getMemory())
      return machine->getMemory().getValueAsDouble();
  return config.machine.memory;
}

rt::Status driver::checkMemory(ModuleOp module, const Options &options,
                               const rt::Config &config) {
  double limit = getLimit(module, config);
  if (limit <= 0)
    return rt::Status::success();
  LLMC_TRY_ASSIGN(PlanFacts facts, readFacts(module, options));
  int64_t stage = facts.getFullestStage(), needed = facts.getMostBytes();
  if (double(needed) <= limit)
    return rt::Status::success();
  llvm::errs() << "memory of stage " << stage << " on each device:\n"
               << describeKinds(facts.plan, stage)
               << describePeak(facts.plan, stage, options.input, kMostValues);
  std::vector<Remedy> remedies;
  // A text of a later phase has its recipe no more.
  if (options.compileFrom.empty()) {
    LLMC_TRY_ASSIGN(bool isStep, isWholeStep(options, config));
    remedies = listRemedies(config, options, isStep);
  }
  std::vector<Trial> trials =
      tryRemedies(remedies, options, config, kSecondsOfTrying);
  std::vector<Trial> shown = chooseShown(trials, needed, limit);
  llvm::errs() << describeTrials(trials, shown, remedies.size(), limit);
  return refuse(trials, shown, facts, limit);
}
