//===- KeyTexts.cpp - What keys and values are called ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Config/ConfigTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

using namespace llmc::rt;
using namespace llmc::rt::config;

std::string_view llmc::rt::config::otherNameOf(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> rows[] = {
      {"learning_rate", "optimizer.lr"},
      {"rate", "optimizer.lr"},
      {"clip", "training.max_norm"},
      {"grad_clip", "training.max_norm"},
      {"gradient_clipping", "training.max_norm"},
      {"max_grad_norm", "training.max_norm"},
      {"accumulation", "training.microbatches"},
      {"accumulation_steps", "training.microbatches"},
      {"gradient_accumulation_steps", "training.microbatches"},
      {"num_microbatches", "training.microbatches"},
      {"max_steps", "training.steps"},
      {"num_steps", "training.steps"},
      {"warmup", "schedule.warmup_steps"},
      {"remat", "training.recompute"},
      {"validation_split", "data.held_out"},
      {"val_fraction", "data.held_out"},
      {"eval_every", "training.evaluate_every"},
      {"eval_interval", "training.evaluate_every"},
      {"checkpointing", "training.recompute"}};
  for (const auto &[other, key] : rows) {
    if (other == word) {
      return key;
    }
  }
  return "";
}

std::string_view llmc::rt::config::nameOf(KeyType type) {
  switch (type) {
  case KeyType::text:
    return "text";
  case KeyType::integer:
    return "integer";
  case KeyType::number:
    return "number";
  case KeyType::flag:
    return "true or false";
  case KeyType::texts:
    return "list of texts";
  case KeyType::lists:
    return "list of lists of texts";
  case KeyType::numbers:
    return "list of numbers";
  case KeyType::files:
    return "text or list of texts";
  }
  return "";
}

std::string llmc::rt::config::print(const Value &value) {
  struct Printer {
    std::string operator()(const std::string &text) const {
      return fmt::format("\"{}\"", text);
    }
    std::string operator()(int64_t number) const {
      return fmt::format("{}", number);
    }
    std::string operator()(double number) const {
      return fmt::format("{}", number);
    }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(const std::vector<std::string> &texts) const {
      return fmt::format("{}", texts);
    }
    std::string operator()(const std::vector<double> &numbers) const {
      return fmt::format("[{}]", fmt::join(numbers, ", "));
    }
    std::string operator()(const FileList &files) const {
      return files.patterns.size() > 1
                 ? (*this)(files.patterns)
                 : (*this)(files.empty() ? std::string() : files.patterns[0]);
    }
    std::string operator()(const AxisLists &lists) const {
      std::vector<std::string> texts;
      for (const std::vector<std::string> &list : lists) {
        texts.push_back(fmt::format("{}", list));
      }
      return fmt::format("[{}]", fmt::join(texts, ", "));
    }
  };
  return std::visit(Printer{}, value);
}
