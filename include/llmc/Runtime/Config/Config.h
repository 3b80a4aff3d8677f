//===- Config.h - The strategy of a run, as plain structs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a TOML file and `--set key=value` say. All keys stand in one table
// (Keys.h) with type, default and documentation; an unknown key is an error
// with its place and the nearest known name. The importer resolves every
// pattern into attributes, and nothing behind it reads the configuration.
//
// Test: test/Runtime/Config/ConfigTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CONFIG_CONFIG_H
#define LLMC_RUNTIME_CONFIG_CONFIG_H

#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmc::rt {

struct MeshConfig {
  /// Axis names, outermost first; sizes come from `--mesh`.
  std::vector<std::string> axes;
  /// The pipeline axis, or "".
  std::string pipeline;
};

struct DataConfig {
  /// Absolute, or relative to the configuration's folder once loaded.
  std::string file;
  std::string dtype;
  /// Input name -> elements by which its window is shifted in the file.
  std::map<std::string, int64_t> inputs;
};

/// How the parameters whose name matches a glob are drawn.
struct InitConfig {
  std::string match;
  std::string draw;
  double value = 0, mean = 0, std = 0, low = 0, high = 0;
};

struct OptimizerConfig {
  std::string name;
  /// A `.mlir` file with the optimizer function instead of a shipped one.
  std::string path;
  double lr = 0;
  /// Constants of the optimizer function, by argument name.
  std::map<std::string, double> constants;
};

struct ScheduleConfig {
  std::string name;
  int64_t warmupSteps = 0, decaySteps = 0;
  double minLr = 0;
};

struct TrainingConfig {
  int64_t steps = 0, microbatches = 0, seed = 0;
  double maxNorm = 0;
  /// "none", "all", or every K blocks as a number in text.
  std::string recompute;
  /// "model" keeps the element types of the text; "f64" widens all floats.
  std::string precision;
  /// Recognise softmax cross-entropy and other structured ops.
  bool raise = true;
};

struct Config {
  /// The file it came from, or "".
  std::string file;
  MeshConfig mesh;
  DataConfig data;
  std::vector<InitConfig> init;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  TrainingConfig training;
  /// Key -> where its value came from: "default", "file:line:column", "--set".
  std::vector<std::pair<std::string, std::string>> origins;
};

/// `--set training.steps=3`: the key and the text behind the first '='.
using Override = std::pair<std::string, std::string>;

/// Reads `path` ("" for defaults alone), then applies the overrides in order.
/// Errors: 2 (usage) with `file:line:column` and a suggestion.
Result<Config> loadConfig(const std::string &path,
                          const std::vector<Override> &overrides);

/// The same from text; `file` names it in errors.
Result<Config> parseConfig(std::string_view text, const std::string &file,
                           const std::vector<Override> &overrides);

/// Every key with its value and its origin, one line each.
std::string printConfig(const Config &config);

/// Reference of all keys: name, type, default, meaning (Markdown table).
std::string documentKeys();

/// True when `name` matches `pattern` ('*' any run of characters, '?' one).
bool matchesGlob(std::string_view pattern, std::string_view name);

/// The candidate nearest to `word` by edit distance, or "" when none is near.
std::string nearest(std::string_view word,
                    const std::vector<std::string> &candidates);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CONFIG_CONFIG_H
