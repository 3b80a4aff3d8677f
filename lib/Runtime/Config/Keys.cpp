//===- Keys.cpp - The table of configuration keys -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To add a key: a member in Config.h, a row here. Reading, checking, printing
// and the reference follow from the row.
//
//===----------------------------------------------------------------------===//

#include "Keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace llmc::rt;
using namespace llmc::rt::config;

namespace {
template <typename T> struct TypeOf;
template <> struct TypeOf<std::string> {
  static constexpr KeyType value = KeyType::text;
};
template <> struct TypeOf<int64_t> {
  static constexpr KeyType value = KeyType::integer;
};
template <> struct TypeOf<double> {
  static constexpr KeyType value = KeyType::number;
};
template <> struct TypeOf<bool> {
  static constexpr KeyType value = KeyType::flag;
};
template <> struct TypeOf<std::vector<std::string>> {
  static constexpr KeyType value = KeyType::texts;
};

/// A row for `member` of the section `section`.
template <typename Section, typename T>
Key row(std::string name, Section Config::*section, T Section::*member,
        std::optional<T> fallback, std::string meaning,
        std::vector<std::string> choices = {},
        std::optional<double> least = {}) {
  Key key{std::move(name),
          TypeOf<T>::value,
          std::nullopt,
          std::move(meaning),
          std::move(choices),
          least,
          nullptr,
          nullptr};
  if (fallback) {
    key.fallback = Value(*fallback);
  }
  key.store = [=](Config &config, const Slot &, const Value &value) {
    config.*section.*member = std::get<T>(value);
  };
  key.load = [=](const Config &config, const Slot &) {
    return Value(config.*section.*member);
  };
  return key;
}

/// A row for `member` of the elements of [[init]].
template <typename T>
Key initRow(std::string name, T InitConfig::*member, T fallback,
            std::string meaning, std::vector<std::string> choices = {}) {
  Key key{"init[]." + name,
          TypeOf<T>::value,
          Value(fallback),
          std::move(meaning),
          std::move(choices),
          {},
          nullptr,
          nullptr};
  key.store = [=](Config &config, const Slot &slot, const Value &value) {
    if (config.init.size() <= slot.index) {
      config.init.resize(slot.index + 1);
    }
    config.init[slot.index].*member = std::get<T>(value);
  };
  key.load = [=](const Config &config, const Slot &slot) {
    return Value(config.init[slot.index].*member);
  };
  return key;
}

/// A row for the user-named entries of a map.
template <typename Section, typename T>
Key mapRow(std::string name, Section Config::*section,
           std::map<std::string, T> Section::*member, std::string meaning,
           std::optional<double> least = {}) {
  Key key{
      std::move(name), TypeOf<T>::value, std::nullopt, std::move(meaning), {},
      least,           nullptr,          nullptr};
  key.store = [=](Config &config, const Slot &slot, const Value &value) {
    (config.*section.*member)[slot.name] = std::get<T>(value);
  };
  key.load = [=](const Config &config, const Slot &slot) {
    return Value((config.*section.*member).at(slot.name));
  };
  return key;
}
} // namespace

/// [mesh], [data] and [[init]].
static void addInputKeys(std::vector<Key> &keys) {
  keys.push_back(row("mesh.axes", &Config::mesh, &MeshConfig::axes,
                     std::optional(std::vector<std::string>{"data"}),
                     "mesh axes, outermost first; --mesh gives their sizes"));
  keys.push_back(row("mesh.pipeline", &Config::mesh, &MeshConfig::pipeline,
                     std::optional<std::string>(""),
                     "the axis that separates pipeline stages"));
  keys.push_back(row("data.file", &Config::data, &DataConfig::file,
                     std::optional<std::string>(""),
                     "corpus, relative to the configuration"));
  keys.push_back(row("data.dtype", &Config::data, &DataConfig::dtype,
                     std::optional<std::string>("u16"),
                     "element type of a raw corpus", {"u8", "u16", "u32"}));
  keys.push_back(mapRow("data.inputs.*", &Config::data, &DataConfig::inputs,
                        "shift of an input's window in the corpus, elements",
                        0));
  keys.push_back(initRow<std::string>(
      "match", &InitConfig::match, "*",
      "glob over parameter names; the first match counts"));
  keys.push_back(initRow<std::string>(
      "draw", &InitConfig::draw, "normal", "how it is drawn",
      {"zeros", "ones", "constant", "uniform", "normal", "truncated_normal"}));
  keys.push_back(
      initRow("value", &InitConfig::value, 0.0, "the value of a constant"));
  keys.push_back(initRow("mean", &InitConfig::mean, 0.0, "of a normal"));
  keys.push_back(
      initRow("std", &InitConfig::std, 0.02, "deviation of a normal"));
  keys.push_back(
      initRow("low", &InitConfig::low, 0.0, "lower end of a uniform"));
  keys.push_back(
      initRow("high", &InitConfig::high, 1.0, "upper end of a uniform"));
}

/// [optimizer] and [schedule].
static void addOptimizerKeys(std::vector<Key> &keys) {
  auto constant = [&](const char *name, const char *meaning) {
    Key key{std::string("optimizer.") + name,
            KeyType::number,
            std::nullopt,
            meaning,
            {},
            {},
            nullptr,
            nullptr};
    key.store = [=](Config &config, const Slot &, const Value &value) {
      config.optimizer.constants[name] = std::get<double>(value);
    };
    key.load = [=](const Config &config, const Slot &) {
      return Value(config.optimizer.constants.at(name));
    };
    keys.push_back(std::move(key));
  };
  keys.push_back(row("optimizer.name", &Config::optimizer,
                     &OptimizerConfig::name,
                     std::optional<std::string>("adamw"), "a shipped optimizer",
                     {"sgd", "momentum", "adamw"}));
  keys.push_back(row("optimizer.path", &Config::optimizer,
                     &OptimizerConfig::path, std::optional<std::string>(""),
                     "a .mlir file with an optimizer function instead"));
  keys.push_back(row("optimizer.lr", &Config::optimizer, &OptimizerConfig::lr,
                     std::optional(3e-4), "learning rate behind warm-up", {},
                     0));
  constant("beta1", "adamw: decay of the first moment (default 0.9)");
  constant("beta2", "adamw: decay of the second moment (default 0.95)");
  constant("eps", "adamw: added to the root (default 1e-8)");
  constant("weight_decay", "adamw, sgd, momentum: decoupled decay (default 0)");
  constant("momentum", "momentum: decay of the velocity (default 0.9)");
  keys.push_back(mapRow("optimizer.constants.*", &Config::optimizer,
                        &OptimizerConfig::constants,
                        "constants of an own optimizer function"));
  keys.push_back(row("schedule.name", &Config::schedule, &ScheduleConfig::name,
                     std::optional<std::string>("constant"),
                     "learning rate behind warm-up",
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
                     "learning rate behind the decay", {}, 0));
}

/// [training].
static void addTrainingKeys(std::vector<Key> &keys) {
  auto add = [&](Key key) { keys.push_back(std::move(key)); };
  add(row("training.steps", &Config::training, &TrainingConfig::steps,
          std::optional<int64_t>(100), "optimizer steps", {}, 1));
  add(row("training.microbatches", &Config::training,
          &TrainingConfig::microbatches, std::optional<int64_t>(1),
          "microbatches of a step; the graph's batch is one of them", {}, 1));
  add(row("training.seed", &Config::training, &TrainingConfig::seed,
          std::optional<int64_t>(0), "of initial values and data order", {},
          0));
  add(row("training.max_norm", &Config::training, &TrainingConfig::maxNorm,
          std::optional(0.0), "clip gradients by global norm; 0: off", {}, 0));
  add(row("training.recompute", &Config::training, &TrainingConfig::recompute,
          std::optional<std::string>("none"),
          "none, all, or a number K: all but every K-th block"));
  add(row("training.precision", &Config::training, &TrainingConfig::precision,
          std::optional<std::string>("model"),
          "model: as in the text; f64: widen all floats", {"model", "f64"}));
  add(row("training.raise", &Config::training, &TrainingConfig::raise,
          std::optional(true), "recognise structured ops such as losses"));
}

const std::vector<Key> &llmc::rt::config::keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> keys;
    addInputKeys(keys);
    addOptimizerKeys(keys);
    addTrainingKeys(keys);
    return keys;
  }();
  return table;
}

const Key *llmc::rt::config::findKey(std::string_view name) {
  for (const Key &key : keys()) {
    if (key.name == name) {
      return &key;
    }
  }
  return nullptr;
}

std::string_view llmc::rt::config::nameOf(KeyType type) {
  switch (type) {
  case KeyType::text:
    return "text";
  case KeyType::integer:
    return "integer";
  case KeyType::number:
    return "number";
  case KeyType::flag:
    return "true or false";
  case KeyType::texts:
    return "list of texts";
  }
  return "";
}

std::string llmc::rt::config::print(const Value &value) {
  struct Printer {
    std::string operator()(const std::string &text) const {
      return fmt::format("\"{}\"", text);
    }
    std::string operator()(int64_t number) const {
      return fmt::format("{}", number);
    }
    std::string operator()(double number) const {
      return fmt::format("{}", number);
    }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(const std::vector<std::string> &texts) const {
      return fmt::format("{}", texts);
    }
  };
  return std::visit(Printer{}, value);
}
