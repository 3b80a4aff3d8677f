//===- llmc-launch.cpp - Starts the processes of a job on a machine -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-launch -n 4 -- llmc-run plan --data corpus.bin --steps 50
//
// On two machines, with one secret of their own:
//
//   LLMC_TOKEN=... llmc-launch -n 4 --nnodes 2 --node-rank 0 \
//       --master-addr 10.0.0.1 --master-port 29400 -- llmc-run ...
//   LLMC_TOKEN=... llmc-launch -n 4 --nnodes 2 --node-rank 1 ...
//
// After a process was killed, go on with fewer from the newest checkpoint:
//
//   llmc-launch -n 4 --max-restarts 3 --elastic 2,1
//       --prepare 'llmc compile gpt.mlir --config gpt.toml --mesh data={n} -o
//       plan-{n}' -- llmc-run plan-{n} --checkpoint out --checkpoint-every 50
//
// The exit code is that of the process that failed first; 128 + n after a
// signal n.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Help.h"
#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Job/Launch.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

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
  app.footer(printHelpTail(
      {{"llmc-launch -n 4 -- llmc-run plan --data corpus.bin --steps 50",
        "LLMC_TOKEN=... llmc-launch -n 4 --nnodes 2 --node-rank 0 "
        "--master-addr 10.0.0.1 --master-port 29400 -- llmc-run plan ..."},
       {ErrorKind::usage, ErrorKind::outOfMemory, ErrorKind::noCheckpoint},
       "after a signal n to it or to a process; else the code of the process "
       "that failed first",
       "docs/checkpoints.md, docs/errors.md"}));
  LaunchOptions options;
  app.add_option("-n,--processes", options.processes,
                 "Number of processes on this machine")
      ->required();
  app.add_option("--nnodes", options.nodes, "Machines of the job")
      ->capture_default_str();
  app.add_option("--node-rank", options.nodeRank, "Which this machine is")
      ->capture_default_str();
  app.add_option("--master-addr", options.address,
                 "Address of node 0, as the others reach it")
      ->capture_default_str();
  app.add_option("--master-port,--port", options.port,
                 "At which process 0 listens (0, with one machine: one that is "
                 "free)")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  app.add_option("--max-restarts", options.restarts,
                 "How often all processes are started again after one was "
                 "lost; with --checkpoint they go on from the newest")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--elastic", options.fewer,
                 "Numbers of processes for restarts, as 4,2,1: the largest "
                 "that does without those that were killed (default: always "
                 "as many)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--prepare", options.prepare,
                 "A shell command before the first start and when the number "
                 "has changed; {n} in it and in the command is the number "
                 "(default: none)");
  app.add_option("--logs", options.logs,
                 "A folder with a file of all lines of each process, "
                 "process-00001.log, but for the output of process 0, which is "
                 "the job's own (default: none)");
  double stopped = 60;
  app.add_option("--stopped", stopped,
                 "Seconds for which a process may be stopped, as by a debugger")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
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
  options.stopped =
      std::chrono::milliseconds(static_cast<int64_t>(1000 * stopped));
  if (const char *token = std::getenv("LLMC_TOKEN")) {
    options.token = token;
  }
  Result<LaunchResult> ended = launch(options);
  if (!ended.ok()) {
    return report(kindName(ended.kind()), describe(ended.error()),
                  exitCode(ended.kind()));
  }
  return ended->code == 0 ? 0 : report("launch", ended->cause, ended->code);
}
