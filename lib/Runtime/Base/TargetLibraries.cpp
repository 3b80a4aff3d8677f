//===- TargetLibraries.cpp - What a target's libraries have ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Base/TargetLibrariesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/TargetLibraries.h"

#include <algorithm>

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

/// Kinds that the compiler writes kernels of where no library of a target has
/// them.
static constexpr Entry kernels[] = {
    {"cuda", "convolution"},
    {"cuda", "attention"},
    {"cuda", "argsort"},
    {"cuda", "grouped_contraction"},
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

bool isComputed(std::string_view target, std::string_view kind) {
  bool hasKernels = std::any_of(
      std::begin(kernels), std::end(kernels), [&](const Entry &entry) {
        return entry.target == target && entry.kind == kind;
      });
  return hasKernels || hasLibrary(target, kind);
}

} // namespace llmc::rt
