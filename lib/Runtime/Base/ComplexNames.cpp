//===- ComplexNames.cpp - Names of the parts of complex tensors -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/ComplexNamesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/ComplexNames.h"

namespace llmc::rt {

std::optional<PartName> parsePartName(std::string_view name) {
  for (int part : {0, 1}) {
    std::string_view end = kPartEnds[part];
    if (name.size() > end.size() &&
        name.substr(name.size() - end.size()) == end) {
      return PartName{name.substr(0, name.size() - end.size()), part};
    }
  }
  return std::nullopt;
}

std::string partNameOf(std::string_view whole, int part) {
  return std::string(whole).append(kPartEnds[part]);
}

} // namespace llmc::rt
