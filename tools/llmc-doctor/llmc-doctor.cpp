//===- llmc-doctor.cpp - What this machine has of what llmc can use -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-doctor
//   llmc-doctor --need gloo,backend-cuda      # exit code 15 without them
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Help.h"
#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Doctor/Doctor.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace llmc::rt;

static int report(const Status &status) {
  std::fflush(stdout);
  fmt::print(stderr, "llmc-doctor: error[{}]: {}\n", kindName(status.kind()),
             describe(status.error()));
  return exitCode(status.kind());
}

int main(int argc, char **argv) {
  CLI::App app("Says what this machine has of what llmc can use.",
               "llmc-doctor");
  app.set_version_flag("--version", fmt::format("llmc-doctor {}", version));
  app.footer(
      printHelpTail({{"llmc-doctor", "llmc-doctor --need gloo,gpus --json"},
                     {ErrorKind::usage, ErrorKind::mismatch},
                     nullptr,
                     "docs/errors.md"}));
  bool json = false;
  std::vector<std::string> needs;
  app.add_flag("--json", json, "As JSON");
  app.add_option(
         "--need", needs,
         "Names of parts without which to end with code 15, with commas "
         "(default: none)")
      ->delimiter(',');
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return error.get_exit_code() == 0
               ? app.exit(error)
               : report(makeError(ErrorKind::usage, error.what()));
  }
  std::vector<Finding> findings = examineMachine();
  std::string text =
      json ? printFindingsAsJson(findings) : printFindings(findings);
  std::fwrite(text.data(), 1, text.size(), stdout);
  Status status = checkNeeds(findings, needs);
  return status.ok() ? 0 : report(status);
}
