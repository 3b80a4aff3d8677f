//===- Help.cpp - What ends the help of a command of llmc -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Docs/commands.test
//===----------------------------------------------------------------------===//

#include "Help.h"
#include "llmc/Runtime/Base/Help.h"

using namespace llmc;
using rt::ErrorKind;
using rt::HelpTail;

static constexpr const char *kStops =
    "after a signal n: at once, or after the step and its checkpoint";

/// What ends a compilation.
static std::vector<ErrorKind>
withCompilation(std::initializer_list<ErrorKind> more = {}) {
  std::vector<ErrorKind> kinds = {ErrorKind::diagnosed, ErrorKind::usage,
                                  ErrorKind::malformed, ErrorKind::infeasible,
                                  ErrorKind::unsupported};
  kinds.insert(kinds.end(), more);
  kinds.push_back(ErrorKind::internal);
  return kinds;
}

static HelpTail describeTrain() {
  return {{"llmc train model.mlir --config model.toml",
           "llmc train model.onnx --config model.toml --mesh data=2,tensor=2 "
           "--steps 50 --log run.jsonl",
           "llmc train model.mlir --config model.toml --checkpoint out "
           "--checkpoint-every 10m --resume"},
          withCompilation({ErrorKind::timeout, ErrorKind::outOfMemory,
                           ErrorKind::numeric, ErrorKind::noCheckpoint,
                           ErrorKind::mismatch}),
          kStops,
          "docs/configuration.md, docs/systems.md, docs/recipes.md, "
          "docs/data.md, docs/checkpoints.md, docs/seeing.md",
          true};
}

static HelpTail describeCompile() {
  return {{"llmc compile model.mlir --config model.toml --mesh "
           "pipe=2,data=2,tensor=2 -o plan",
           "llmc compile model.mlir --config model.toml --compile-to=layouts "
           "-o -",
           "llmc compile after.mlir --compile-from=training -o plan"},
          withCompilation(),
          nullptr,
          "docs/walkthrough.md, docs/architecture.md, docs/write-a-pass.md"};
}

static HelpTail describeRun() {
  return {{"llmc run plan --data corpus.bin --steps 50",
           "llmc run plan --entry evaluate --data x=test.npy"},
          {ErrorKind::usage, ErrorKind::malformed, ErrorKind::timeout,
           ErrorKind::outOfMemory, ErrorKind::numeric, ErrorKind::noCheckpoint,
           ErrorKind::mismatch, ErrorKind::internal},
          kStops,
          "docs/plan-format.md, docs/data.md, docs/checkpoints.md; llmc-run "
          "does the same without the compiler, in several processes too",
          true};
}

static HelpTail describeInterpret() {
  return {{"llmc interpret model.mlir --config model.toml --steps 2",
           "llmc interpret model.mlir --config model.toml --mesh data=2 "
           "--check"},
          withCompilation({ErrorKind::numeric}),
          nullptr,
          "lib/Interpreter/README.md, docs/explain.md"};
}

static HelpTail describeInspect() {
  return {{"llmc inspect plan", "llmc inspect plan --json"},
          {ErrorKind::usage, ErrorKind::malformed, ErrorKind::mismatch},
          nullptr,
          "docs/plan-format.md"};
}

static HelpTail describeOps() {
  return {
      {"llmc ops model.mlir", "llmc ops model.onnx --json", "llmc ops --known"},
      {ErrorKind::usage, ErrorKind::malformed, ErrorKind::unsupported},
      nullptr,
      "docs/ops.md, docs/errors.md"};
}

static HelpTail describeExplain() {
  return {{"llmc explain model.mlir --config model.toml --mesh data=2,tensor=2",
           "llmc explain model.mlir --config model.toml --mesh tensor=2 "
           "--value 'blocks.0.*'"},
          withCompilation(),
          nullptr,
          "docs/explain.md, docs/layout-algebra.md"};
}

static HelpTail describeDiff() {
  return {{"llmc diff model.mlir --config model.toml --mesh tensor=2",
           "llmc diff model.mlir --config model.toml --mesh tensor=2 --steps 1 "
           "--tolerance 1e-6"},
          withCompilation({ErrorKind::numeric}),
          nullptr,
          "docs/explain.md"};
}

static HelpTail describeInit() {
  return {{"llmc init model.mlir -o model.toml",
           "llmc init model.onnx --dim batch=8 -o -"},
          withCompilation(),
          nullptr,
          "docs/tutorial.md, docs/configuration.md"};
}

static HelpTail describeAll() {
  return {
      {"llmc init model.mlir -o model.toml",
       "llmc train model.mlir --config model.toml --mesh data=2,tensor=2",
       "llmc train --help"},
      {ErrorKind::diagnosed, ErrorKind::usage, ErrorKind::malformed,
       ErrorKind::infeasible, ErrorKind::unsupported, ErrorKind::peerLost,
       ErrorKind::timeout, ErrorKind::outOfMemory, ErrorKind::numeric,
       ErrorKind::noCheckpoint, ErrorKind::mismatch, ErrorKind::internal},
      kStops,
      "docs/tutorial.md, docs/commands.md, docs/errors.md. Other tools, as "
      "'llmc <tool>' or\nby their own names: llmc launch, llmc doctor, llmc "
      "export, llmc report; llmc-opt, llmc-run"};
}

std::string driver::describeCommand(llvm::StringRef command) {
  static constexpr std::pair<llvm::StringLiteral, HelpTail (*)()> commands[] = {
      {"train", describeTrain},     {"compile", describeCompile},
      {"run", describeRun},         {"interpret", describeInterpret},
      {"inspect", describeInspect}, {"ops", describeOps},
      {"explain", describeExplain}, {"diff", describeDiff},
      {"init", describeInit}};
  for (auto [name, describe] : commands)
    if (name == command)
      return rt::printHelpTail(describe());
  return rt::printHelpTail(describeAll());
}
