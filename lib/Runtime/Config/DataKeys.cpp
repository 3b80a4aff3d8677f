//===- DataKeys.cpp - The keys of sources of data -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each key of [data] is one of each [data.<name>] too. Those that say which
// samples there are, and in which order, count for named sources that have none
// of their own.
//
//===----------------------------------------------------------------------===//

#include "KeyRows.h"

#include <fmt/format.h>

using namespace llmc::rt;
using namespace llmc::rt::config;

/// Whether the key of [data] counts for named sources too.
static bool isCommon(std::string_view key) {
  return key == "shuffle" || key == "held_out" || key == "finite" ||
         key == "in_range";
}

/// Elements of other kinds than an array's are finite; files for evaluation
/// stand in place of what is held out.
static bool isOfUse(std::string_view key, const DataConfig &source) {
  return (key != "finite" || source.kind == "array") &&
         (key != "held_out" || source.evaluateFile.patterns.empty());
}

namespace {
/// A row for `member` of [data], and one of each [data.<name>].
template <typename T>
void addDataKey(std::vector<Key> &keys, const std::string &name,
                T DataConfig::*member, const std::string &meaning,
                std::vector<std::string> choices = {},
                std::optional<double> least = {}) {
  keys.push_back(row("data." + name, &Config::data, member,
                     std::optional<T>(DataConfig().*member), meaning,
                     std::move(choices), least));
  Key named = keys.back();
  named.name = "data.*." + name;
  named.meaning = "the same of a named source";
  if (isCommon(name)) {
    named.meaning += " (default: that of [data])";
  }
  named.store = [=](Config &config, const Slot &slot, const Value &value) {
    config.sources[slot.table].*member = std::get<T>(value);
  };
  named.load = [=](const Config &config, const Slot &slot) {
    return Value(config.sources.at(slot.table).*member);
  };
  keys.push_back(std::move(named));
}

} // namespace

void llmc::rt::config::addDataKeys(std::vector<Key> &keys) {
  addDataKey(keys, "kind", &DataConfig::kind,
             "tokens: a sample is a window of a file of tokens; text: of the "
             "bytes of any file; array: a row of an .npy or .safetensors file",
             {"tokens", "text", "array"});
  addDataKey(keys, "file", &DataConfig::file,
             "a file or a glob, or a list of them; relative to the "
             "configuration");
  addDataKey(keys, "weights", &DataConfig::weights,
             "for each of file, how many samples next to those of the others; "
             "[]: by their sizes");
  addDataKey(keys, "dtype", &DataConfig::dtype,
             "element type of a raw file of tokens", {"u8", "u16", "u32"});
  addDataKey(keys, "tensor", &DataConfig::tensor,
             "the array in a .safetensors file (\"\": of the source's name)");
  addDataKey(keys, "shuffle", &DataConfig::shuffle,
             "samples in an order drawn by the seed; false: as in the file");
  addDataKey(keys, "windows", &DataConfig::windows,
             "of shuffled tokens: drawn at random, or once in an epoch each of "
             "those that lie side by side",
             {"drawn", "once"});
  addDataKey(keys, "held_out", &DataConfig::heldOut,
             "share of the samples that training leaves out for evaluation", {},
             0);
  addDataKey(keys, "evaluate_file", &DataConfig::evaluateFile,
             "files for evaluation instead, as file");
  addDataKey(keys, "finite", &DataConfig::finite,
             "refuse floats that are NaN or infinite where they are read");
  addDataKey(keys, "in_range", &DataConfig::inRange,
             "refuse integers beyond the rows or classes that the model counts "
             "by them");
  keys.push_back(mapRow("data.inputs.*", &Config::data, &DataConfig::inputs,
                        "an input, and by how many tokens or rows it lies "
                        "after the sample's first",
                        0));
  Key named = keys.back();
  named.name = "data.*.inputs.*";
  named.meaning = "the same of a named source (default: the input of its name)";
  named.store = [](Config &config, const Slot &slot, const Value &value) {
    config.sources[slot.table].inputs[slot.name] = std::get<int64_t>(value);
  };
  named.load = [](const Config &config, const Slot &slot) {
    return Value(config.sources.at(slot.table).inputs.at(slot.name));
  };
  keys.push_back(std::move(named));
}

void llmc::rt::config::takeCommonDataKeys(Config &config) {
  for (const auto &[table, source] : config.sources) {
    for (const Key &key : keys()) {
      std::string name = key.name.substr(key.name.rfind('.') + 1);
      std::string own = fmt::format("data.{}.{}", table, name);
      std::string origin = config.originOf(key.name);
      if (key.name == "data." + name && isCommon(name) &&
          isOfUse(name, source) && origin != "default" &&
          config.originOf(own) == "default") {
        findKey("data.*." + name)
            ->store(config, {0, "", table}, key.load(config, {}));
        config.origins.emplace_back(own, origin);
      }
    }
  }
}
