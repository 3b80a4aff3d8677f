//===- Sources.h - The sources of data of a configuration -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Config/SourcesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_CONFIG_SOURCES_H
#define LLMC_RUNTIME_CONFIG_SOURCES_H

#include "llmc/Runtime/Base/DataRule.h"
#include "llmc/Runtime/Config/Config.h"

namespace llmc::rt {

/// A source with the inputs that it feeds.
struct DataSource {
  std::string name;
  /// Files and globs, and those of evaluation.
  std::vector<std::string> files, evaluationFiles;
  DataRule rule;
  /// Integers that the model takes for places are as many as there are.
  bool inRange = true;
  /// Input name -> rows after the sample's first.
  std::map<std::string, int64_t> inputs;
};

/// The sources by name; that of [data] is called "data". A source that names
/// no inputs feeds the one of its own name. Errors: 2 where the keys of a
/// source contradict each other, or those of two sources.
Result<std::vector<DataSource>> findSources(const Config &config);

/// Splits "name=file" where the name is one of `sources`; any other text is a
/// file, for all of them (the name is then ""). Error 2 where a name stands
/// before '=' that is none of them, and no file has the whole text as its name.
Result<std::pair<std::string, std::string>>
splitSource(const std::string &text, const std::vector<std::string> &sources);

/// "name=file" of a flag, with a file or glob of .npy or .safetensors and a
/// name that no source has: `config` gets an array for the input of that name,
/// which [data] feeds no more. Any other text changes nothing.
void addNamedArray(const std::string &text, Config &config);

/// The files and globs that a text names, separated by commas; one file where
/// there is one of that name.
std::vector<std::string> splitPatterns(const std::string &text);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_CONFIG_SOURCES_H
