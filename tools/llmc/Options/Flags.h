//===- Flags.h - The flags of llmc, as its help shows them ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands, and flags about the program. Numbers are text here: errors are
// reported in one place, as one line. Each text says what the flag does, its
// unit where it has one, and its default; docs/commands.md shows all.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_FLAGS_H
#define LLMC_TOOLS_LLMC_FLAGS_H

#include "llvm/Support/CommandLine.h"
#include <string>

namespace llmc::driver {
namespace cl = llvm::cl;

/// The commands that have a flag, and the group in which help shows it.
struct In {
  cl::OptionCategory *category;
  llvm::ArrayRef<cl::SubCommand *> commands;

  void apply(cl::Option &option) const {
    option.addCategory(*category);
    for (cl::SubCommand *command : commands)
      option.addSubCommand(*command);
  }
};

struct Commands {
  cl::OptionCategory category{"llmc options"};
  cl::SubCommand train{"train", "compile a model and train it"};
  cl::SubCommand compile{"compile", "compile a model to a plan, or to the IR "
                                    "after a phase"};
  cl::SubCommand run{"run", "run a plan"};
  cl::SubCommand interpret{"interpret", "evaluate a program without kernels"};
  cl::SubCommand inspect{"inspect", "print a plan"};
  cl::SubCommand ops{"ops", "list the ops of a model, what llmc lacks first"};
  cl::SubCommand explain{"explain",
                         "say what a plan needs and moves, where and "
                         "why"};
  cl::SubCommand diff{"diff", "find the first value in which the devices "
                              "differ from one device"};
  cl::SubCommand init{"init", "write a configuration to begin with"};

  /// Those that compile a model by a configuration.
  cl::SubCommand *configured[5] = {&train, &compile, &interpret, &explain,
                                   &diff};
  /// Those that run a plan, and those that run a program in any way.
  cl::SubCommand *running[2] = {&train, &run};
  cl::SubCommand *evaluating[3] = {&train, &run, &interpret};
  cl::SubCommand *fed[4] = {&train, &run, &interpret, &diff};

  In inConfigured{&category, configured}, inRunning{&category, running},
      inEvaluating{&category, evaluating}, inFed{&category, fed};
};

/// Of a model and of what is made of it.
struct ModelFlags : Commands {
  cl::opt<std::string> input{
      cl::Positional,     cl::cat(category),          cl::Required,
      cl::sub(train),     cl::sub(compile),           cl::sub(run),
      cl::sub(interpret), cl::sub(explain),           cl::sub(diff),
      cl::sub(init),      cl::desc("<model or plan>")};
  cl::list<std::string> inspected{cl::Positional, cl::cat(category),
                                  cl::OneOrMore, cl::sub(inspect),
                                  cl::desc("[plan] <file>")};
  cl::opt<std::string> listed{cl::Positional, cl::cat(category), cl::sub(ops),
                              cl::desc("<model>")};
  cl::opt<std::string> config{
      "config", inConfigured, cl::value_desc("file"),
      cl::desc("configuration in TOML: mesh, data, layouts, optimizer, "
               "training\n(default: none, each key has its own)")};
  cl::list<std::string> set{
      "set", inConfigured, cl::value_desc("key=value"),
      cl::desc("a key of the configuration; repeatable\n(default: that of the "
               "file)")};
  cl::opt<std::string> mesh{
      "mesh", inConfigured, cl::value_desc("axis=size,..."),
      cl::desc("devices along each axis, as data=2,tensor=2\n(default: 1 along "
               "each)")};
  cl::opt<std::string> machine{
      "machine", inConfigured, cl::value_desc("file"),
      cl::desc("TOML with [machine]: memory, flops and links of devices\n"
               "(default: that of the configuration)")};
  cl::opt<std::string> weights{
      "weights", inConfigured, cl::value_desc("file"),
      cl::desc("initial parameters: a safetensors file, or a checkpoint\n"
               "(default: drawn by [[init]], or those of an .onnx file)")};
  cl::list<std::string> dims{
      "dim",
      cl::cat(category),
      cl::sub(train),
      cl::sub(compile),
      cl::sub(interpret),
      cl::sub(explain),
      cl::sub(diff),
      cl::sub(init),
      cl::value_desc("name=size"),
      cl::desc("size of a symbolic dimension of an .onnx file; repeatable\n"
               "(default: none, each that the file leaves open is asked for)")};
  cl::opt<std::string> output{
      "o",
      cl::cat(category),
      cl::sub(compile),
      cl::sub(init),
      cl::value_desc("path"),
      cl::desc("folder of the plan, or file of a phase's IR or of a "
               "configuration;\n- is the standard output (required)")};
  cl::opt<std::string> target{
      "target",
      cl::cat(category),
      cl::sub(compile),
      cl::sub(explain),
      cl::value_desc("target"),
      cl::init("cpu"),
      cl::desc("what kernels are compiled for: cpu, cuda:sm_80 or cuda:sm_90;\n"
               "cuda:sm_90+cudnn leaves to cuDNN what it has (default: cpu)")};
  cl::opt<std::string> device{
      "device",
      cl::cat(category),
      cl::sub(train),
      cl::value_desc("device"),
      cl::init("cpu"),
      cl::desc(
          "what the model is trained on: cpu, or cuda, the GPUs that this\n"
          "machine has; cuda+cudnn leaves to cuDNN what it has\n"
          "(default: cpu)")};
  cl::opt<std::string> compileTo{
      "compile-to",
      cl::cat(category),
      cl::sub(compile),
      cl::value_desc("phase"),
      cl::init("plan"),
      cl::desc("stop after import, training, layouts, materialized, local,\n"
               "scheduled, memory, kernels, ordered or plan (default: plan)")};
  cl::opt<std::string> compileFrom{
      "compile-from",
      cl::cat(category),
      cl::sub(compile),
      cl::sub(interpret),
      cl::value_desc("phase"),
      cl::desc("the input is the IR after this phase (default: a model)")};
  cl::opt<std::string> threads{
      "threads",
      cl::cat(category),
      cl::sub(train),
      cl::sub(compile),
      cl::sub(run),
      cl::init("0"),
      cl::value_desc("count"),
      cl::desc("threads of each device (default: 0, the processor's, divided "
               "by the devices)")};
  cl::opt<std::string> kernelCache{
      "kernel-cache",
      cl::cat(category),
      cl::sub(train),
      cl::sub(compile),
      cl::value_desc("folder"),
      cl::desc("keep compiled kernels here, and take those of before\n"
               "(default: $LLMC_KERNEL_CACHE, or none)")};
  cl::opt<std::string> kernelEffort{
      "kernel-effort",
      cl::cat(category),
      cl::sub(train),
      cl::sub(compile),
      cl::value_desc("effort"),
      cl::desc(
          "full, or quick: compiled in a fraction of the time, slower, with\n"
          "the same bits (default: $LLMC_KERNEL_EFFORT, or full)")};
  cl::opt<bool> printConfig{
      "print-config", cl::cat(category), cl::sub(train), cl::sub(compile),
      cl::desc("print every key with its value and origin, and stop")};
  cl::opt<std::string> forms{
      "forms",
      cl::cat(category),
      cl::sub(train),
      cl::sub(compile),
      cl::value_desc("file"),
      cl::desc("table of which of the library's ways to compute is fastest\n"
               "here; what it lacks is measured and added\n(default: none, the "
               "library's first way)")};
  cl::opt<std::string> remarks{
      "remarks", cl::cat(category), cl::sub(compile), cl::value_desc("file"),
      cl::desc("gets a line for all that is gathered, replicated and padded,\n"
               "and for layouts in conflict, with bytes and place (default: "
               "none)")};
  cl::opt<bool> timing{
      "timing", cl::cat(category), cl::sub(compile),
      cl::desc("print the time of each pass, and the peak of memory")};
  cl::opt<std::string> strict{
      "strict",
      cl::cat(category),
      cl::sub(train),
      cl::sub(compile),
      cl::sub(explain),
      cl::value_desc("list"),
      cl::desc("what is an error (code 1), out of replicate, gather, pad, "
               "conflict\n(default: none)")};
  cl::opt<bool> json{"json", cl::cat(category), cl::sub(inspect), cl::sub(ops),
                     cl::desc("print as JSON")};
  cl::opt<bool> known{
      "known", cl::cat(category), cl::sub(ops),
      cl::desc("all ops that llmc knows, and what it has of each, in place of "
               "a model's")};
  cl::opt<std::string> value{
      "value", cl::cat(category), cl::sub(explain), cl::value_desc("glob"),
      cl::desc("the layouts of these values, or of those of a line of a file, "
               "and where they come from\n"
               "(default: a summary of the plan)")};
  cl::opt<bool> all{"all", cl::cat(category), cl::sub(explain),
                    cl::desc("print every line, where a section is cut short")};
  cl::opt<std::string> tolerance{
      "tolerance",
      cl::cat(category),
      cl::sub(diff),
      cl::init("1e-4"),
      cl::value_desc("number"),
      cl::desc("difference that counts, relative to the largest element\n"
               "(default: 1e-4)")};
  cl::opt<std::string> errorFile{
      "error-file", cl::cat(category), cl::sub(cl::SubCommand::getAll()),
      cl::value_desc("file"),
      cl::desc("gets the error as JSON: kind, code, cause, file, place, hint\n"
               "(default: none)")};
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_FLAGS_H
