//===- OptimizerKeys.cpp - Keys of optimizers and their rates -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyRows.h"

using namespace llmc::rt;
using namespace llmc::rt::config;

namespace {
/// A constant of shipped optimizers that has a key of its own.
struct Constant {
  const char *name, *meaning;
};
constexpr Constant constants[] = {
    {"beta1", "adamw, and muon's other parameters: decay of the first moment "
              "(default 0.9); lion: share of the moment in a step (0.9)"},
    {"beta2", "adamw: decay of the second moment (default 0.95; muon's other "
              "parameters 0.999); lion: decay of the moment (0.99)"},
    {"eps", "adamw: added to the root (default 1e-8); muon: to the norm too; "
            "adafactor: to squares (1e-30)"},
    {"weight_decay", "decoupled decay (default 0)"},
    {"momentum",
     "momentum: decay of the velocity (default 0.9); muon: of the moment "
     "(0.95)"},
    {"decay", "adafactor: the second moment keeps 1 - t^-decay in step t "
              "(default 0.8)"},
    {"clip", "adafactor: root mean square above which a parameter's step is "
             "cut, before the rate (default 1)"}};

/// A number that is not there unless it is given.
Key numberRow(std::string name, std::string meaning) {
  return {std::move(name),
          KeyType::number,
          std::nullopt,
          std::move(meaning),
          {},
          {},
          nullptr,
          nullptr};
}

void addConstantKeys(std::vector<Key> &keys) {
  for (const Constant &constant : constants) {
    std::string name = constant.name;
    Key key = numberRow("optimizer." + name, constant.meaning);
    key.store = [=](Config &config, const Slot &, const Value &value) {
      config.optimizer.constants[name] = std::get<double>(value);
    };
    key.load = [=](const Config &config, const Slot &) {
      return Value(config.optimizer.constants.at(name));
    };
    keys.push_back(std::move(key));
  }
}

/// A number of a group, under a name of ours or ("*") of the user's.
Key groupConstant(const std::string &key, const std::string &name,
                  const std::string &meaning) {
  Key row = numberRow("group[]." + key, meaning);
  row.store = [=](Config &config, const Slot &slot, const Value &value) {
    elementOf<GroupConfig>(config, slot)
        .constants[name == "*" ? slot.name : name] = std::get<double>(value);
  };
  row.load = [=](const Config &config, const Slot &slot) {
    return Value(
        config.group[slot.index].constants.at(name == "*" ? slot.name : name));
  };
  return row;
}

void addGroupKeys(std::vector<Key> &keys) {
  keys.push_back(elementRow<GroupConfig, std::string>(
      "match", &GroupConfig::match, "*",
      "glob over parameters; the first group that matches one counts"));
  keys.push_back(elementRow<GroupConfig, int64_t>(
      "max_rank", &GroupConfig::maxRank, -1,
      "matches parameters of at most so many dims alone, such as 1: biases and "
      "norms; -1: any"));
  keys.push_back(elementRow<GroupConfig, std::string>(
      "name", &GroupConfig::name, "",
      "a shipped optimizer in place of that of [optimizer], whose constants do "
      "not count then",
      {"", "sgd", "momentum", "adamw", "lion", "adafactor", "muon"}));
  keys.push_back(elementRow<GroupConfig, std::string>(
      "path", &GroupConfig::path, "",
      "a .mlir file with an optimizer function instead"));
  keys.push_back(elementRow("lr_share", &GroupConfig::rateShare, 1.0,
                            "by what the learning rate is multiplied"));
  for (const Constant &constant : constants) {
    keys.push_back(
        groupConstant(constant.name, constant.name, "as of [optimizer]"));
  }
  keys.push_back(groupConstant("constants.*", "*", "as of [optimizer]"));
}
} // namespace

void llmc::rt::config::addOptimizerKeys(std::vector<Key> &keys) {
  keys.push_back(
      row("optimizer.name", &Config::optimizer, &OptimizerConfig::name,
          std::optional<std::string>("adamw"),
          "a shipped optimizer ([recipes](recipes.md))",
          {"sgd", "momentum", "adamw", "lion", "adafactor", "muon"}));
  keys.push_back(row("optimizer.path", &Config::optimizer,
                     &OptimizerConfig::path, std::optional<std::string>(""),
                     "a .mlir file with optimizer functions instead"));
  keys.push_back(row("optimizer.lr", &Config::optimizer, &OptimizerConfig::lr,
                     std::optional(3e-4), "learning rate after warm-up", {},
                     0));
  addConstantKeys(keys);
  keys.push_back(mapRow("optimizer.constants.*", &Config::optimizer,
                        &OptimizerConfig::constants,
                        "constants of an own optimizer function"));
  addGroupKeys(keys);
  keys.push_back(row("schedule.name", &Config::schedule, &ScheduleConfig::name,
                     std::optional<std::string>("constant"),
                     "learning rate after warm-up",
                     {"constant", "linear", "cosine"}));
  keys.push_back(row("schedule.warmup_steps", &Config::schedule,
                     &ScheduleConfig::warmupSteps, std::optional<int64_t>(0),
                     "steps of linear warm-up", {}, 0));
  keys.push_back(row("schedule.decay_steps", &Config::schedule,
                     &ScheduleConfig::decaySteps, std::optional<int64_t>(0),
                     "step at which min_lr is reached; 0: training.steps", {},
                     0));
  keys.push_back(row("schedule.min_lr", &Config::schedule,
                     &ScheduleConfig::minLr, std::optional(0.0),
                     "learning rate after the decay", {}, 0));
}
