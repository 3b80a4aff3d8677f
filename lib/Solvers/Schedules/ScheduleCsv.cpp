//===- ScheduleCsv.cpp - Schedules as comma-separated text ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Schedules/ScheduleCsv.h"
#include <algorithm>

using namespace llmc;

static constexpr std::string_view kBlanks = " \t\n\v\f\r";

static std::string_view trim(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

/// The text up to `separator`, which is taken off the text with it.
static std::string_view takeUpTo(std::string_view &text, char separator) {
  std::string_view head = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(head.size() + 1, text.size()));
  return head;
}

static std::string readRow(std::string_view line,
                           std::vector<ScheduleCell> &row) {
  const char *begin = line.data();
  bool isLast = false;
  while (!isLast) {
    isLast = line.find(',') == std::string_view::npos;
    std::string_view word = trim(takeUpTo(line, ','));
    auto cell = word.empty() ? ScheduleCell() : ScheduleCell::parse(word);
    if (!cell)
      return "column " + std::to_string(word.data() - begin + 1) +
             ": expected a cell such as F0.1, B0.1, W0.1, U or '.', got '" +
             std::string(word) + "'";
    row.push_back(*cell);
  }
  return "";
}

std::string llmc::readScheduleCsv(std::string_view text, Schedule &schedule) {
  schedule.clear();
  size_t longest = 0;
  for (int64_t number = 1; !text.empty(); ++number) {
    std::string_view rest = takeUpTo(text, '\n');
    std::string_view line = takeUpTo(rest, '#');
    if (trim(line).empty())
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
  for (const auto &row : schedule) {
    for (const ScheduleCell &cell : row)
      text += (&cell == row.data() ? "" : ",") + cell.str();
    text += "\n";
  }
  return text;
}
