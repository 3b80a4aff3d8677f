//===- Sources.cpp - Sources of data and the inputs that they feed --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of [data] and [data.<name>] together. All arrays of a run are read
// in one order, so that row i of each belongs to the same sample.
//
// Test: test/Runtime/Config/SourcesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Config.h"

#include <algorithm>
#include <fmt/format.h>

using namespace llmc::rt;

/// The key of a source as the user writes it.
static std::string keyOf(const DataSource &source, const char *key) {
  return source.name == "data" ? fmt::format("data.{}", key)
                               : fmt::format("data.{}.{}", source.name, key);
}

/// A source of `data`; the keys that are of no use to its kind are absent.
static Result<DataSource> makeSource(const std::string &name,
                                     const DataConfig &data,
                                     const Config &config) {
  DataSource source{name, data.file, {}, data.inputs};
  bool isArray = data.kind == "array";
  std::string unused = keyOf(source, isArray ? "dtype" : "tensor");
  std::string origin = config.originOf(unused);
  if (origin != "default") {
    return makeError(
        ErrorKind::usage,
        fmt::format("{}: expected '{}' with kind = \"{}\" alone, got "
                    "kind = \"{}\"",
                    origin, unused, isArray ? "tokens" : "array", data.kind));
  }
  std::optional<DType> dtype = parseDType(data.dtype);
  if (!dtype) {
    return makeError(
        ErrorKind::usage,
        fmt::format("expected a type of tokens, got '{}'", data.dtype));
  }
  source.rule = {isArray ? DataKind::array : DataKind::tokens, *dtype,
                 data.shuffle, data.tensor};
  if (isArray) {
    source.rule.dtype = DataRule().dtype;
    source.rule.tensor = data.tensor.empty() ? name : data.tensor;
  }
  return source;
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
    if (source.rule.kind != DataKind::array) {
      continue;
    }
    first = first ? first : &source;
    if (source.rule.shuffle != first->rule.shuffle) {
      std::string key = keyOf(source, "shuffle");
      return makeError(
          ErrorKind::usage,
          fmt::format("{}: expected '{}' to be {} as of '{}', since "
                      "row i of all arrays is one sample, got {}",
                      config.originOf(key), key, first->rule.shuffle,
                      first->name, source.rule.shuffle));
    }
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

std::pair<std::string, std::string>
llmc::rt::splitSource(const std::string &text,
                      const std::vector<std::string> &sources) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  bool isNamed =
      equals != std::string::npos &&
      std::find(sources.begin(), sources.end(), name) != sources.end();
  return isNamed ? std::make_pair(name, text.substr(equals + 1))
                 : std::make_pair(std::string(), text);
}
