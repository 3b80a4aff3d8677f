//===- WeightFile.h - A file of weights under the model's names -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--weights`, of this model or of another that calls its states otherwise, as
// the tables of [[weights]] say. A complex tensor `w` is that of both its
// parts, "w.real" and "w.imag" (ComplexNames.h), where the file has none of
// their names.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_PROGRAM_WEIGHTFILE_H
#define LLMC_LIB_IMPORT_PROGRAM_WEIGHTFILE_H

#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Runtime/Config/Config.h"

#include <set>
#include <vector>

namespace llmc::import {

class WeightFile {
public:
  static rt::Result<WeightFile> open(const std::string &path,
                                     const rt::Config &config);

  /// The name in the file of the state `name`.
  std::string nameOf(const std::string &name) const;
  /// Null where the file has no tensor for the state.
  const rt::SafetensorsEntry *find(const std::string &name) const {
    return file.find(keyOf(name));
  }
  /// Whether the tensor is that of both parts.
  bool isOfBoth(const std::string &name) const {
    return keyOf(name) != nameOf(name);
  }
  uint64_t offset(const rt::SafetensorsEntry &entry) const {
    return file.offset(entry);
  }

  /// What a state takes, and what keeps it from that; both for `finish`.
  void take(const std::string &name) { taken.insert(keyOf(name)); }
  void refuse(std::string why) { problems.push_back(std::move(why)); }
  /// All that was refused, as one error (3); a warning where tensors are left.
  rt::Status finish() const;

private:
  std::string keyOf(const std::string &name) const;
  WeightFile(rt::Safetensors file, std::vector<rt::WeightNameConfig> names)
      : file(std::move(file)), names(std::move(names)) {}

  rt::Safetensors file;
  std::vector<rt::WeightNameConfig> names;
  std::set<std::string> taken;
  std::vector<std::string> problems;
};

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_PROGRAM_WEIGHTFILE_H
