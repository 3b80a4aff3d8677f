//===- Names.h - The user's names beside ours -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States, functions, entries and hyper values share one table of symbols, and
// metrics one list. A name of ours is a word of a fixed list, with more after
// a dot: @train, @train.microbatch, "loss". In a name of the user's each word
// of that list gets a '$', which no name of ours has, so the two never meet:
//
//   t -> t$     train.w -> train$.w     t$ -> t$$     blocks.0.w -> blocks.0.w
//
// Names derived from a state keep the form (t$.m, the moment of t), and plans
// have the user's names: their tables are apart.
//
// Test: test/Runtime/Base/NamesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_NAMES_H
#define LLMC_RUNTIME_BASE_NAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace llmc::rt {

/// Words with which names of ours begin or, for "local", end.
const std::vector<std::string_view> &reservedWords();

/// The user's `name` as a symbol; different names stay different.
std::string escapeName(std::string_view name);
/// The name that a symbol stands for; a name of ours stays as it is.
std::string unescapeName(std::string_view symbol);

/// True for a name of ours: it begins with a word of the list.
bool isOurs(std::string_view name);

/// Whether `name` is one of `known`, escaped or not, alone or after its kind
/// ("input.", "output.", "metric.").
bool isAmong(const std::vector<std::string> &known, const std::string &name);

/// Names in a line: those with a common first word as one glob with a count,
/// and at most `most` of them: "params.* (12), mask". Each as `escape` has it.
std::string listGlobbed(const std::vector<std::string> &names, size_t most);

/// The text with the numbers of blocks as a '*': those between a point and
/// another point, a quote, a space or the end: "'blocks.3.w'" becomes
/// "'blocks.*.w'".
std::string hideNumbers(std::string_view text);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_NAMES_H
