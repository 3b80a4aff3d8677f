//===- InitGroups.h - States that begin alike -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The states of a model by name and shape, and the tables of a configuration
// that are about them: how each is drawn, and which are split as a pair. In a
// configuration the first table whose glob matches a name counts, so a glob
// that names of several groups match is written for one of them alone.
//
// Tested by test/EndToEnd/Families/init.test.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_INITGROUPS_H
#define LLMC_TOOLS_LLMC_INITGROUPS_H

#include "llmc/Support/LLVM.h"
#include <string>
#include <vector>

namespace llmc::driver {

/// States whose names differ in numbers alone and that have one shape.
struct StateGroup {
  std::string glob;
  llvm::SmallVector<int64_t> shape;
  std::vector<std::string> names;
};

class StateGroups {
public:
  void add(const std::string &name, llvm::ArrayRef<int64_t> shape);

  /// `[[init]]` tables; each state is drawn as its shape and name ask for.
  std::string writeDraws() const;

  /// `[[layout]]` tables for pairs of matrices through whose common, wider
  /// dimension what the first makes goes into the second; "" where there are
  /// none.
  std::string writePairs() const;

private:
  std::vector<const StateGroup *> chooseGlobs() const;
  bool isAlone(const StateGroup &group) const;

  std::vector<StateGroup> groups;
};

/// A text of TOML, which has no control characters as they are.
std::string quote(const std::string &text);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_INITGROUPS_H
