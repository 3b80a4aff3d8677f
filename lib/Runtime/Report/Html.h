//===- Html.h - Text in pages -----------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names come from files: whatever they hold, they are shown and never obeyed.
//
// Test: test/Runtime/Report/HtmlTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_REPORT_HTML_H
#define LLMC_LIB_RUNTIME_REPORT_HTML_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::rt::report {

/// For text and for attributes in quotes. Control characters are shown as \xNN,
/// bytes that are no UTF-8 as U+FFFD; what is longer than `limit` bytes is cut,
/// and ends in "...".
std::string escapeHtml(std::string_view text, size_t limit = 120);

/// "1.25 ms", "3.40 µs", "12.0 s"; "12.5 GiB", "840 B"; "91.2 M"; "0.0123".
std::string printSeconds(double seconds);
std::string printSize(double bytes);
std::string printCount(double count);
std::string printNumber(double number);
std::string printPercent(double share);

/// A step for about `count` ticks up to `most`: 1, 2 or 5 times a power of ten.
double tickStep(double most, int count);

/// The points of a line or an area: "12.50,3.00".
std::string printPoint(double x, double y);

/// A row of labels with the colours of their classes.
std::string printLegend(
    const std::vector<std::pair<std::string, std::string>> &classesAndNames);

} // namespace llmc::rt::report

#endif // LLMC_LIB_RUNTIME_REPORT_HTML_H
