//===- Keys.cpp - The table of configuration keys -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To add a key: a member in Config.h, a row here. Reading, checking, printing
// and the reference follow from the row.
//
//===----------------------------------------------------------------------===//

#include "KeyRows.h"

using namespace llmc::rt;
using namespace llmc::rt::config;

namespace {
/// A row for a layout of the elements of [[layout]].
Key listsRow(const std::string &name,
             std::optional<AxisLists> LayoutConfig::*member,
             std::string meaning) {
  Key key{"layout[]." + name,
          TypeOf<AxisLists>::value,
          std::nullopt,
          std::move(meaning),
          {},
          {},
          nullptr,
          nullptr};
  key.store = [=](Config &config, const Slot &slot, const Value &value) {
    elementOf<LayoutConfig>(config, slot).*member = std::get<AxisLists>(value);
  };
  key.load = [=](const Config &config, const Slot &slot) {
    return Value((config.layout[slot.index].*member).value());
  };
  return key;
}

} // namespace

/// The one key that is in no table (Tree.h).
static Key extendsRow() {
  Key key{"extends",
          TypeOf<std::string>::value,
          Value(std::string()),
          "a file whose keys count where this one has none, relative to it",
          {},
          {},
          nullptr,
          nullptr};
  key.store = [](Config &config, const Slot &, const Value &value) {
    config.extends = std::get<std::string>(value);
  };
  key.load = [](const Config &config, const Slot &) {
    return Value(config.extends);
  };
  return key;
}

/// [mesh], [data] and [[init]].
static void addInputKeys(std::vector<Key> &keys) {
  keys.push_back(row("mesh.axes", &Config::mesh, &MeshConfig::axes,
                     std::optional(std::vector<std::string>{"data"}),
                     "mesh axes, outermost first; --mesh gives their sizes"));
  keys.push_back(row("mesh.pipeline", &Config::mesh, &MeshConfig::pipeline,
                     std::optional<std::string>(""),
                     "the axis that separates pipeline stages"));
  addDataKeys(keys);
  keys.push_back(elementRow<InitConfig, std::string>(
      "match", &InitConfig::match, "*",
      "glob over names of states; the first match counts; * alone is about "
      "parameters"));
  keys.push_back(elementRow<InitConfig, std::string>(
      "draw", &InitConfig::draw, "normal", "how it is drawn",
      {"zeros", "ones", "constant", "uniform", "normal", "truncated_normal"}));
  keys.push_back(
      elementRow("value", &InitConfig::value, 0.0, "the value of a constant"));
  keys.push_back(elementRow("mean", &InitConfig::mean, 0.0, "of a normal"));
  keys.push_back(
      elementRow("std", &InitConfig::std, 0.02, "deviation of a normal"));
  keys.push_back(
      elementRow("low", &InitConfig::low, 0.0, "lower end of a uniform"));
  keys.push_back(
      elementRow("high", &InitConfig::high, 1.0, "upper end of a uniform"));
}

/// [[weights]].
static void addWeightKeys(std::vector<Key> &keys) {
  keys.push_back(elementRow<WeightNameConfig, std::string>(
      "match", &WeightNameConfig::match, "*",
      "glob over names of states; the first match counts for --weights"));
  keys.push_back(elementRow<WeightNameConfig, std::string>(
      "name", &WeightNameConfig::name, "*",
      "the name in that file; each * is what its * in match stands for"));
}

/// [[layout]] and [machine].
static void addLayoutKeys(std::vector<Key> &keys) {
  keys.push_back(elementRow<LayoutConfig, std::string>(
      "match", &LayoutConfig::match, "",
      "glob over state names; for each kind of layout the first match counts"));
  keys.push_back(elementRow<LayoutConfig, std::string>(
      "input", &LayoutConfig::input, "",
      "glob over input names, instead of match"));
  keys.push_back(listsRow(
      "rest", &LayoutConfig::rest,
      "axes of each dimension between steps; a last \"?\": open; x:(2)4: "
      "the part of size 4 of axis x that follows its major part of size 2"));
  keys.push_back(
      listsRow("use", &LayoutConfig::use,
               "in the model (default: rest, without axes that split inputs)"));
  keys.push_back(listsRow("gradient", &LayoutConfig::gradient,
                          "of the gradient (default: chosen)"));
  keys.push_back(listsRow("optimizer", &LayoutConfig::optimizer,
                          "of optimizer states (default: rest)"));
  keys.push_back(elementRow<LayoutConfig, std::string>(
      "gradient_type", &LayoutConfig::gradientType, "",
      "floats to which each device rounds its term of the gradient before it "
      "is sent, where they are narrower than its own; terms are added up in "
      "f32 (default: its own)",
      {"", "f32", "bf16", "f16"}));
  keys.push_back(elementRow<LayoutConfig, int64_t>(
      "whole_below", &LayoutConfig::wholeBelow, 0,
      "a state of fewer bytes that a glob matches is stored as it is used: "
      "rest, gradient and optimizer of the table do not count for it"));
  keys.push_back(listsRow("dims", &LayoutConfig::dims, "of an input"));
  keys.push_back(elementRow<LinkConfig, std::string>(
      "name", &LinkConfig::name, "", "a class of links between devices"));
  keys.push_back(elementRow("latency", &LinkConfig::latency, 0.0,
                            "seconds for each message"));
  keys.push_back(elementRow("bandwidth", &LinkConfig::bandwidth, 1.0,
                            "bytes a second that a device receives"));
  keys.push_back(mapRow("machine.axes.*", &Config::machine,
                        &MachineConfig::axes,
                        "link class of a mesh axis (default: the first)"));
  keys.push_back(row("machine.flops", &Config::machine, &MachineConfig::flops,
                     std::optional(0.0),
                     "operations a second of a device; 0: unknown", {}, 0));
  keys.push_back(mapRow("machine.rates.*", &Config::machine,
                        &MachineConfig::rates,
                        "operations a second of products of f64, f32, f16, "
                        "bf16 or fp8 (default: machine.flops)"));
  keys.push_back(row("machine.memory", &Config::machine, &MachineConfig::memory,
                     std::optional(0.0),
                     "bytes of a device; a plan that needs more is "
                     "refused, with what would need less; 0: unknown",
                     {}, 0));
  keys.push_back(row("machine.memory_bandwidth", &Config::machine,
                     &MachineConfig::memoryBandwidth, std::optional(0.0),
                     "bytes a second of a device's memory; 0: unknown", {}, 0));
  keys.push_back(row("machine.bucket", &Config::machine, &MachineConfig::bucket,
                     std::optional(-1.0),
                     "bytes at which a bucket of collectives is full; 0: each "
                     "stays alone; -1: what the axes' links move in four "
                     "latencies, for each member (none without a latency)",
                     {}, -1));
}

/// [[precision]].
static void addPrecisionKeys(std::vector<Key> &keys) {
  keys.push_back(elementRow<PrecisionConfig, std::string>(
      "match", &PrecisionConfig::match, "",
      "glob over parameters; the first match counts for the contractions that "
      "read one or make its gradient"));
  keys.push_back(elementRow<PrecisionConfig, std::string>(
      "type", &PrecisionConfig::type, "f32",
      "the floats that these multiply, in place of training.precision",
      {"f32", "bf16", "f16", "fp8"}));
}

/// [loss].
static void addLossKeys(std::vector<Key> &keys) {
  keys.push_back(row("loss.kind", &Config::loss, &LossConfig::kind,
                     std::optional<std::string>("none"),
                     "a loss that is added to a result of the model: "
                     "cross-entropy against the token that comes next, or "
                     "against class numbers; or the mean square",
                     {"none", "next-token", "classification", "mse"}));
  keys.push_back(row("loss.output", &Config::loss, &LossConfig::output,
                     std::optional<std::string>(""),
                     "the result that it is a loss of (\"\": the only one of "
                     "floats); with none, the result that is the loss"));
  keys.push_back(row("loss.targets", &Config::loss, &LossConfig::targets,
                     std::optional<std::string>(""),
                     "a new input with what is to be predicted (default: "
                     "labels); with next-token, the input with the tokens "
                     "(default: the only one of integers)"));
}

/// [pipeline] and [training].
static void addTrainingKeys(std::vector<Key> &keys) {
  auto add = [&](Key key) { keys.push_back(std::move(key)); };
  add(row("pipeline.schedule", &Config::pipeline, &PipelineConfig::schedule,
          std::optional<std::string>("1f1b"),
          "1f1b, gpipe, interleaved, or a .csv file: a line of cells for each "
          "stage"));
  add(row("pipeline.chunks", &Config::pipeline, &PipelineConfig::chunks,
          std::optional<int64_t>(1),
          "chunks of the model on each stage, for gpipe and interleaved", {},
          1));
  add(row("training.steps", &Config::training, &TrainingConfig::steps,
          std::optional<int64_t>(100), "optimizer steps", {}, 1));
  add(row("training.microbatches", &Config::training,
          &TrainingConfig::microbatches, std::optional<int64_t>(1),
          "microbatches of a step; the graph's batch is one of them, that of a "
          "whole step all",
          {}, 1));
  add(row("training.seed", &Config::training, &TrainingConfig::seed,
          std::optional<int64_t>(0), "of initial values and data order", {},
          0));
  add(row("training.evaluate_every", &Config::training,
          &TrainingConfig::evaluateEvery, std::optional<int64_t>(0),
          "steps between runs of the entry evaluate on held-out data; 0: none",
          {}, 0));
  add(row("training.evaluate_steps", &Config::training,
          &TrainingConfig::evaluateSteps, std::optional<int64_t>(0),
          "batches of each of them; 0: all that the held-out data has", {}, 0));
  add(row("training.max_norm", &Config::training, &TrainingConfig::maxNorm,
          std::optional(0.0), "clip gradients by global norm; 0: off", {}, 0));
  add(row("training.max_value", &Config::training, &TrainingConfig::maxValue,
          std::optional(0.0),
          "cut each element of a gradient to at most this size; 0: off", {},
          0));
  add(row("training.average", &Config::training, &TrainingConfig::average,
          std::optional(0.0),
          "keep an average of each parameter beside it, as the state "
          "<name>.average, which keeps this share of itself in a step, such as "
          "0.999, and takes the rest from the new parameter; 0: none",
          {}, 0));
  add(row("training.skip_not_finite", &Config::training,
          &TrainingConfig::skipNotFinite, std::optional(false),
          "leave parameters and optimizer states as they are in a step whose "
          "loss or gradient norm is not finite, and go on"));
  add(row("training.recompute", &Config::training, &TrainingConfig::recompute,
          std::optional<std::string>("none"),
          "none, all, or a number K: all but every K-th block"));
  add(row("training.regather", &Config::training, &TrainingConfig::regather,
          std::optional(false),
          "a parameter that was gathered for a block's forward is not kept for "
          "its backward, but gathered again"));
  add(row("training.reconvert", &Config::training, &TrainingConfig::reconvert,
          std::optional(false),
          "a parameter that is read in a narrower type is converted in each "
          "microbatch, rather than once in a step and kept through it"));
  add(row("training.parameters", &Config::training, &TrainingConfig::parameters,
          std::optional(std::vector<std::string>()),
          "globs over arguments with their roots (params.*) that are "
          "parameters; needed where it is not clear"));
  add(row("training.frozen", &Config::training, &TrainingConfig::frozen,
          std::optional(std::vector<std::string>()),
          "globs over parameters that training leaves as they are"));
  add(row("training.drop", &Config::training, &TrainingConfig::drop,
          std::optional(std::vector<std::string>()),
          "globs over results beside the loss that training leaves out"));
  add(row("training.module", &Config::training, &TrainingConfig::module,
          std::optional<std::string>("auto"),
          "what the text computes: a loss, which llmc derives; loss and "
          "gradients; a whole step, which returns its new states; auto: as its "
          "locations and donated arguments say",
          {"auto", "loss", "gradients", "step"}));
  add(mapRow("training.results.*", &Config::training, &TrainingConfig::results,
             "of a result, or all below it (result[0]['w']: 0.w, or 0 with "
             "others): loss, or the argument that it replaces or whose "
             "gradient it is; needed where it is not clear"));
  add(row("training.precision", &Config::training, &TrainingConfig::precision,
          std::optional<std::string>("model"),
          "model: as in the text; f64: widen all floats; bf16, f16: "
          "contractions multiply floats of this type and add up in f32; fp8: "
          "they multiply e4m3, and cotangents of e5m2, with a scale for each "
          "tensor",
          {"model", "f64", "bf16", "f16", "fp8"}));
  add(row("training.fp8_scaling", &Config::training,
          &TrainingConfig::fp8Scaling, std::optional<std::string>("current"),
          "what gives the scale of a tensor of fp8: its own greatest element, "
          "or delayed: the greatest of the last microbatches, for all but "
          "weights and inputs",
          {"current", "delayed"}));
  add(row("training.fp8_history", &Config::training,
          &TrainingConfig::fp8History, std::optional<int64_t>(16),
          "microbatches to which delayed scales look back", {}, 1));
  add(row("training.fp8_margin", &Config::training, &TrainingConfig::fp8Margin,
          std::optional<int64_t>(0),
          "powers of two between the greatest element of a tensor of fp8 and "
          "the largest number of the type",
          {}, 0));
  add(row(
      "training.rounding", &Config::training, &TrainingConfig::rounding,
      std::optional<std::string>("nearest"),
      "of parameters of bf16 and f16 in the update, which is computed in "
      "f32: to nearest, or stochastic: up or down by chance, by bits of seed, "
      "step, name and place",
      {"nearest", "stochastic"}));
  add(row("training.saved", &Config::training, &TrainingConfig::saved,
          std::optional<std::string>("as computed"),
          "what is kept for the backward beside factors of contractions: as "
          "computed, or narrow: in training.precision, where products, norms "
          "and activations alone read it",
          {"as computed", "narrow"}));
  add(row("training.loss_scale", &Config::training, &TrainingConfig::lossScale,
          std::optional(0.0),
          "power of two by which the loss is multiplied before it is derived; "
          "halved, and the step skipped, where a gradient is not finite; 0: "
          "65536 with the precision f16, else none",
          {}, 0));
  add(row("training.loss_scale_steps", &Config::training,
          &TrainingConfig::lossScaleSteps, std::optional<int64_t>(2000),
          "steps without a skipped one after which the scale doubles", {}, 1));
  add(row("training.loss", &Config::training, &TrainingConfig::loss,
          std::optional<std::string>("exact"),
          "of a step: exact, as of one batch of all microbatches, or the mean "
          "of theirs, which differs where samples are compared",
          {"exact", "mean of microbatches"}));
  add(row("training.raise", &Config::training, &TrainingConfig::raise,
          std::optional(true), "recognise structured ops such as losses"));
  add(row("training.attention", &Config::training, &TrainingConfig::attention,
          std::optional<std::string>("auto"),
          "whole: its scores are never stored; products, whose scores are kept "
          "for the backward; auto: whole, but on GPUs products where factors "
          "are narrower than f32 and have more than 128 elements of depth or "
          "values, unless cuDNN is asked for and has them",
          {"auto", "whole", "products"}));
  add(row("training.unroll", &Config::training, &TrainingConfig::unroll,
          std::optional(false),
          "copy the ops of loops for each trip, where they would stay loops"));
  add(row("training.derivative", &Config::training, &TrainingConfig::derivative,
          std::optional<std::string>("of jax"),
          "of jax: refuse a function with a custom_jvp or custom_vjp; of the "
          "text: derive its ops as printed",
          {"of jax", "of the text"}));
}

const std::vector<Key> &llmc::rt::config::keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> keys;
    addInputKeys(keys);
    addWeightKeys(keys);
    addLayoutKeys(keys);
    addPrecisionKeys(keys);
    addOptimizerKeys(keys);
    addLossKeys(keys);
    addTrainingKeys(keys);
    keys.push_back(extendsRow());
    return keys;
  }();
  return table;
}

size_t llmc::rt::config::countOf(const Key &key, const Config &config) {
  auto isIn = [&](const char *array) {
    return key.name.rfind(std::string(array) + "[].", 0) == 0;
  };
  if (isIn(Array<InitConfig>::name)) {
    return config.init.size();
  }
  if (isIn(Array<LayoutConfig>::name)) {
    return config.layout.size();
  }
  if (isIn(Array<PrecisionConfig>::name)) {
    return config.precision.size();
  }
  if (isIn(Array<GroupConfig>::name)) {
    return config.group.size();
  }
  if (isIn(Array<WeightNameConfig>::name)) {
    return config.weights.size();
  }
  return isIn(Array<LinkConfig>::name) ? config.machine.links.size() : 0;
}

const Key *llmc::rt::config::findKey(std::string_view name) {
  for (const Key &key : keys()) {
    if (key.name == name) {
      return &key;
    }
  }
  return nullptr;
}

/// The part of `text` before the first dot at or after `from`.
static std::string_view wordAt(std::string_view text, size_t from) {
  return text.substr(from, text.find('.', from) - from);
}

std::pair<const Key *, Slot>
llmc::rt::config::matchKey(const std::string &name) {
  if (const Key *key = findKey(name)) {
    return {key, {}};
  }
  for (const Key &key : keys()) {
    Slot slot;
    size_t k = 0, n = 0;
    while (k < key.name.size() && n < name.size()) {
      std::string_view pattern = wordAt(key.name, k);
      bool isLast = k + pattern.size() == key.name.size();
      // The name of a value may have dots itself.
      std::string_view word = pattern == "*" && isLast
                                  ? std::string_view(name).substr(n)
                                  : wordAt(name, n);
      if (pattern == "*") {
        (isLast ? slot.name : slot.table) = word;
      } else if (pattern != word) {
        break;
      }
      k += pattern.size() + 1;
      n += word.size() + 1;
    }
    if (k == key.name.size() + 1 && n == name.size() + 1) {
      return {&key, slot};
    }
  }
  return {nullptr, {}};
}
