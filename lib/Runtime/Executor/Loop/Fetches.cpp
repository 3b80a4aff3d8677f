//===- Fetches.cpp - The values that a run hands out ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fetches.h"

#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Config/Config.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::exec {

std::vector<std::string> Fetches::valueNames() const {
  std::vector<std::string> known;
  for (const plan::Fetch &fetch : entry->fetches) {
    known.push_back(fetch.tensorName());
  }
  for (const plan::Metric &metric : entry->metrics) {
    known.push_back(metric.name);
  }
  for (const plan::Input &input : entry->inputs) {
    known.push_back(input.name);
  }
  for (const plan::State &state : session.plan().states) {
    known.push_back(state.name);
  }
  return known;
}

/// What nothing has is refused before the first step, all of it at once.
Status Fetches::find(const plan::Entry &found) {
  entry = &found;
  const std::vector<std::string> known = valueNames();
  std::string unknown;
  auto add = [&](const std::string &name, bool isComplex) {
    auto isSame = [&](const Fetch &each) { return each.name == name; };
    if (std::none_of(list.begin(), list.end(), isSame)) {
      list.push_back({name, isComplex});
    }
  };
  for (const std::string &pattern : options.fetch) {
    bool isGlob = pattern.find_first_of("*?") != std::string::npos;
    bool isWhole = !isGlob && isAmong(known, pattern);
    bool isComplex = !isGlob && !isWhole &&
                     isAmong(known, partNameOf(pattern, 0)) &&
                     isAmong(known, partNameOf(pattern, 1));
    bool matched = isWhole || isComplex;
    if (matched) {
      add(pattern, isComplex);
    }
    for (const std::string &name : known) {
      if (isGlob && matchesGlob(pattern, name)) {
        matched = true;
        add(name, false);
      }
    }
    if (!matched) {
      unknown += fmt::format("{}'{}'", unknown.empty() ? "" : ", ", pattern);
    }
  }
  return unknown.empty()
             ? Status::success()
             : makeError(ErrorKind::usage,
                         fmt::format("--fetch: expected the name of a value of "
                                     "entry '{}' or a glob that matches one, "
                                     "got {}",
                                     options.entry, unknown));
}

Status Fetches::give(const std::string &label, const HostTensor &value,
                     std::FILE *out) const {
  if (session.process() != 0) {
    return Status::success();
  }
  if (options.dumpFolder.empty()) {
    fmt::print(out, "{}: {} = {}\n", escape(label), printType(value),
               printElements(value));
    return Status::success();
  }
  std::string file = label;
  std::replace(file.begin(), file.end(), '/', '_');
  return writeNpy(value, options.dumpFolder + "/" + file + ".npy");
}

/// A value of each microbatch, where the entry takes or returns it for each. A
/// state of that name goes before it, and the kind tells them apart.
bool Fetches::isOfEachMicrobatch(const std::string &name) const {
  for (const plan::State &state : session.plan().states) {
    if (state.name == name) {
      return false;
    }
  }
  for (const plan::Fetch &fetch : entry->fetches) {
    std::string tensor = unescapeName(fetch.tensorName());
    if (fetch.tensorName() == name || tensor == name ||
        "output." + tensor == name) {
      return fetch.eachMicrobatch;
    }
  }
  for (const plan::Input &input : entry->inputs) {
    if (input.name == name || "input." + input.name == name) {
      return true;
    }
  }
  return false;
}

Result<HostTensor> Fetches::read(const Fetch &fetch, int64_t microbatch) const {
  if (!fetch.isComplex) {
    return session.fetch(fetch.name, microbatch);
  }
  LLMC_TRY_ASSIGN(HostTensor real,
                  session.fetch(partNameOf(fetch.name, 0), microbatch));
  LLMC_TRY_ASSIGN(HostTensor imag,
                  session.fetch(partNameOf(fetch.name, 1), microbatch));
  return joinParts(real, imag);
}

Status Fetches::write(const std::string &prefix, std::FILE *out) const {
  for (const Fetch &fetch : list) {
    const std::string &name = fetch.name;
    bool isOfEach =
        isOfEachMicrobatch(fetch.isComplex ? partNameOf(name, 0) : name);
    int64_t count = isOfEach ? entry->numMicrobatches : 1;
    for (int64_t m = 0; m < count; ++m) {
      LLMC_TRY_ASSIGN(HostTensor value, read(fetch, m));
      LLMC_TRY(give(prefix + (count > 1 ? fmt::format("{}.{}", name, m) : name),
                    value, out));
    }
  }
  return Status::success();
}

} // namespace llmc::rt::exec
