//===- RunFlags.h - The flags of runs, as their help shows them -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data, what is printed and written, and checkpoints. See Flags.h.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_RUNFLAGS_H
#define LLMC_TOOLS_LLMC_RUNFLAGS_H

#include "Flags.h"

namespace llmc::driver {

struct RunFlags : ModelFlags {
  cl::opt<std::string> entry{
      "entry",
      cl::cat(category),
      cl::sub(train),
      cl::sub(run),
      cl::sub(interpret),
      cl::sub(explain),
      cl::value_desc("name"),
      cl::init("train"),
      cl::desc("train, evaluate or forward (default: train)")};
  cl::opt<std::string> steps{
      "steps", inFed, cl::value_desc("count"), cl::init("-1"),
      cl::desc("number of steps (default: training.steps; of a plan 1, of "
               "diff 2)")};
  cl::list<std::string> data{
      "data", inFed, cl::value_desc("[source=]file,..."),
      cl::desc("files and globs of a source, or of all; repeatable\n(default: "
               "those of the configuration)")};
  cl::list<std::string> evaluateData{
      "evaluate-data", inEvaluating, cl::value_desc("[source=]file,..."),
      cl::desc("the same for the entry evaluate alone (default: as --data)")};
  cl::opt<std::string> evaluateEvery{
      "evaluate-every",
      cl::cat(category),
      cl::sub(run),
      cl::init("0"),
      cl::value_desc("steps"),
      cl::desc("evaluate on held-out data after so many steps (default: 0, "
               "never)")};
  cl::opt<std::string> evaluateSteps{
      "evaluate-steps",
      cl::cat(category),
      cl::sub(run),
      cl::init("0"),
      cl::value_desc("batches"),
      cl::desc("batches of an evaluation (default: 0, all)")};
  cl::opt<std::string> dataType{
      "data-type", inFed, cl::value_desc("type"),
      cl::desc("type of raw tokens: u8, u16, u32, i32 or i64\n(default: that "
               "of the configuration, or of the plan)")};
  cl::opt<std::string> log{
      "log", inEvaluating, cl::value_desc("file"),
      cl::desc("a JSON line for each step (default: none)")};
  cl::opt<std::string> events{
      "events", inRunning, cl::value_desc("file"),
      cl::desc("a JSON line for all that happens (default: none)")};
  cl::opt<std::string> tensorboard{
      "tensorboard", inRunning, cl::value_desc("folder"),
      cl::desc("gets a file of numbers for TensorBoard (default: none)")};
  cl::opt<std::string> trace{
      "trace", inRunning, cl::value_desc("file"),
      cl::desc("when each instruction ran, in microseconds, for Perfetto or\n"
               "Chrome (default: none)")};
  cl::list<std::string> fetch{
      "fetch", inEvaluating, cl::value_desc("name,..."), cl::CommaSeparated,
      cl::desc("values to print after the last step, or to dump: names and "
               "globs\n(default: none)")};
  cl::opt<bool> fetchEachStep{
      "fetch-each-step", inEvaluating,
      cl::desc("fetch after each step, as step-<n>.<name>")};
  cl::opt<std::string> dump{
      "dump", inEvaluating, cl::value_desc("folder"),
      cl::desc("gets what is fetched as .npy files (default: none, it is "
               "printed)")};
  cl::opt<bool> count{"count", inRunning,
                      cl::desc("count the bytes that devices communicate, and "
                               "compare with the plan")};
  cl::opt<bool> check{"check", cl::cat(category), cl::sub(interpret),
                      cl::desc("compare the devices of --mesh with the whole "
                               "program")};
  cl::opt<bool> explained{"explain", cl::cat(category), cl::sub(train),
                          cl::desc("before the first step what llmc explain "
                                   "prints")};
  cl::opt<bool> trustKernels{
      "trust-kernels", cl::cat(category), cl::sub(run),
      cl::desc("load kernels that others own or may write")};
  cl::opt<std::string> checkpoint{
      "checkpoint", inRunning, cl::value_desc("folder"),
      cl::desc("of checkpoints: one at the end, and after a signal (default: "
               "none)")};
  cl::opt<std::string> checkpointEvery{
      "checkpoint-every", inRunning, cl::value_desc("interval"),
      cl::desc("one after so many steps (100), or minutes (10m)\n(default: at "
               "the end alone)")};
  cl::opt<std::string> checkpointKeep{
      "checkpoint-keep", inRunning, cl::value_desc("count"), cl::init("2"),
      cl::desc("how many of the newest stay; 0: all (default: 2)")};
  cl::opt<std::string> checkpointBest{
      "checkpoint-best", inRunning, cl::value_desc("metric"),
      cl::desc("the one with the least value of this metric stays too\n"
               "(default: none)")};
  cl::opt<bool> checkpointBackground{
      "checkpoint-background", inRunning,
      cl::desc("write while the next steps run")};
  cl::opt<std::string> checkpointMemory{
      "checkpoint-memory", inRunning, cl::value_desc("bytes"),
      cl::desc("with --checkpoint-background: bytes that may wait in memory\n"
               "(default: 1073741824)")};
  cl::opt<bool> resume{
      "resume", inRunning,
      cl::desc("go on from the newest whole checkpoint of the folder")};
  cl::opt<double> spike{
      "spike", inRunning, cl::value_desc("factor"), cl::init(0),
      cl::desc("a loss of so many times the median of the last 32 ends the\n"
               "run, as NaN does (default: 0, none does)")};
  cl::opt<unsigned> rollBack{
      "roll-back", inRunning, cl::value_desc("count"), cl::init(0),
      cl::desc("so many times, go back to a checkpoint instead, and leave out\n"
               "the samples since (default: 0)")};
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_RUNFLAGS_H
