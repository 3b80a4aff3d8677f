//===- llmc-report.cpp - A plan and a run of it as one page ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-report plan/ --run run.jsonl --trace trace.json -o report.html
//
// Exit codes: the kind of the error (0 ok, 2 usage, 3 malformed, 4 too large,
// 15 a run or a trace of another plan).
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Help.h"
#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Report/Report.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace llmc::rt;

static int report(const Status &status) {
  std::fflush(stdout);
  fmt::print(stderr, "llmc-report: error[{}]: {}\n", kindName(status.kind()),
             describe(status.error()));
  return exitCode(status.kind());
}

static Status write(const ReportFiles &files, const std::string &output) {
  LLMC_TRY_ASSIGN(std::string page, makeReport(files));
  LLMC_TRY(writeFileAtomically(output, page));
  fmt::print("{}: {} B\n", output, page.size());
  return Status::success();
}

int main(int argc, char **argv) {
  CLI::App app("Draws a plan, and a run of it, as one page of HTML.",
               "llmc-report");
  app.set_version_flag("--version", fmt::format("llmc-report {}", version));
  app.footer(printHelpTail(
      {{"llmc-report plan -o plan.html",
        "llmc-report plan --run run.jsonl --trace trace.json -o run.html"},
       {ErrorKind::usage, ErrorKind::malformed, ErrorKind::infeasible,
        ErrorKind::unsupported, ErrorKind::mismatch},
       nullptr,
       "docs/seeing.md"}));
  ReportFiles files;
  std::string output;
  app.add_option("plan", files.plan, "The plan file, or its folder")
      ->required();
  app.add_option("--run", files.run,
                 "What --log or --events wrote (default: none)");
  app.add_option("--trace", files.trace, "What --trace wrote (default: none)");
  app.add_option("--entry", files.entry, "Entry to draw")
      ->capture_default_str();
  app.add_option("-o", output, "The page")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return error.get_exit_code() == 0
               ? app.exit(error)
               : report(makeError(ErrorKind::usage, error.what()));
  }
  Status status = write(files, output);
  return status.ok() ? 0 : report(status);
}
