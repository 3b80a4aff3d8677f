//===- ExplainValue.cpp - The layouts of a value, and why -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExplainValue.h"
#include "Places.h"
#include "Remedies.h"
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

namespace {
/// Values of equal text, under a name with '*' for numbers of blocks.
struct ValueGroup {
  std::string name, text;
  std::vector<std::string> places;
  int64_t count = 0;
};
} // namespace

static std::vector<ValueGroup> findGroups(const Remarks &remarks,
                                          const Options &options,
                                          const Places &places) {
  std::vector<ValueGroup> groups;
  for (const Remark &remark : remarks.list()) {
    if (remark.category != "origins" ||
        !(rt::matchesGlob(options.value, remark.name) ||
          rt::matchesGlob(options.value, remark.place)))
      continue;
    std::string name = rt::hideNumbers(remark.name),
                text = rt::hideNumbers(remark.text),
                place = places.resolve(remark.place);
    auto known = llvm::find_if(groups, [&](const ValueGroup &group) {
      return group.name == name && group.text == text;
    });
    if (known == groups.end()) {
      groups.push_back({name, text, {}, 0});
      known = std::prev(groups.end());
    }
    ++known->count;
    if (!llvm::is_contained(known->places, place))
      known->places.push_back(place);
  }
  return groups;
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

/// A state whose name matches; null where the glob names none.
static dist::StateOp findState(ModuleOp module, const std::string &glob) {
  for (auto state : module.getOps<dist::StateOp>())
    if (!state.isPart() && !state.getOfAttr() &&
        rt::matchesGlob(glob, rt::unescapeName(state.getSymName().str())))
      return state;
  return {};
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
static std::vector<Remedy> listLayouts(dist::StateOp state,
                                       const Options &options,
                                       const rt::Config &config) {
  std::vector<Remedy> all;
  auto add = [&](const rt::AxisLists &lists) {
    if (all.size() == kMostTried)
      return;
    rt::LayoutConfig row;
    row.match = options.value;
    row.rest = row.use = lists;
    all.push_back({"rest = " + showLists(lists), [row](rt::Config &changed) {
                     changed.layout.insert(changed.layout.begin(), row);
                   }});
  };
  add({});
  for (auto &[axis, size] : options.mesh)
    if (size > 1 && axis != config.mesh.pipeline)
      for (int64_t dim = 0; dim < state.getTensorType().getRank(); ++dim) {
        rt::AxisLists lists(dim + 1);
        lists[dim] = {axis};
        add(lists);
      }
  return all;
}

static double costOf(const Trial &trial) {
  return trial.time ? trial.time->seconds : double(trial.bytesReceived);
}

/// What the states of the glob cost as they are, and as the best other layout
/// would have it.
static std::string describeRunnerUp(ModuleOp module, const Options &options,
                                    const rt::Config &config) {
  dist::StateOp state = findState(module, options.value);
  if (!state || options.mesh.empty() || !options.compileFrom.empty())
    return "";
  std::vector<Remedy> layouts = {{"as it is", [](rt::Config &) {}}};
  for (Remedy &each : listLayouts(state, options, config))
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

rt::Result<std::string> driver::explainValues(ModuleOp module,
                                              const Remarks &remarks,
                                              const Options &options,
                                              const rt::Config &config) {
  Places places(options.input);
  std::vector<ValueGroup> groups = findGroups(remarks, options, places);
  if (groups.empty()) {
    std::vector<std::string> names;
    for (const Remark &remark : remarks.list())
      if (remark.category == "origins")
        names.push_back(remark.name);
    std::string near = rt::nearest(options.value, names);
    return rt::makeError(
               rt::ErrorKind::usage,
               "--value: expected a glob over names of values, got '" +
                   options.value + "', which matches none")
        .withHint(near.empty() ? "states and inputs have the names of the "
                                 "model, other values those of its locations"
                               : "did you mean '" + near + "'?");
  }
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
    text += describeGivers(module, group.text, config, places);
  }
  return text + describeRunnerUp(module, options, config);
}
