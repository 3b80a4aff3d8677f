//===- ScheduleCell.cpp - One cell of a schedule table --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes the words of a table: `F0.1`, `B`, `W`, `U`, `.`.
//
// Test: test/Dialect/Dist/schedule.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Schedules/ScheduleCell.h"
#include <charconv>

using namespace llmc;

/// The letters in the order of `ScheduleCell::Kind`.
static constexpr std::string_view kLetters = ".FBWU";

/// A number of decimal digits alone; nothing when it is none or too great.
static std::optional<int32_t> readNumber(std::string_view text) {
  int32_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() ||
      text.front() == '-')
    return std::nullopt;
  return number;
}

std::optional<ScheduleCell> ScheduleCell::parse(std::string_view word) {
  if (word.empty())
    return std::nullopt;
  size_t letter = kLetters.find(word.front());
  if (letter == std::string_view::npos)
    return std::nullopt;
  ScheduleCell cell;
  cell.kind = static_cast<Kind>(letter);
  word.remove_prefix(1);
  if (!cell.hasMicrobatch())
    return word.empty() ? std::optional(cell) : std::nullopt;
  size_t dot = word.find('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  auto chunk = readNumber(word.substr(0, dot));
  auto microbatch = readNumber(word.substr(dot + 1));
  if (!chunk || !microbatch)
    return std::nullopt;
  cell.chunk = *chunk;
  cell.microbatch = *microbatch;
  return cell;
}

std::string ScheduleCell::str() const {
  std::string word(1, kLetters[static_cast<size_t>(kind)]);
  if (hasMicrobatch())
    word += std::to_string(chunk) + "." + std::to_string(microbatch);
  return word;
}
