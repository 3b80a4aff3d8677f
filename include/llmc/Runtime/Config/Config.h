//===- Config.h - The strategy of a run, as plain structs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a TOML file and `--set key=value` say. All keys stand in one table
// (Keys.h) with type, default and documentation; an unknown key is an error
// with its place and the nearest known name. The importer resolves every
// pattern into attributes, and nothing after it reads the configuration.
//
// Test: test/Runtime/Config/ConfigTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CONFIG_CONFIG_H
#define LLMC_RUNTIME_CONFIG_CONFIG_H

#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <map>
#include <optional>
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

/// Files and globs; a configuration may have a text for one.
struct FileList {
  std::vector<std::string> patterns;
  bool empty() const { return patterns.empty(); }
};

/// A source of data: [data], or [data.<name>].
struct DataConfig {
  std::string kind = "tokens";
  /// Absolute, or relative to the configuration's folder once loaded.
  FileList file;
  /// Of each of these: how many samples, next to those of the others.
  std::vector<double> weights;
  std::string dtype = "u16";
  std::string tensor;
  bool shuffle = true;
  /// "drawn" or "once".
  std::string windows = "drawn";
  /// What training leaves out for evaluation: a share, or files of their own.
  double heldOut = 0;
  FileList evaluateFile;
  bool finite = true;
  bool inRange = true;
  /// Input name -> rows by which it lies after the sample's first.
  std::map<std::string, int64_t> inputs;
};

/// How the parameters whose name matches a glob are drawn.
struct InitConfig {
  std::string match;
  std::string draw;
  double value = 0, mean = 0, std = 0, low = 0, high = 0;
};

/// How a file of weights calls the states whose name matches a glob.
struct WeightNameConfig {
  std::string match, name;
};

/// For each dimension the mesh axes that split it, major to minor; a last "?"
/// leaves the dimension open. Dimensions after the last list are whole.
using AxisLists = std::vector<std::vector<std::string>>;

/// Layouts of the states whose name matches `match`, or of the inputs whose
/// name matches `input`; the other glob is "".
struct LayoutConfig {
  std::string match, input;
  std::optional<AxisLists> rest, use, gradient, optimizer, dims;
  /// The floats of which terms of the gradient are sent; "": its own.
  std::string gradientType;
  /// Bytes of a state below which it is stored as it is used.
  int64_t wholeBelow = 0;
};

/// The float type of contractions that read parameters whose name matches.
struct PrecisionConfig {
  std::string match, type;
};

/// A class of links between devices.
struct LinkConfig {
  std::string name;
  /// Seconds for each message.
  double latency = 0;
  /// Bytes a second that a device receives.
  double bandwidth = 0;
};

/// What decisions on layouts are priced for; without links all axes are alike.
struct MachineConfig {
  std::vector<LinkConfig> links;
  /// Mesh axis -> name of its link class; an absent axis has the first class.
  std::map<std::string, std::string> axes;
  /// Of one device: operations a second, bytes, bytes a second of its memory
  /// (0: unknown).
  double flops = 0, memory = 0, memoryBandwidth = 0;
  /// Type of factors -> operations a second of their products (LibraryCost.h);
  /// an absent one has those of `flops`.
  std::map<std::string, double> rates;
  /// Bytes at which a bucket of collectives is full; 0: none, -1: as the links
  /// ask for.
  double bucket = -1;
};

struct OptimizerConfig {
  std::string name;
  /// A `.mlir` file with the optimizer function instead of a shipped one.
  std::string path;
  double lr = 0;
  /// By which the scheduled rate is multiplied.
  double rateShare = 1;
  /// Constants of the optimizer function, by argument name.
  std::map<std::string, double> constants;
};

/// What differs from [optimizer] for the parameters whose name matches a glob.
struct GroupConfig {
  std::string match;
  /// Of a parameter; -1: any.
  int64_t maxRank = -1;
  /// Another optimizer; "": the same.
  std::string name, path;
  double rateShare = 1;
  /// In place of those of [optimizer].
  std::map<std::string, double> constants;
};

struct ScheduleConfig {
  std::string name;
  int64_t warmupSteps = 0, decaySteps = 0;
  double minLr = 0;
};

struct PipelineConfig {
  /// Name of a generator of schedules, or a `.csv` file with a table.
  std::string schedule;
  /// Chunks of the model on each stage.
  int64_t chunks = 1;
};

/// A loss that is added to what the model returns.
struct LossConfig {
  /// "none", "next-token", "classification" or "mse".
  std::string kind;
  /// The result that it is a loss of; with "none", the one that is the loss.
  std::string output;
  /// The input with what is to be predicted.
  std::string targets;
};

struct TrainingConfig {
  int64_t steps = 0, microbatches = 0, seed = 0;
  /// Steps between evaluations (0: none), and batches of one (0: all).
  int64_t evaluateEvery = 0, evaluateSteps = 0;
  double maxNorm = 0;
  /// The size to which each element of a gradient is cut; 0: none.
  double maxValue = 0;
  /// What an average of the parameters keeps of itself in a step; 0: none.
  double average = 0;
  /// A step that is not finite changes no parameter and no optimizer state.
  bool skipNotFinite = false;
  /// "none", "all", or every K blocks as a number in text.
  std::string recompute;
  /// What is gathered for a block's forward is gathered again for its backward.
  bool regather = false;
  /// A state that is read in a narrower type is converted in each microbatch.
  bool reconvert = false;
  /// "model" keeps the element types of the text; "f64" widens all floats;
  /// "bf16", "f16" and "fp8" narrow the factors of contractions.
  std::string precision;
  /// "current" or "delayed": what gives scales of fp8.
  std::string fp8Scaling;
  /// Microbatches that delayed scales remember; powers of two left free.
  int64_t fp8History = 0, fp8Margin = 0;
  /// "nearest", or "stochastic": states that are narrower than their update.
  std::string rounding;
  /// "as computed", or "narrow": what the backward reads, in that type too.
  std::string saved;
  /// By what the loss is multiplied before it is derived; 0: of the precision.
  double lossScale = 0;
  /// Good steps after which the scale doubles.
  int64_t lossScaleSteps = 0;
  /// Globs over arguments, roots included, that are parameters.
  std::vector<std::string> parameters;
  /// Globs over weights of the file that training leaves as they are.
  std::vector<std::string> frozen;
  /// Globs over results beside the loss that training leaves out.
  std::vector<std::string> drop;
  /// "loss", "gradients", "step", or "auto".
  std::string module;
  /// Path of a result -> "loss", or the argument that it replaces or whose
  /// gradient it is.
  std::map<std::string, std::string> results;
  /// "exact": that of all microbatches together; "mean of microbatches".
  std::string loss;
  /// Recognise softmax cross-entropy and other structured ops.
  bool raise = true;
  /// "whole", "products", or "auto": whole but where kernels in place of a
  /// library would multiply narrow floats at the rate of f32.
  std::string attention;
  /// Loops of the text become their trips.
  bool unroll = false;
  /// "of jax" refuses functions whose own rules the text has lost; "of the
  /// text" derives their ops.
  std::string derivative;
};

struct Config {
  /// The file it came from, or ""; and the one that this extends, as it says.
  std::string file, extends;
  MeshConfig mesh;
  DataConfig data;
  /// Those with a name of their own.
  std::map<std::string, DataConfig> sources;
  std::vector<InitConfig> init;
  std::vector<WeightNameConfig> weights;
  std::vector<LayoutConfig> layout;
  std::vector<PrecisionConfig> precision;
  MachineConfig machine;
  OptimizerConfig optimizer;
  std::vector<GroupConfig> group;
  ScheduleConfig schedule;
  PipelineConfig pipeline;
  LossConfig loss;
  TrainingConfig training;
  /// Key -> where its value came from: "default", "file:line:column", "--set".
  /// An element of an array of tables has one too: "layout[0]".
  std::vector<std::pair<std::string, std::string>> origins;

  /// Where the value of `key` came from, or "default".
  std::string originOf(std::string_view key) const;
};

/// `--set training.steps=3`: the key and the text after the first '='.
using Override = std::pair<std::string, std::string>;

/// Reads `path` ("" for defaults alone) and the files that it extends, then
/// applies the overrides in order. Files that a file names lie beside it.
/// Errors: 2 (usage) with `file:line:column` and a suggestion.
Result<Config> loadConfig(const std::string &path,
                          const std::vector<Override> &overrides);

/// The same from text; `file` names it in errors.
Result<Config> parseConfig(std::string_view text, const std::string &file,
                           const std::vector<Override> &overrides);

/// Reads the keys of [machine] from a file of its own (`--machine`) in place of
/// those that `config` has, then applies the overrides of such keys. Errors: as
/// `loadConfig`, also for any other key.
Status loadMachine(const std::string &path, Config &config,
                   const std::vector<Override> &overrides = {});

/// Every key with its value and its origin, one line each.
std::string printConfig(const Config &config);

/// Reference of all keys: name, type, default, meaning (Markdown table).
std::string documentKeys();

/// True when `name` matches `pattern` ('*' any run of characters, '?' one), or
/// is that of a part of a complex tensor whose name does: "w" matches "w.real".
bool matchesGlob(std::string_view pattern, std::string_view name);

/// `name` with another glob in place of the one that it matches: each '*' of
/// `other` is what the same '*' of `pattern` stands for. A part stays one: "w"
/// and "v" make "v.real" of "w.real". Absent where it does not match.
std::optional<std::string> renameByGlob(std::string_view pattern,
                                        std::string_view other,
                                        std::string_view name);

/// The candidate nearest to `word` by edit distance, or "" when none is near.
std::string nearest(std::string_view word,
                    const std::vector<std::string> &candidates);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CONFIG_CONFIG_H
