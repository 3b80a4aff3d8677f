//===- Recipe.cpp - [training] and [pipeline] become dist.training --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Import/StableHLO/{schedule,optimizer}.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/ScheduleProblem.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/UpdateMarks.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Solvers/Schedules/ScheduleCsv.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// `recompute = "none" | "all" | "K"`, `regather` and `reconvert`.
static rt::Result<dist::RecomputeAttr>
parseRecompute(MLIRContext *context, const rt::TrainingConfig &training) {
  auto make = [&](dist::RecomputeKind kind, int64_t every) {
    return dist::RecomputeAttr::get(context, kind, every, training.regather,
                                    training.reconvert);
  };
  StringRef text = training.recompute;
  if (text == "none")
    return make(dist::RecomputeKind::None, 0);
  if (text == "all")
    return make(dist::RecomputeKind::All, 0);
  int64_t every = 0;
  if (text.getAsInteger(10, every) || every < 1)
    return rt::makeError(ErrorKind::usage,
                         "expected 'training.recompute' to be \"none\", "
                         "\"all\" or a number of blocks, got \"" +
                             text.str() + "\"");
  return make(dist::RecomputeKind::Every, every);
}

/// `schedule = "file.csv"`, or one of `getScheduleNames`.
static rt::Result<dist::ScheduleAttr>
parseSchedule(MLIRContext *context, const rt::PipelineConfig &pipeline) {
  const std::string &name = pipeline.schedule;
  constexpr int64_t mostChunks = 1024; // as #dist.schedule has them
  if (pipeline.chunks > mostChunks)
    return rt::makeError(ErrorKind::usage,
                         "expected 'pipeline.chunks' to be at most " +
                             std::to_string(mostChunks) + ", got " +
                             std::to_string(pipeline.chunks));
  Builder builder(context);
  DictionaryAttr options;
  if (pipeline.chunks > 1)
    options = builder.getDictionaryAttr(builder.getNamedAttr(
        "chunks", builder.getI64IntegerAttr(pipeline.chunks)));
  if (!StringRef(name).ends_with(".csv")) {
    if (llvm::is_contained(getScheduleNames(), name))
      return dist::ScheduleAttr::get(context, builder.getStringAttr(name),
                                     options, {});
    return rt::makeError(ErrorKind::usage,
                         "expected 'pipeline.schedule' to be " +
                             llvm::join(getScheduleNames(), ", ") +
                             " or a .csv file, got \"" + name + "\"");
  }
  if (options)
    return rt::makeError(ErrorKind::usage,
                         "expected no 'pipeline.chunks' beside a table, whose "
                         "cells name their chunks, got " +
                             std::to_string(pipeline.chunks));
  LLMC_TRY_ASSIGN(rt::MappedFile file, rt::MappedFile::open(name));
  Schedule schedule;
  if (std::string reason = readScheduleCsv(file.text(), schedule);
      !reason.empty())
    return rt::makeError(ErrorKind::usage, name + ": " + reason);
  return dist::ScheduleAttr::get(context, StringAttr::get(context, "file"), {},
                                 makeTable(context, schedule));
}

/// The table of a step has a cell for each microbatch, chunk and phase.
constexpr int64_t kMostMicrobatches = 65536;

/// A module that has its derivative leaves no choice of these.
static rt::Status checkDerived(func::FuncOp main, ModuleKind kind,
                               const rt::Config &config) {
  if (kind == ModuleKind::Loss)
    return rt::Status::success();
  std::string what = kind == ModuleKind::Step ? "a whole step" : "gradients";
  std::vector<std::string> fixed = {
      "training.recompute", "training.regather", "training.derivative",
      "training.loss_scale", "training.loss_scale_steps"};
  if (kind == ModuleKind::Step) {
    for (const char *key :
         {"optimizer.name", "optimizer.path", "training.max_norm",
          "training.max_value", "training.average", "training.skip_not_finite",
          "training.loss", "training.rounding"})
      fixed.push_back(key);
    for (size_t i = 0; i < config.group.size(); ++i)
      fixed.push_back("group[" + std::to_string(i) + "]");
    for (const auto &[name, value] : config.optimizer.constants)
      fixed.push_back("optimizer." + name);
    bool hasRate = static_cast<bool>(dist::Signature(main).findArgument(
        dist::PortKind::Hyper,
        FlatSymbolRefAttr::get(main.getContext(), "lr")));
    if (!hasRate)
      fixed.insert(fixed.end(), {"optimizer.lr", "schedule.name"});
  }
  for (const std::string &key : fixed)
    if (config.originOf(key) != "default")
      return rt::makeError(ErrorKind::usage,
                           config.originOf(key) + ": expected no '" + key +
                               "', which is part of the text, for a module "
                               "that returns " +
                               what);
  return rt::Status::success();
}

/// Null where the loss is not scaled. A module that has its derivative scales
/// its loss itself.
static rt::Result<DenseF64ArrayAttr>
getLossScale(MLIRContext *context, ModuleKind kind,
             const rt::TrainingConfig &training) {
  constexpr double ofHalves = 65536;
  double scale = training.lossScale;
  if (scale == 0 && training.precision == "f16" && kind == ModuleKind::Loss)
    scale = ofHalves;
  if (scale == 0)
    return DenseF64ArrayAttr();
  int exponent = 0;
  if (std::frexp(scale, &exponent) != 0.5 || scale < 1 || exponent > 64)
    return rt::makeError(ErrorKind::usage,
                         "expected 'training.loss_scale' to be a power of two "
                         "from 1 to 2^63, got " +
                             llvm::formatv("{0}", scale).str());
  return DenseF64ArrayAttr::get(
      context, {scale, static_cast<double>(training.lossScaleSteps)});
}

/// The type in which what the backward reads is kept.
static rt::Status markSaved(dist::TrainingOp training,
                            const rt::TrainingConfig &config) {
  if (config.saved != "narrow")
    return rt::Status::success();
  MLIRContext *context = training.getContext();
  Type type = getFloatType(context, config.precision);
  if (!type || type.getIntOrFloatBitWidth() > 16)
    return rt::makeError(ErrorKind::usage,
                         "expected 'training.precision' to be bf16, f16 or fp8 "
                         "beside 'training.saved' narrow, got \"" +
                             config.precision + "\"");
  // Floats of eight bits have scales, which factors alone have.
  if (type.getIntOrFloatBitWidth() == 8)
    type = BFloat16Type::get(context);
  training->setAttr(dist::kSavedPrecision, TypeAttr::get(type));
  return rt::Status::success();
}

/// Clipping by value, and averages of parameters.
static rt::Status markUpdate(dist::TrainingOp training,
                             const rt::TrainingConfig &config) {
  Builder builder(training.getContext());
  if (config.maxValue > 0 && config.maxNorm > 0)
    return rt::makeError(ErrorKind::usage,
                         "expected one of 'training.max_norm' and "
                         "'training.max_value', got both");
  if (config.average >= 1)
    return rt::makeError(ErrorKind::usage,
                         "expected 'training.average' to be below 1, got " +
                             llvm::formatv("{0}", config.average).str());
  if (config.maxValue > 0)
    training->setAttr(dist::kClipValue,
                      builder.getF64FloatAttr(config.maxValue));
  if (config.average > 0)
    training->setAttr(dist::kAverage, builder.getF64FloatAttr(config.average));
  return rt::Status::success();
}

rt::Status import::addRecipe(ModuleOp module, func::FuncOp main,
                             ModuleKind kind, const rt::Config &config) {
  MLIRContext *context = module.getContext();
  if (int64_t number = config.training.microbatches; number > kMostMicrobatches)
    return rt::makeError(ErrorKind::usage,
                         "expected 'training.microbatches' to be at most " +
                             std::to_string(kMostMicrobatches) + ", got " +
                             std::to_string(number));
  LLMC_TRY(checkDerived(main, kind, config));
  FlatSymbolRefAttr optimizer;
  if (kind == ModuleKind::Step) {
    main.setName("step.function");
  } else {
    LLMC_TRY_ASSIGN(optimizer, addOptimizers(module, config));
  }
  LLMC_TRY_ASSIGN(dist::RecomputeAttr recompute,
                  parseRecompute(context, config.training));
  LLMC_TRY_ASSIGN(dist::ScheduleAttr schedule,
                  parseSchedule(context, config.pipeline));
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  FloatAttr clip;
  if (config.training.maxNorm > 0)
    clip = builder.getF64FloatAttr(config.training.maxNorm);
  Location loc = module.getLoc();
  const rt::TrainingConfig &recipe = config.training;
  TypeAttr precision;
  if (Type type = getFloatType(context, recipe.precision))
    precision = TypeAttr::get(type);
  LLMC_TRY_ASSIGN(DenseF64ArrayAttr lossScale,
                  getLossScale(context, kind, recipe));
  auto flag = [&](bool isSet) {
    return isSet ? builder.getUnitAttr() : UnitAttr();
  };
  auto training = dist::TrainingOp::create(
      builder, loc, builder.getStringAttr("train"),
      FlatSymbolRefAttr::get(context, main.getName()), optimizer,
      builder.getI64IntegerAttr(recipe.microbatches), schedule, clip,
      TypeAttr(), recompute, precision,
      recipe.raise ? BoolAttr() : builder.getBoolAttr(false),
      flag(recipe.derivative == "of the text"), flag(recipe.loss != "exact"),
      flag(recipe.skipNotFinite), lossScale);
  if (recipe.rounding == "stochastic")
    training->setAttr(dist::kStochasticRounding, builder.getUnitAttr());
  if (recipe.attention != "auto")
    training->setAttr(dist::kAttention,
                      builder.getStringAttr(recipe.attention));
  LLMC_TRY(markUpdate(training, recipe));
  return markSaved(training, recipe);
}
