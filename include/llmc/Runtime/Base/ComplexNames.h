//===- ComplexNames.h - Names of the parts of complex tensors -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complex tensor `w` is two real ones wherever programs and plans have it,
// "w.real" and "w.imag". What names `w` means both.
//
// Test: test/Runtime/Base/ComplexNamesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_COMPLEXNAMES_H
#define LLMC_RUNTIME_BASE_COMPLEXNAMES_H

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace llmc::rt {

/// What follows the name of the whole, of the real and the imaginary part.
inline constexpr std::array<std::string_view, 2> kPartEnds = {".real", ".imag"};

/// A name that ends as that of a part does.
struct PartName {
  /// "w" of "w.imag"; not empty.
  std::string_view whole;
  /// 0: the real part, 1: the imaginary one.
  int part = 0;
};

/// Absent where `name` ends otherwise.
std::optional<PartName> parsePartName(std::string_view name);

/// "w.real" or "w.imag".
std::string partNameOf(std::string_view whole, int part);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_COMPLEXNAMES_H
