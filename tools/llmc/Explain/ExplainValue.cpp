//===- ExplainValue.cpp - The layouts of a value, and why -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExplainValue.h"
#include "../Driver/Places.h"
#include "../Driver/Remedies.h"
#include "ExplainMoves.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Import/Program/MakeProgram.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Support/FirstError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include <map>
#include <set>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;

/// Other layouts of a value that are tried, and the time after which no more.
static constexpr size_t kMostTried = 8;
static constexpr double kSecondsOfTrying = 60;

/// Lines of what is moved or padded for a value, without `--all`.
static constexpr size_t kMostFacts = 8;

namespace {
/// Values of equal text, under a name with '*' for numbers of blocks.
struct ValueGroup {
  std::string name, text;
  /// As they are shown, and as remarks have them.
  std::vector<std::string> places, raw;
  int64_t count = 0;
};
} // namespace

/// Whether `value` is a line of a file, as `model.py:31` or with its column,
/// and `place` lies there.
static bool isAtPlace(StringRef value, StringRef place) {
  int64_t line = 0;
  size_t at = place.find(value);
  if (value.rsplit(':').second.getAsInteger(10, line) || at == StringRef::npos)
    return false;
  // Not in the midst of a name or of a number.
  StringRef after = place.substr(at + value.size());
  return (at == 0 || place[at - 1] == '/') &&
         (after.empty() || after.front() == ':');
}

/// By its name, its place as it is printed, or the line that it stands in.
static bool isAsked(const std::string &value, const Remark &remark,
                    const std::string &place) {
  return rt::matchesGlob(value, remark.name) ||
         rt::matchesGlob(value, remark.place) || isAtPlace(value, place);
}

static void addNew(std::vector<std::string> &list, const std::string &text) {
  if (!llvm::is_contained(list, text))
    list.push_back(text);
}

static std::vector<ValueGroup> findGroups(const Remarks &remarks,
                                          const Options &options,
                                          const Places &places) {
  std::vector<ValueGroup> groups;
  for (const Remark &remark : remarks.list()) {
    std::string place = places.resolve(remark.place);
    if (remark.category != "origins" || !isAsked(options.value, remark, place))
      continue;
    std::string name = rt::hideNumbers(remark.name),
                text = rt::hideNumbers(remark.text);
    auto known = llvm::find_if(groups, [&](const ValueGroup &group) {
      return group.name == name && group.text == text;
    });
    if (known == groups.end()) {
      groups.push_back({name, text, {}, {}, 0});
      known = std::prev(groups.end());
    }
    ++known->count;
    addNew(known->places, place);
    addNew(known->raw, remark.place);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// What it costs
//===----------------------------------------------------------------------===//

/// What is moved, padded, computed alike, and between which layouts there was a
/// choice: as a remark of another category says.
static bool isCost(const Remark &remark) {
  if (remark.category == "layouts")
    return StringRef(remark.text).contains(" received: ") ||
           remark.name == "refused";
  return (remark.category == "costs" && remark.name != "buckets") ||
         remark.category == "hints";
}

/// Whether a remark is at the place of the group, and of the group's op where
/// it is of one: `'stablehlo.add': [{}, {}]`. Several ops have one line.
static bool isOfPlace(const ValueGroup &group, const Remark &remark) {
  StringRef op = StringRef(group.text).split(": ").first;
  return !remark.place.empty() && llvm::is_contained(group.raw, remark.place) &&
         (!op.starts_with("'") || StringRef(remark.text).contains(op));
}

/// Whether the text speaks of a value of this name: 'w', "w" or @w.
static bool names(StringRef text, const std::string &name) {
  return text.contains("'" + name + "'") || text.contains("\"" + name + "\"") ||
         text.contains("@" + name + " ");
}

/// What the remarks at the places of the group, or with its name, say.
static std::string describeCosts(const ValueGroup &group,
                                 const Remarks &remarks, bool all) {
  std::vector<std::pair<std::string, int64_t>> facts;
  for (const Remark &remark : remarks.list()) {
    if (!isCost(remark))
      continue;
    std::string text = rt::hideNumbers(remark.text);
    if (!isOfPlace(group, remark) && !names(text, group.name))
      continue;
    text = remark.category == "layouts" ? shortenLayouts(text)
                                        : remark.name + ": " + text;
    auto known = llvm::find_if(
        facts, [&](const auto &fact) { return fact.first == text; });
    if (known == facts.end())
      facts.push_back({text, 1});
    else
      ++known->second;
  }
  size_t shown = all ? facts.size() : std::min(facts.size(), kMostFacts);
  std::string lines;
  for (auto &[text, count] : ArrayRef(facts).take_front(shown))
    lines += "  for it " + (count > 1 ? std::to_string(count) + " x " : "") +
             text + "\n";
  if (shown < facts.size())
    lines += "  and " + std::to_string(facts.size() - shown) +
             " more for it (--all)\n";
  return lines;
}

/// Where the configuration gives the layouts of the states and inputs that the
/// ways end at: `state @w at rest: layout[2].rest, model.toml:14:8`.
static std::string describeGivers(ModuleOp module, StringRef text,
                                  const rt::Config &config,
                                  const Places &places) {
  // What stands there, the first place, and how many others there are.
  std::map<std::string, std::pair<std::string, std::set<std::string>>> found;
  auto note = [&](const std::string &what, const std::string &place) {
    auto &[first, all] = found[what];
    first = all.empty() ? place : first;
    all.insert(place);
  };
  // Whether the configuration has any of its layouts.
  auto add = [&](bool isInput, StringRef symbol, int64_t rank) {
    bool isThere = false;
    std::string name = isInput ? symbol.str() : rt::unescapeName(symbol.str());
    static constexpr StringLiteral ofInputs[] = {"dims"},
                                   ofStates[] = {"rest", "use", "gradient",
                                                 "optimizer"};
    for (StringRef kind : isInput ? ArrayRef<StringLiteral>(ofInputs)
                                  : ArrayRef<StringLiteral>(ofStates))
      if (std::string origin =
              import::findLayoutOrigin(config, isInput, name, rank, kind);
          !origin.empty()) {
        note(kind.str() + " of " + rt::hideNumbers(name), origin);
        isThere = true;
      }
    return isThere;
  };
  for (auto state : module.getOps<dist::StateOp>()) {
    std::string name = rt::hideNumbers(state.getSymName().str());
    for (StringRef form : {"state @", "gradient of @"})
      if (text.contains((form + name + " ").str()) &&
          !add(false, state.getSymName(), state.getTensorType().getRank()) &&
          state.getRowAttr())
        note("an annotation of " + rt::unescapeName(name),
             places.resolve(describeLocation(state.getLoc())));
  }
  llvm::Regex input("input \"([^\"]*)\"");
  SmallVector<StringRef> matches;
  for (StringRef rest = text; input.match(rest, &matches);
       rest = rest.substr(rest.find(matches[0]) + matches[0].size()))
    (void)add(true, matches[1], INT64_MAX);
  std::string lines;
  for (auto &[what, where] : found)
    lines += "    " + what + " stands at " + where.first +
             (where.second.size() > 1
                  ? " and " + std::to_string(where.second.size() - 1) + " more"
                  : "") +
             "\n";
  return lines;
}

//===----------------------------------------------------------------------===//
// Other layouts
//===----------------------------------------------------------------------===//

namespace {
/// What a table gives the layout of.
struct Laid {
  int64_t rank = 0;
  bool isInput = false;
};
} // namespace

/// The first state or input of the groups; nothing where there is none.
static std::optional<Laid> findLaid(ModuleOp module, const std::string &glob,
                                    ArrayRef<ValueGroup> groups) {
  for (auto state : module.getOps<dist::StateOp>())
    if (!state.isPart() && !state.getOfAttr() &&
        rt::matchesGlob(glob, rt::unescapeName(state.getSymName().str())))
      return Laid{state.getTensorType().getRank(), false};
  // Of an input the remark has a list for each dim.
  for (const ValueGroup &group : groups)
    if (StringRef line = StringRef(group.text).split('\n').first;
        line.starts_with("input: ") && rt::matchesGlob(glob, group.name))
      return Laid{int64_t(line.count('{')), true};
  return std::nullopt;
}

static std::string showLists(const rt::AxisLists &lists) {
  std::vector<std::string> parts;
  for (const std::vector<std::string> &list : lists)
    parts.push_back(
        "[" + (list.empty() ? "" : "\"" + llvm::join(list, "\", \"") + "\"") +
        "]");
  return "[" + llvm::join(parts, ", ") + "]";
}

/// Whole, and each axis on each dim, as rows in front of all others.
static std::vector<Remedy> listLayouts(const Laid &laid, const Options &options,
                                       const rt::Config &config) {
  std::vector<Remedy> all;
  auto add = [&](const rt::AxisLists &lists) {
    if (all.size() == kMostTried)
      return;
    rt::LayoutConfig row;
    (laid.isInput ? row.input : row.match) = options.value;
    if (laid.isInput)
      row.dims = lists;
    else
      row.rest = row.use = lists;
    std::string key = laid.isInput ? "dims = " : "rest = ";
    all.push_back({key + showLists(lists), [row](rt::Config &changed) {
                     changed.layout.insert(changed.layout.begin(), row);
                   }});
  };
  add({});
  for (auto &[axis, size] : options.mesh)
    if (size > 1 && axis != config.mesh.pipeline)
      for (int64_t dim = 0; dim < laid.rank; ++dim) {
        rt::AxisLists lists(dim + 1);
        lists[dim] = {axis};
        add(lists);
      }
  return all;
}

static double costOf(const Trial &trial) {
  return trial.time ? trial.time->seconds : double(trial.bytesReceived);
}

/// What the states or inputs of the glob cost as they are, and as the best
/// other layout would have it.
static std::string describeRunnerUp(const std::optional<Laid> &laid,
                                    const Options &options,
                                    const rt::Config &config) {
  if (!laid || options.mesh.empty() || !options.compileFrom.empty())
    return "";
  std::vector<Remedy> layouts = {{"as it is", [](rt::Config &) {}}};
  for (Remedy &each : listLayouts(*laid, options, config))
    layouts.push_back(std::move(each));
  std::vector<Trial> trials =
      tryRemedies(layouts, options, config, kSecondsOfTrying);
  const Trial *best = nullptr;
  std::string others;
  for (const Trial &trial : llvm::drop_begin(trials)) {
    others += "  " + trial.remedy->ask + ": " + trial.describe() + "\n";
    // What is the same plan is no other layout.
    bool isSame = trial.bytes == trials.front().bytes &&
                  trial.bytesReceived == trials.front().bytesReceived;
    if (trial.isPossible() && !isSame &&
        (!best || costOf(trial) < costOf(*best)))
      best = &trial;
  }
  std::string text =
      "the whole plan with other layouts of '" + options.value +
      "', each compiled:\n  chosen: " + trials.front().describe() + "\n";
  if (best)
    text +=
        "  runner-up: " + best->remedy->ask + ": " + best->describe() + "\n";
  return text + (options.all ? others : "");
}

/// The names and lines that are spelled like `value`, at most three.
static std::string suggestNames(const std::string &value,
                                const Remarks &remarks, const Places &places) {
  std::vector<std::string> names;
  for (const Remark &remark : remarks.list())
    if (remark.category == "origins") {
      addNew(names, remark.name);
      addNew(names, places.resolve(remark.place));
    }
  constexpr size_t most = 3;
  std::vector<std::string> near;
  while (near.size() < most) {
    std::string next = rt::nearest(value, names);
    if (next.empty())
      break;
    near.push_back("'" + rt::escape(next) + "'");
    llvm::erase(names, next);
  }
  return near.empty()
             ? "states, inputs and metrics have the names of the model, other "
               "values those of its locations, and lines are as 'model.py:31'"
             : "did you mean " + llvm::join(near, ", ") + "?";
}

rt::Result<std::string> driver::explainValues(ModuleOp module,
                                              const Remarks &remarks,
                                              const Options &options,
                                              const rt::Config &config) {
  Places places(options.input);
  std::vector<ValueGroup> groups = findGroups(remarks, options, places);
  if (groups.empty())
    return rt::makeError(
               rt::ErrorKind::usage,
               "--value: expected a glob over names of values, or a line of a "
               "file, got '" +
                   options.value + "', which matches none")
        .withHint(suggestNames(options.value, remarks, places));
  std::string text;
  for (const ValueGroup &group : groups) {
    text += group.places.front() +
            (group.places.size() > 1
                 ? " and " + std::to_string(group.places.size() - 1) + " more"
                 : "") +
            ": " + rt::escape(group.name) +
            (group.count > 1 ? ", " + std::to_string(group.count) + " x" : "") +
            "\n";
    SmallVector<StringRef> lines;
    StringRef(group.text).split(lines, '\n', -1, false);
    for (StringRef line : lines)
      text += "  " + line.str() + "\n";
    text += describeCosts(group, remarks, options.all);
    text += describeGivers(module, group.text, config, places);
  }
  return text + describeRunnerUp(findLaid(module, options.value, groups),
                                 options, config);
}
