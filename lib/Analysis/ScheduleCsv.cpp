//===- ScheduleCsv.cpp - Schedules as comma-separated text ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/ScheduleCsv.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llmc;
using dist::Cell;

static std::string readRow(StringRef line, std::vector<Cell> &row) {
  const char *begin = line.data();
  while (true) {
    auto [word, rest] = line.split(',');
    bool isLast = word.size() == line.size();
    StringRef trimmed = word.trim();
    std::optional<Cell> cell = trimmed.empty() ? Cell() : Cell::parse(trimmed);
    if (!cell)
      return "column " + std::to_string(trimmed.data() - begin + 1) +
             ": expected a cell such as F0.1, B0.1, W0.1, U or '.', got '" +
             trimmed.str() + "'";
    row.push_back(*cell);
    if (isLast)
      return "";
    line = rest;
  }
}

std::string llmc::readScheduleCsv(StringRef text, Schedule &schedule) {
  schedule.clear();
  int64_t number = 0;
  size_t longest = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    ++number;
    line = line.split('#').first.rtrim();
    if (line.trim().empty())
      continue;
    schedule.emplace_back();
    if (std::string reason = readRow(line, schedule.back()); !reason.empty())
      return "line " + std::to_string(number) + ", " + reason;
    longest = std::max(longest, schedule.back().size());
  }
  if (schedule.empty())
    return "expected a line for each pipeline stage, got none";
  for (auto &row : schedule)
    row.resize(longest);
  return "";
}

std::string llmc::writeScheduleCsv(const Schedule &schedule) {
  std::string text;
  for (const auto &row : schedule)
    text += llvm::join(llvm::map_range(
                           row, [](const Cell &cell) { return cell.str(); }),
                       ",") +
            "\n";
  return text;
}
