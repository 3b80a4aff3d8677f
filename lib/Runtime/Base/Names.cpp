//===- Names.cpp - The user's names beside ours ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/NamesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Base/Log.h"

#include <algorithm>
#include <utility>

namespace llmc::rt {

const std::vector<std::string_view> &reservedWords() {
  static const std::vector<std::string_view> words = {
      // Symbols of a program: Import, SumLoss, BuildUpdate, KernelTable.
      "mesh", "train", "forward", "evaluate", "loss", "optimizer", "kernels",
      "lr", "t", "step", "seed",
      // Buffers, frames and streams: Localize, PlanNames, PlanStreams.
      "local", "state",
      // Metrics: BuildUpdate, SumLoss.
      "grad_norm", "count", "loss_scale"};
  return words;
}

static bool isReserved(std::string_view word) {
  while (!word.empty() && word.back() == '$') {
    word.remove_suffix(1);
  }
  const auto &words = reservedWords();
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Applies `change` to each reserved word between the dots.
template <typename Change>
static std::string mapWords(std::string_view name, Change change) {
  std::string result;
  while (true) {
    size_t dot = name.find('.');
    std::string_view word = name.substr(0, dot);
    std::string changed(word);
    if (isReserved(word)) {
      change(changed);
    }
    result += changed;
    if (dot == std::string_view::npos) {
      return result;
    }
    result += '.';
    name.remove_prefix(dot + 1);
  }
}

std::string escapeName(std::string_view name) {
  return mapWords(name, [](std::string &word) { word += '$'; });
}

std::string unescapeName(std::string_view symbol) {
  return mapWords(symbol, [](std::string &word) {
    if (word.back() == '$') {
      word.pop_back();
    }
  });
}

bool isOurs(std::string_view name) {
  std::string_view word = name.substr(0, name.find('.'));
  return isReserved(word) && word.back() != '$';
}

bool isAmong(const std::vector<std::string> &known, const std::string &name) {
  auto has = [&](const std::string &each) {
    return std::find(known.begin(), known.end(), each) != known.end() ||
           std::find(known.begin(), known.end(), escapeName(each)) !=
               known.end();
  };
  for (std::string_view kind : {"input.", "output.", "metric."}) {
    if (name.rfind(kind, 0) == 0 && has(name.substr(kind.size()))) {
      return true;
    }
  }
  return has(name);
}

std::string listGlobbed(const std::vector<std::string> &names, size_t most) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const std::string &name : names) {
    std::string first = name.substr(0, name.find('.'));
    auto group =
        std::find_if(groups.begin(), groups.end(),
                     [&](const auto &each) { return each.first == first; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {first, {}});
    }
    group->second.push_back(name);
  }
  std::string text;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto &[first, members] = groups[i];
    text += i ? ", " : "";
    if (i == most) {
      return text + "...";
    }
    text += members.size() == 1
                ? escape(members.front())
                : escape(first) + ".* (" + std::to_string(members.size()) + ")";
  }
  return text;
}

std::string hideNumbers(std::string_view text) {
  std::string hidden;
  for (size_t i = 0; i < text.size();) {
    hidden += text[i++];
    if (hidden.back() != '.') {
      continue;
    }
    size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
    bool isNumber =
        end > i && (end == text.size() ||
                    std::string_view(".' ").find(text[end]) != text.npos);
    if (isNumber) {
      hidden += '*';
      i = end;
    }
  }
  return hidden;
}

} // namespace llmc::rt
