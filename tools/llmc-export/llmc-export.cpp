//===- llmc-export.cpp - A checkpoint as one file of weights --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-export out/ -o weights.safetensors
//
// Exit codes: the kind of the error (0 ok, 2 usage, 3 malformed, 14 no whole
// checkpoint or no room).
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Help.h"
#include "llmc/Runtime/Base/StopSignals.h"
#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Checkpoint/Export.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <unistd.h>

using namespace llmc::rt;

static int report(const Status &status) {
  std::fflush(stdout);
  fmt::print(stderr, "llmc-export: error[{}]: {}\n", kindName(status.kind()),
             describe(status.error()));
  return exitCode(status.kind());
}

int main(int argc, char **argv) {
  StopSignals::take();
  CLI::App app("Writes the tensors of a checkpoint into one safetensors file.",
               "llmc-export");
  app.set_version_flag("--version", fmt::format("llmc-export {}", version));
  app.footer(printHelpTail(
      {{"llmc-export out -o weights.safetensors",
        "llmc-export out/step-100 --averages -o averages.safetensors"},
       {ErrorKind::usage, ErrorKind::malformed, ErrorKind::noCheckpoint},
       "after a signal n, at once",
       "docs/checkpoints.md"}));
  std::string checkpoint, output;
  bool everything = false, averages = false;
  app.add_option("checkpoint", checkpoint,
                 "A checkpoint, or a folder of them: the newest whole one")
      ->required();
  app.add_option("-o", output, "The file")->required();
  CLI::Option *all = app.add_flag(
      "--all", everything,
      "With optimizer states and what else llmc keeps between steps");
  app.add_flag("--averages", averages,
               "The average of each parameter in its place, where "
               "'training.average' kept one")
      ->excludes(all);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return error.get_exit_code() == 0
               ? app.exit(error)
               : report(makeError(ErrorKind::usage, error.what()));
  }
  StopSignals::setCleanup([&output] {
    std::remove(fmt::format("{}.writing-{}", output, ::getpid()).c_str());
  });
  ExportedStates states = everything ? ExportedStates::all
                          : averages ? ExportedStates::averages
                                     : ExportedStates::model;
  Result<Exported> done = exportCheckpoint(checkpoint, output, states);
  StopSignals::setCleanup({});
  if (!done) {
    return report(done.status());
  }
  fmt::print("{}: {} tensors of {}, after {} steps, {} B\n", output,
             done->tensors, done->checkpoint, done->step, done->bytes);
  return 0;
}
