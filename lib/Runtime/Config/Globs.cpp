//===- Globs.cpp - Patterns over names ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Config/ConfigTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Config/Config.h"

using namespace llmc::rt;

static bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, mark = n;
    } else if (star != std::string_view::npos) {
      p = star + 1, n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

bool llmc::rt::matchesGlob(std::string_view pattern, std::string_view name) {
  std::optional<PartName> part = parsePartName(name);
  return matches(pattern, name) || (part && matches(pattern, part->whole));
}

/// What each '*' stands for; the first ones take as little as they can.
static bool capture(std::string_view pattern, std::string_view name,
                    std::vector<std::string> &stars) {
  size_t same = 0;
  while (same < pattern.size() && same < name.size() && pattern[same] != '*' &&
         (pattern[same] == '?' || pattern[same] == name[same])) {
    ++same;
  }
  pattern.remove_prefix(same);
  name.remove_prefix(same);
  if (pattern.empty() || pattern[0] != '*') {
    return pattern.empty() && name.empty();
  }
  for (size_t length = 0; length <= name.size(); ++length) {
    std::string_view rest = name.substr(length);
    if (!matches(pattern.substr(1), rest)) {
      continue;
    }
    stars.emplace_back(name.substr(0, length));
    return capture(pattern.substr(1), rest, stars);
  }
  return false;
}

std::optional<std::string> llmc::rt::renameByGlob(std::string_view pattern,
                                                  std::string_view other,
                                                  std::string_view name) {
  std::vector<std::string> stars;
  if (!capture(pattern, name, stars)) {
    std::optional<PartName> part = parsePartName(name);
    auto whole = part ? renameByGlob(pattern, other, part->whole)
                      : std::optional<std::string>();
    return whole ? std::optional(partNameOf(*whole, part->part)) : std::nullopt;
  }
  std::string renamed;
  size_t star = 0;
  for (char c : other) {
    renamed += c != '*'              ? std::string(1, c)
               : star < stars.size() ? stars[star++]
                                     : std::string();
  }
  return renamed;
}
