//===- Options.h - The command line of llmc ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each subcommand reads what it needs of one struct; flags that several share
// are declared once in Options.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_OPTIONS_H
#define LLMC_TOOLS_LLMC_OPTIONS_H

#include "llmc/Codegen/KernelEffort.h"
#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Config/Config.h"
#include "llmc/Runtime/Executor/Checkpointing.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llmc::import {
struct Graph;
} // namespace llmc::import

namespace llmc::driver {

enum class Command {
  train,
  compile,
  run,
  interpret,
  inspect,
  ops,
  explain,
  diff,
  init
};

struct Options {
  Command command = Command::train;
  /// As typed, quoted for a shell: what a report needs.
  std::string commandLine;
  /// The model or, for `run` and `inspect`, the plan.
  std::string input;
  std::string config;
  std::vector<rt::Override> overrides;
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// A file with [machine] in place of the configuration's.
  std::string machine;
  std::string weights;
  /// Sizes of symbolic dimensions.
  std::vector<std::pair<std::string, int64_t>> dims;
  /// `compile`: the plan's folder, or the file of an unfinished phase.
  std::string output;
  std::string compileTo = "plan";
  std::string compileFrom;
  std::string entry = "train";
  int64_t steps = -1;
  int threads = 0;
  /// What kernels are compiled for; see codegen::CodeTarget.
  std::string target = "cpu";
  /// `file`, or `source=file`; globs, and several with commas between.
  std::vector<std::string> data, evaluateData;
  /// `run`: training.evaluate_every and training.evaluate_steps.
  int64_t evaluateEvery = 0, evaluateSteps = 0;
  std::string dataType;
  std::string log;
  /// See RunOptions.
  std::string events, tensorboard;
  /// Of the run; see RunOptions::traceFile.
  std::string trace;
  std::vector<std::string> fetch;
  bool fetchEachStep = false;
  /// Print what devices communicated, and compare it with the plan.
  bool count = false;
  /// `interpret`: compare the devices with the whole program.
  bool check = false;
  std::string dump;
  rt::CheckpointOptions checkpoints;
  double spike = 0;
  int64_t rollBack = 0;
  std::string errorFile;
  /// A folder with kernels compiled before; empty for none.
  std::string kernelCache;
  codegen::KernelEffort kernelEffort = codegen::KernelEffort::full;
  bool printConfig = false, json = false, trustKernels = false;
  /// `compile`: a file of what the program costs; empty for none.
  std::string remarks;
  /// `train`: explain the plan before the first step.
  bool explain = false;
  /// `explain`: a glob over values; empty for all of the plan.
  std::string value;
  /// `ops`: all that llmc knows, in place of those of a model.
  bool known = false;
  /// `explain`: no section is cut short.
  bool all = false;
  /// What remarks are errors: replicate, gather, pad, conflict.
  std::vector<std::string> strict;
  /// `diff`: relative to the largest element.
  double tolerance = 1e-4;
  /// `compile`, `train`: a table of the library's forms, which is added to;
  /// empty: each call has the library's first form.
  std::string forms;
  /// See import::Options.
  std::function<void(const import::Graph &)> seeGraph;
  /// `compile`: print what each pass takes.
  bool timing = false;
};

/// What the environment says where flags do not: LLMC_KERNEL_CACHE and
/// LLMC_KERNEL_EFFORT; 2 (usage) on errors.
rt::Status readEnvironment(Options &options);

/// Fills `options` from the command line; 2 (usage) on errors. `--help` and
/// `--version` print and exit.
rt::Status parseCommandLine(int argc, char **argv, Options &options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_OPTIONS_H
