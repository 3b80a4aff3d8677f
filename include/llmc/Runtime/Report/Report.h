//===- Report.h - A plan and a run of it as one page ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page of HTML that needs nothing else: pictures are SVG in it, and all
// figures stand in it once more as JSON (`<script id="data">`), so that a
// program finds what a reader sees. What is predicted comes from the plan
// alone, what is measured from a trace of a run.
//
//   LLMC_TRY_ASSIGN(std::string page, makeReport({"plan/", "run.jsonl", "",
//   ""}));
//
// Test: test/Runtime/Report/ReportTest.cpp, test/EndToEnd/report.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_REPORT_REPORT_H
#define LLMC_RUNTIME_REPORT_REPORT_H

#include "llmc/Runtime/Base/Status.h"

#include <string>

namespace llmc::rt {

struct ReportFiles {
  /// The plan, or its folder.
  std::string plan;
  /// What `--log` or `--events` wrote; "" for none.
  std::string run;
  /// What `--trace` wrote, with those of other processes beside it
  /// (`<trace>.1`, ...); "" for none.
  std::string trace;
  std::string entry = "train";
};

/// Errors: 2 (no such entry), 3 (a file that cannot be read, with the line), 4
/// (a step of millions of instructions), 15 (a run or a trace of another plan).
Result<std::string> makeReport(const ReportFiles &files);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_REPORT_REPORT_H
