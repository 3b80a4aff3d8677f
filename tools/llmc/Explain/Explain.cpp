//===- Explain.cpp - What was decided, where and why ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "../Driver/Compile.h"
#include "../Driver/Memory.h"
#include "../Driver/Strict.h"
#include "../Summary.h"
#include "ExplainMoves.h"
#include "ExplainValue.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;

/// Lines of the largest rows that a section has without `--all`.
static constexpr size_t kMostLines = 8;

namespace {
/// Remarks of one kind under one heading.
struct Section {
  StringRef category, name, title;
};

class Explanation {
public:
  Explanation(ModuleOp module, const PlanFacts &facts, const Remarks &remarks,
              const Options &options, const rt::Config &config)
      : module(module), facts(facts), remarks(remarks), options(options),
        config(config), places(options.input) {}

  std::string write();

private:
  void writeMemory();
  void writeTimes();
  void writeMoves(const rt::plan::Entry &entry);
  void writeRemarks(const Section &section);
  void writeKernels();
  void writeLines(StringRef title, std::vector<ExplainedLine> lines);

  ModuleOp module;
  const PlanFacts &facts;
  const Remarks &remarks;
  const Options &options;
  const rt::Config &config;
  Places places;
  std::string text;
};
} // namespace

void Explanation::writeLines(StringRef title,
                             std::vector<ExplainedLine> lines) {
  if (lines.empty())
    return;
  llvm::sort(lines, [](const ExplainedLine &one, const ExplainedLine &other) {
    return std::tie(other.weight, one.text) < std::tie(one.weight, other.text);
  });
  size_t shown =
      options.all ? lines.size() : std::min(lines.size(), kMostLines);
  text += title.str() + ":\n";
  for (size_t i = 0; i < shown; ++i)
    text += "  " + lines[i].text + "\n";
  if (shown < lines.size())
    text += "  and " + std::to_string(lines.size() - shown) +
            " smaller ones (--all)\n";
}

void Explanation::writeMemory() {
  const rt::plan::Plan &plan = facts.plan;
  text += "memory of each device:\n";
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    rt::plan::MemoryReport report = rt::plan::memoryOf(plan, stage);
    text += "  stage " + std::to_string(stage) + ": " +
            rt::printCount(uint64_t(report.total)) + " B";
    for (int kind = 0; kind < rt::plan::numFrameKinds; ++kind)
      if (report.bytes[kind] > 0)
        text += ", " +
                std::string(
                    rt::plan::nameOf(static_cast<rt::plan::FrameKind>(kind))) +
                " " + rt::printCount(uint64_t(report.bytes[kind]));
    text += "\n";
  }
  if (config.machine.memory > 0)
    text += llvm::formatv("  {0:f1} % of 'machine.memory'\n",
                          100 * double(facts.getMostBytes()) /
                              config.machine.memory)
                .str();
  constexpr size_t few = 6;
  text += describePeak(plan, facts.getFullestStage(), options.input,
                       options.all ? SIZE_MAX : few);
}

void Explanation::writeTimes() {
  constexpr double milli = 1e3;
  if (facts.time)
    text +=
        llvm::formatv("time by the machine: {0:f3} ms a step, {1:f3} ms of "
                      "it exposed communication\n",
                      milli * facts.time->seconds, milli * facts.time->exposed)
            .str();
  else if (config.machine.links.empty() || config.machine.flops == 0)
    text += "times are unknown: [machine] gives no links or no flops\n";
  text += llvm::formatv("{0:e3} operations of products a step on a device\n",
                        facts.operations)
              .str();
}

void Explanation::writeMoves(const rt::plan::Entry &entry) {
  writeLines("communication of a step, by place",
             explainMoves(module, facts, entry, remarks, places));
}

/// The first number of bytes in a remark's text; by it rows are sorted.
static double findBytes(StringRef text) {
  for (size_t at = text.find(" B"); at != StringRef::npos;
       at = text.find(" B", at + 1)) {
    size_t begin = text.find_last_not_of("0123456789", at - 1) + 1;
    double bytes = 0;
    if (at > 0 && begin < at &&
        !text.substr(begin, at - begin).getAsDouble(bytes))
      return bytes;
  }
  return 0;
}

/// Without the " (4 times)" of equal facts in one place.
static std::pair<StringRef, int64_t> splitTimes(StringRef text) {
  auto [head, tail] = text.rsplit(" (");
  int64_t times = 0;
  if (tail.consume_back(" times)") && !tail.getAsInteger(10, times))
    return {head, times};
  return {text, 1};
}

void Explanation::writeRemarks(const Section &section) {
  struct Row {
    std::string text;
    int64_t times = 0;
    std::vector<std::string> places;
  };
  std::vector<Row> rows;
  std::map<std::string, size_t> numbers;
  for (const Remark &remark : remarks.list()) {
    if (remark.category != section.category || remark.name != section.name)
      continue;
    auto [words, times] = splitTimes(remark.text);
    std::string shown = rt::hideNumbers(words.str());
    auto [known, isNew] = numbers.insert({shown, rows.size()});
    if (isNew)
      rows.push_back({shown, 0, {}});
    Row &row = rows[known->second];
    row.times += times;
    std::string place = places.resolve(remark.place);
    if (!llvm::is_contained(row.places, place))
      row.places.push_back(place);
  }
  std::vector<ExplainedLine> lines;
  for (const Row &row : rows)
    lines.push_back(
        {findBytes(row.text) * double(row.times),
         showFirst(row.places) + ": " +
             (row.times > 1 ? std::to_string(row.times) + " x " : "") +
             row.text});
  writeLines(section.title, std::move(lines));
}

void Explanation::writeKernels() {
  int64_t copies = 0;
  for (const Remark &remark : remarks.list())
    copies += remark.category == "kernels" && remark.name == "copy";
  text += "kernels: " + std::to_string(facts.plan.kernels.size()) +
          " compiled, " + std::to_string(copies) +
          " copies before an update in place\n";
  if (options.all)
    writeRemarks({"kernels", "kernel", "kernels, which ops share one"});
}

std::string Explanation::write() {
  static constexpr Section sections[] = {
      {"costs", "gather", "gathers: a device receives what others hold"},
      {"costs", "keep", "kept for all microbatches of a step"},
      {"costs", "conflict", "conflicts: two layouts meet in one dimension"},
      {"costs", "replication", "replication: devices hold or compute the same"},
      {"costs", "pad", "padding: axes that do not divide a dimension"},
      {"memory", "Recompute", "recomputation of blocks, as asked for"},
      {"memory", "Trim", "recomputation of what costs little"},
      {"segments", "Widen", "ops in which all stages take part"},
      {"costs", "small", "states below whole_below"},
      {"costs", "buckets", "collectives that are issued together"},
      {"kernels", "copy", "copies before an update in place"},
      {"hints", "batch", "hints: samples that devices do not share alike"},
      {"hints", "kept", "hints: gathered weights that are kept"},
      {"hints", "exchange", "hints: layouts that cost exchanges"}};
  text = describePlan(facts.plan, options.entry, config.pipeline.schedule,
                      config.training.loss);
  writeMemory();
  writeTimes();
  if (const rt::plan::Entry *entry = facts.findEntry(options.entry))
    writeMoves(*entry);
  for (const Section &section : sections)
    writeRemarks(section);
  writeKernels();
  return text;
}

rt::Result<std::string> driver::explain(ModuleOp module, const Remarks &remarks,
                                        const Options &options,
                                        const rt::Config &config) {
  LLMC_TRY_ASSIGN(PlanFacts facts, readFacts(module, options));
  return Explanation(module, facts, remarks, options, config).write();
}

rt::Status driver::runExplain(const Options &options) {
  LLMC_TRY_ASSIGN(rt::Config config, readConfig(options));
  std::unique_ptr<MLIRContext> context = makeContext();
  Remarks remarks(*context, options.value.empty() ? RemarkKinds::All
                                                  : RemarkKinds::Values);
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> module,
      compileToPhase(*context, options, config, getPhases().size() - 1));
  if (!options.value.empty()) {
    LLMC_TRY_ASSIGN(std::string values,
                    explainValues(*module, remarks, options, config));
    llvm::outs() << values;
    return rt::Status::success();
  }
  LLMC_TRY_ASSIGN(std::string text, explain(*module, remarks, options, config));
  llvm::outs() << text;
  llvm::outs().flush();
  LLMC_TRY(checkStrict(remarks, options));
  return checkMemory(*module, options, config);
}
