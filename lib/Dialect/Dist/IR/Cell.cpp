//===- Cell.cpp - One cell of a schedule table ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes the words of a table: `F0.1`, `B`, `W`, `U`, `.`.
// Tested by test/Dialect/Dist/schedule.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Cell.h"
#include "llvm/ADT/StringExtras.h"

using namespace llmc::dist;

/// The letters in the order of `Cell::Kind`.
static constexpr llvm::StringLiteral kLetters = ".FBWU";

std::optional<Cell> Cell::parse(llvm::StringRef word) {
  if (word.empty())
    return std::nullopt;
  size_t letter = kLetters.find(word.front());
  if (letter == llvm::StringRef::npos)
    return std::nullopt;
  Cell cell;
  cell.kind = static_cast<Kind>(letter);
  word = word.drop_front();
  if (!cell.hasMicrobatch())
    return word.empty() ? std::optional(cell) : std::nullopt;
  auto [chunk, microbatch] = word.split('.');
  uint32_t c, m;
  if (!llvm::all_of(chunk, llvm::isDigit) ||
      !llvm::all_of(microbatch, llvm::isDigit) || chunk.getAsInteger(10, c) ||
      microbatch.getAsInteger(10, m) || c > INT32_MAX || m > INT32_MAX)
    return std::nullopt;
  cell.chunk = c;
  cell.microbatch = m;
  return cell;
}

std::string Cell::str() const {
  std::string word(1, kLetters[static_cast<size_t>(kind)]);
  if (hasMicrobatch())
    word += llvm::utostr(chunk) + "." + llvm::utostr(microbatch);
  return word;
}
