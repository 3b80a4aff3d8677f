//===- WeightFile.cpp - A file of weights under the model's names ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/export.test
//===----------------------------------------------------------------------===//

#include "WeightFile.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/Log.h"

using namespace llmc;
using namespace llmc::import;

rt::Result<WeightFile> WeightFile::open(const std::string &path,
                                        const rt::Config &config) {
  LLMC_TRY_ASSIGN(rt::Safetensors file, rt::Safetensors::open(path));
  return WeightFile(std::move(file), config.weights);
}

std::string WeightFile::nameOf(const std::string &name) const {
  for (const rt::WeightNameConfig &each : names)
    if (auto renamed = rt::renameByGlob(each.match, each.name, name))
      return *renamed;
  return name;
}

/// Of the tensor that has the state's elements.
std::string WeightFile::keyOf(const std::string &name) const {
  std::string own = nameOf(name);
  std::optional<rt::PartName> part = rt::parsePartName(own);
  if (file.find(own) || !part)
    return own;
  std::string whole(part->whole);
  const rt::SafetensorsEntry *entry = file.find(whole);
  return entry && entry->isComplex ? whole : own;
}

/// "a; b and 3 more".
static std::string join(const std::vector<std::string> &texts,
                        const char *between) {
  constexpr size_t most = 16;
  std::string line;
  for (size_t i = 0; i < texts.size() && i < most; ++i)
    line += (i ? between : "") + texts[i];
  if (texts.size() > most)
    line += " and " + std::to_string(texts.size() - most) + " more";
  return line;
}

rt::Status WeightFile::finish() const {
  std::vector<std::string> left;
  for (const auto &[name, entry] : file.entries())
    if (!taken.count(name))
      left.push_back("'" + rt::escape(name, 80) + "'");
  std::string extra = left.empty() ? "" : "no state takes " + join(left, ", ");
  if (!problems.empty())
    return rt::makeError(rt::ErrorKind::malformed,
                         file.path() + ": " + join(problems, "; ") +
                             (extra.empty() ? "" : "; " + extra));
  if (!extra.empty())
    rt::log(rt::LogLevel::warning, file.path() + ": " + extra);
  return rt::Status::success();
}
