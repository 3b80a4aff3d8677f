//===- Remedies.cpp - Ways to need less memory ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remedies.h"
#include "Compile.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;

std::string Trial::describe() const {
  if (!isPossible())
    return "not possible: " + refusal;
  PlanFacts facts;
  facts.time = time;
  facts.operations = operations;
  return showBytes(bytes) + ", " + showTime(facts) + ", " +
         rt::printBytes(static_cast<uint64_t>(bytesReceived)) +
         " communicated a step";
}

//===----------------------------------------------------------------------===//
// What there is to ask for
//===----------------------------------------------------------------------===//

/// The axes over which the configuration splits an input, or all that may.
static std::vector<std::string> findBatchAxes(const rt::Config &config,
                                              const Options &options) {
  auto isSplit = [&](StringRef axis) {
    return llvm::any_of(options.mesh, [&](const auto &given) {
      return given.first == axis && given.second > 1;
    });
  };
  std::vector<std::string> axes;
  auto add = [&](const std::string &axis) {
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
  };
  for (const rt::LayoutConfig &layout : config.layout)
    if (layout.dims)
      for (const std::vector<std::string> &list : *layout.dims)
        for (const std::string &axis : list)
          if (isSplit(axis))
            add(axis);
  if (axes.empty())
    for (auto &[axis, size] : options.mesh)
      if (size > 1 && axis != config.mesh.pipeline)
        add(axis);
  return axes;
}

/// The axis as the minor one of dim 0, unless a dim has it.
static rt::AxisLists withAxis(rt::AxisLists lists, const std::string &axis) {
  for (const std::vector<std::string> &list : lists)
    if (llvm::is_contained(list, axis))
      return lists;
  if (lists.empty())
    lists.emplace_back();
  std::vector<std::string> &first = lists.front();
  bool isOpen = !first.empty() && first.back() == "?";
  first.insert(first.end() - (isOpen ? 1 : 0), axis);
  return lists;
}

static std::string show(const rt::AxisLists &lists) {
  return "[" +
         llvm::join(llvm::map_range(lists,
                                    [](const std::vector<std::string> &list) {
                                      std::vector<std::string> quoted;
                                      for (const std::string &axis : list)
                                        quoted.push_back("\"" + axis + "\"");
                                      return "[" + llvm::join(quoted, ", ") +
                                             "]";
                                    }),
                    ", ") +
         "]";
}

/// Optimizer states over the axis (ZeRO-1).
static void splitOptimizer(rt::Config &config, const std::string &axis) {
  for (rt::LayoutConfig &layout : config.layout)
    if (!layout.match.empty() && (layout.rest || layout.optimizer))
      layout.optimizer =
          withAxis(layout.optimizer ? *layout.optimizer : *layout.rest, axis);
  rt::LayoutConfig all;
  all.match = "*";
  all.optimizer = {{axis}};
  config.layout.push_back(all);
}

/// Parameters, gradients and optimizer states over the axis (ZeRO-3).
static void splitAll(rt::Config &config, const std::string &axis) {
  for (rt::LayoutConfig &layout : config.layout) {
    if (layout.match.empty())
      continue;
    if (layout.rest && !layout.use)
      layout.use = layout.rest;
    for (auto kind : {&rt::LayoutConfig::rest, &rt::LayoutConfig::gradient,
                      &rt::LayoutConfig::optimizer})
      if (layout.*kind)
        layout.*kind = withAxis(*(layout.*kind), axis);
    if (layout.rest && !layout.gradient)
      layout.gradient = layout.rest;
  }
  rt::LayoutConfig all;
  all.match = "*";
  all.rest = all.gradient = {{axis}};
  all.use = rt::AxisLists();
  config.layout.push_back(all);
}

static std::string showKeys(const rt::LayoutConfig &table) {
  std::string keys = "match = \"" + table.match + "\"";
  for (auto [name, kind] :
       {std::pair("rest", &rt::LayoutConfig::rest),
        std::pair("use", &rt::LayoutConfig::use),
        std::pair("gradient", &rt::LayoutConfig::gradient),
        std::pair("optimizer", &rt::LayoutConfig::optimizer)})
    if (table.*kind)
      keys += std::string(", ") + name + " = " + show(*(table.*kind));
  return keys;
}

/// The tables that change, as one line.
static std::string showTables(const rt::Config &before,
                              void (*change)(rt::Config &, const std::string &),
                              const std::string &axis) {
  constexpr size_t shown = 2;
  rt::Config after = before;
  change(after, axis);
  std::vector<std::string> changed;
  for (size_t i = 0; i < before.layout.size(); ++i)
    if (showKeys(before.layout[i]) != showKeys(after.layout[i]))
      changed.push_back("[[layout]] " + showKeys(after.layout[i]));
  std::string text = "at the end [[layout]] " + showKeys(after.layout.back());
  if (changed.size() > shown)
    return text + ", and \"" + axis + "\" in the first list of the " +
           std::to_string(changed.size()) + " tables of states, as in " +
           changed.front();
  for (const std::string &table : changed)
    text += ", changed " + table;
  return text;
}

/// Whether a step may keep parameters in a narrow type beside those in f32.
static bool keepsConverted(const rt::TrainingConfig &training) {
  return training.microbatches > 1 && !training.reconvert &&
         (training.precision == "bf16" || training.precision == "f16" ||
          training.precision == "fp8");
}

/// All ways together: the least that they can do.
static Remedy makeLast(const std::vector<std::string> &axes, bool isStep) {
  return {"recomputation, split states and all else of the above",
          [axes, isStep](rt::Config &changed) {
            changed.training.recompute = "all";
            changed.training.reconvert = true;
            for (const std::string &axis : axes)
              splitAll(changed, axis);
            if (isStep)
              changed.training.microbatches *= 4;
            changed.pipeline.schedule = "1f1b";
            changed.pipeline.chunks = 1;
          }};
}

std::vector<Remedy> driver::listRemedies(const rt::Config &config,
                                         const Options &options, bool isStep) {
  std::vector<Remedy> all;
  if (config.training.recompute != "all")
    for (const char *kind : {"all", "2"})
      if (config.training.recompute != kind)
        all.push_back({std::string("--set training.recompute=") + kind,
                       [kind](rt::Config &changed) {
                         changed.training.recompute = kind;
                       }});
  if (!isStep && !config.training.regather &&
      config.training.recompute != "all")
    all.push_back({"--set training.regather=true", [](rt::Config &changed) {
                     changed.training.regather = true;
                   }});
  if (keepsConverted(config.training))
    all.push_back({"--set training.reconvert=true", [](rt::Config &changed) {
                     changed.training.reconvert = true;
                   }});
  for (const std::string &axis : findBatchAxes(config, options))
    for (auto *change : {splitOptimizer, splitAll})
      all.push_back(
          {showTables(config, change, axis),
           [change, axis](rt::Config &changed) { change(changed, axis); }});
  if (isStep)
    for (int64_t times : {2, 4}) {
      int64_t number = config.training.microbatches * times;
      all.push_back({"--set training.microbatches=" + std::to_string(number),
                     [number](rt::Config &changed) {
                       changed.training.microbatches = number;
                     },
                     /*cutsBatch=*/true});
    }
  if (config.pipeline.schedule != "1f1b" && !config.mesh.pipeline.empty())
    all.push_back({"--set pipeline.schedule=1f1b --set pipeline.chunks=1",
                   [](rt::Config &changed) {
                     changed.pipeline.schedule = "1f1b";
                     changed.pipeline.chunks = 1;
                   }});
  if (all.size() > 1)
    all.push_back(makeLast(findBatchAxes(config, options), isStep));
  return all;
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

static rt::Status tryOne(Trial &trial, const Options &options,
                         const rt::Config &config) {
  std::unique_ptr<MLIRContext> context = makeContext();
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> module,
      compileToPhase(*context, options, config, getPhases().size() - 1));
  LLMC_TRY_ASSIGN(PlanFacts facts, readFacts(*module, options));
  trial.bytes = facts.getMostBytes();
  trial.time = facts.time;
  trial.operations = facts.operations;
  if (const rt::plan::Entry *entry = facts.findEntry(options.entry))
    for (int64_t stage = 0; stage < facts.plan.mesh.numStages(); ++stage) {
      int64_t bytes = 0;
      for (const rt::plan::Traffic &row :
           rt::plan::trafficOf(facts.plan, *entry, stage))
        bytes += static_cast<int64_t>(std::max(row.bytesIn, row.bytesOut));
      trial.bytesReceived = std::max(trial.bytesReceived, bytes);
    }
  return rt::Status::success();
}

std::vector<Trial> driver::tryRemedies(const std::vector<Remedy> &remedies,
                                       const Options &options,
                                       const rt::Config &config,
                                       double seconds) {
  auto start = std::chrono::steady_clock::now();
  Options quiet = options;
  quiet.timing = false;
  quiet.forms.clear();
  std::vector<Trial> trials;
  for (const Remedy &remedy : remedies) {
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start;
    if (passed.count() > seconds)
      break;
    Trial trial;
    trial.remedy = &remedy;
    rt::Config changed = config;
    remedy.apply(changed);
    if (rt::Status status = tryOne(trial, quiet, changed); !status)
      trial.refusal = status.message();
    trials.push_back(trial);
  }
  return trials;
}
