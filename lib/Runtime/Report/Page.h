//===- Page.h - Style, script and data of a report --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_REPORT_PAGE_H
#define LLMC_LIB_RUNTIME_REPORT_PAGE_H

#include "ReportData.h"

#include <string>

namespace llmc::rt::report {

extern const char *const pageStyle;
extern const char *const pageScript;

/// All figures as JSON that may stand in a `<script>`: no `<` is in it.
std::string printData(const ReportData &data);

/// The page from `<!doctype html>` on.
std::string printPage(const ReportData &data);

} // namespace llmc::rt::report

#endif // LLMC_LIB_RUNTIME_REPORT_PAGE_H
