//===- llmc-launch.cpp - Starts the processes of a job on this machine ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-launch -n 4 -- llmc-run plan --data corpus.bin --steps 50
//
// The exit code is that of the process that failed first; 128 + n after a
// signal n.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Job/Launch.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>

using namespace llmc::rt;

namespace {
std::atomic<int> received{0};

void onSignal(int signal) { received = signal; }

int report(std::string_view kind, const std::string &cause, int code) {
  std::fflush(stdout);
  fmt::print(stderr, "llmc-launch: error[{}]: {}\n", kind, cause);
  return code;
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Starts the processes of a job on this machine.", "llmc-launch");
  app.set_version_flag("--version", fmt::format("llmc-launch {}", version));
  LaunchOptions options;
  app.add_option("-n,--processes", options.processes, "Number of processes")
      ->required();
  app.add_option("--port", options.port,
                 "At which process 0 listens (0: one that is free)")
      ->check(CLI::Range(0, 65535));
  app.add_option("command", options.command,
                 "After --: the program and its arguments")
      ->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return error.get_exit_code() == 0
               ? app.exit(error)
               : report("usage", error.what(), exitCode(ErrorKind::usage));
  }
  std::signal(SIGTERM, onSignal);
  std::signal(SIGINT, onSignal);
  options.signal = &received;
  Result<LaunchResult> ended = launch(options);
  if (!ended.ok()) {
    return report(kindName(ended.kind()), describe(ended.error()),
                  exitCode(ended.kind()));
  }
  return ended->code == 0 ? 0 : report("launch", ended->cause, ended->code);
}
