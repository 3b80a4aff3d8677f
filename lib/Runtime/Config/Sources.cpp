//===- Sources.cpp - Sources of data and the inputs that they feed --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of [data] and [data.<name>] together. All arrays of a run are read
// in one order, so that row i of each belongs to the same sample.
//
// Test: test/Runtime/Config/SourcesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Sources.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

using namespace llmc::rt;

/// The key of a source as the user writes it.
static std::string keyOf(const DataSource &source, const char *key) {
  return source.name == "data" ? fmt::format("data.{}", key)
                               : fmt::format("data.{}.{}", source.name, key);
}

/// Refuses keys that were given and are of no use to the source's kind.
static Status checkKeys(const DataSource &source, const DataConfig &data,
                        const Config &config) {
  const std::pair<const char *, const char *> rows[] = {{"dtype", "tokens"},
                                                        {"windows", "tokens"},
                                                        {"tensor", "array"},
                                                        {"finite", "array"}};
  for (auto [key, kind] : rows) {
    bool isForText = data.kind == "text" && key == std::string("windows");
    std::string unused = keyOf(source, key);
    std::string origin = config.originOf(unused);
    if (origin != "default" && data.kind != kind && !isForText) {
      return makeError(ErrorKind::usage,
                       fmt::format("{}: expected '{}' with kind = \"{}\" "
                                   "alone, got kind = \"{}\"",
                                   origin, unused, kind, data.kind));
    }
  }
  return Status::success();
}

/// Numbers with at most six decimals as the smallest whole ones of their
/// proportions.
static Result<std::vector<int64_t>>
makeWhole(const std::vector<double> &weights, const std::string &key) {
  constexpr double most = 1e6;
  std::vector<int64_t> whole;
  int64_t common = 0;
  for (double weight : weights) {
    double scaled = weight * most;
    if (!(scaled >= 1) || scaled > most * most ||
        std::abs(scaled - std::round(scaled)) > 1e-3) {
      return makeError(ErrorKind::usage,
                       fmt::format("expected '{}' to be numbers above 0 with "
                                   "at most six decimals, got {}",
                                   key, weight));
    }
    whole.push_back(static_cast<int64_t>(std::round(scaled)));
    common = std::gcd(common, whole.back());
  }
  for (int64_t &weight : whole) {
    weight /= common;
  }
  return whole;
}

/// The keys that say which samples there are and in which order.
static Status fillOrder(DataSource &source, const DataConfig &data,
                        const Config &config) {
  DataRule &rule = source.rule;
  rule.shuffle = data.shuffle;
  rule.once = data.windows == "once" && data.shuffle;
  rule.heldOut = data.heldOut;
  rule.finite = data.finite;
  LLMC_TRY_ASSIGN(rule.weights,
                  makeWhole(data.weights, keyOf(source, "weights")));
  if (std::string_view fault = faultOf(rule); !fault.empty()) {
    return makeError(ErrorKind::usage,
                     fmt::format("{}: {}", source.name, fault));
  }
  if (!rule.weights.empty() && !source.files.empty() &&
      rule.weights.size() != source.files.size()) {
    std::string key = keyOf(source, "weights");
    return makeError(ErrorKind::usage,
                     fmt::format("{}: expected '{}' to have a number for each "
                                 "of {} files and globs, got {}",
                                 config.originOf(key), key, source.files.size(),
                                 rule.weights.size()));
  }
  if (rule.heldOut > 0 && !source.evaluationFiles.empty()) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected '{}' or '{}', got both",
                                 keyOf(source, "held_out"),
                                 keyOf(source, "evaluate_file")));
  }
  return Status::success();
}

/// A source of `data`; the keys that are of no use to its kind are absent.
static Result<DataSource> makeSource(const std::string &name,
                                     const DataConfig &data,
                                     const Config &config) {
  DataSource source;
  source.name = name;
  source.files = data.file.patterns;
  source.evaluationFiles = data.evaluateFile.patterns;
  source.inRange = data.inRange;
  source.inputs = data.inputs;
  LLMC_TRY(checkKeys(source, data, config));
  std::optional<DType> dtype = parseDType(data.dtype);
  if (!dtype) {
    return makeError(
        ErrorKind::usage,
        fmt::format("expected a type of tokens, got '{}'", data.dtype));
  }
  if (data.kind == "tokens") {
    source.rule.dtype = *dtype;
  } else if (data.kind == "array") {
    source.rule.kind = DataKind::array;
    source.rule.tensor = data.tensor.empty() ? name : data.tensor;
  } else {
    source.rule.kind = DataKind::text;
  }
  LLMC_TRY(fillOrder(source, data, config));
  return source;
}

/// Arrays have one order.
static Status checkEqual(const DataSource &source, const DataSource &first,
                         const Config &config) {
  auto check = [&](const char *name, const auto &own, const auto &other) {
    std::string key = keyOf(source, name);
    return own == other
               ? Status::success()
               : makeError(ErrorKind::usage,
                           fmt::format("{}: expected '{}' to be {} as of '{}', "
                                       "since row i of all arrays is one "
                                       "sample, got {}",
                                       config.originOf(key), key, other,
                                       first.name, own));
  };
  LLMC_TRY(check("shuffle", source.rule.shuffle, first.rule.shuffle));
  LLMC_TRY(check("held_out", source.rule.heldOut, first.rule.heldOut));
  return check("weights", source.rule.weights, first.rule.weights);
}

/// No input has two sources, and all arrays have one order.
static Status checkTogether(const std::vector<DataSource> &sources,
                            const Config &config) {
  std::map<std::string, const DataSource *> feeders;
  const DataSource *first = nullptr;
  for (const DataSource &source : sources) {
    for (const auto &[input, offset] : source.inputs) {
      auto [found, isNew] = feeders.try_emplace(input, &source);
      if (!isNew) {
        return makeError(
            ErrorKind::usage,
            fmt::format("expected one source of input '{}', got '{}' "
                        "and '{}'",
                        input, found->second->name, source.name));
      }
    }
    if (isTokens(source.rule.kind)) {
      continue;
    }
    first = first ? first : &source;
    LLMC_TRY(checkEqual(source, *first, config));
  }
  return Status::success();
}

Result<std::vector<DataSource>> llmc::rt::findSources(const Config &config) {
  std::vector<DataSource> sources;
  if (!config.data.inputs.empty() || !config.data.file.empty()) {
    LLMC_TRY_ASSIGN(DataSource source, makeSource("data", config.data, config));
    sources.push_back(std::move(source));
  }
  for (const auto &[name, data] : config.sources) {
    if (name == "data" && !sources.empty()) {
      return makeError(
          ErrorKind::usage,
          "expected one source 'data', got [data] and [data.data]");
    }
    LLMC_TRY_ASSIGN(DataSource source, makeSource(name, data, config));
    if (source.inputs.empty()) {
      source.inputs[name] = 0;
    }
    sources.push_back(std::move(source));
  }
  LLMC_TRY(checkTogether(sources, config));
  return sources;
}

/// The length of the name in "name=file"; nothing where the text is a file.
static std::optional<size_t> findName(const std::string &text) {
  size_t equals = text.find('=');
  std::error_code code;
  if (equals == std::string::npos || text.find_first_of("/*?[,") < equals ||
      std::filesystem::exists(text, code)) {
    return std::nullopt;
  }
  return equals;
}

void llmc::rt::addNamedArray(const std::string &text, Config &config) {
  std::optional<size_t> length = findName(text);
  std::string extension = std::filesystem::path(text).extension();
  if (!length || *length == 0 ||
      (extension != ".npy" && extension != ".safetensors")) {
    return;
  }
  std::string name = text.substr(0, *length);
  if (config.sources.count(name) > 0) {
    return;
  }
  DataConfig source;
  source.kind = "array";
  source.shuffle = config.data.shuffle;
  source.heldOut = config.data.heldOut;
  config.sources[name] = std::move(source);
  config.data.inputs.erase(name);
}

Result<std::pair<std::string, std::string>>
llmc::rt::splitSource(const std::string &text,
                      const std::vector<std::string> &sources) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (equals == std::string::npos) {
    return std::make_pair(std::string(), text);
  }
  if (std::find(sources.begin(), sources.end(), name) != sources.end()) {
    return std::make_pair(name, text.substr(equals + 1));
  }
  if (!findName(text)) {
    return std::make_pair(std::string(), text);
  }
  std::string expected =
      sources.empty()
          ? "a file alone, as [data] has no name"
          : fmt::format("one of {}, or a file", fmt::join(sources, ", "));
  return makeError(ErrorKind::usage,
                   fmt::format("--data {}: no source of data is named '{}': "
                               "expected {}",
                               text, name, expected));
}

std::vector<std::string> llmc::rt::splitPatterns(const std::string &text) {
  std::error_code code;
  if (std::filesystem::exists(text, code)) {
    return {text};
  }
  std::vector<std::string> patterns;
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    patterns.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return patterns;
}
