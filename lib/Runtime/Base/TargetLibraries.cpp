//===- TargetLibraries.cpp - What a target's libraries have ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Base/TargetLibrariesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/TargetLibraries.h"

namespace llmc::rt {

namespace {
/// A target, and a kind that its libraries have.
struct Entry {
  std::string_view target, kind;
};
} // namespace

/// Of each target that lacks a kind, all that it has.
static constexpr Entry entries[] = {
    {"cuda", "contraction"}, // cuBLASLt.
};

bool hasLibrary(std::string_view target, std::string_view kind) {
  bool isNamed = false;
  for (const Entry &entry : entries) {
    isNamed = isNamed || entry.target == target;
    if (entry.target == target && entry.kind == kind) {
      return true;
    }
  }
  return !isNamed;
}

} // namespace llmc::rt
