//===- Utf8.h - Characters of texts that may be none ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/Utf8Test.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_UTF8_H
#define LLMC_RUNTIME_BASE_UTF8_H

#include <cstddef>
#include <string_view>

namespace llmc::rt {

/// How many bytes the character at the begin of `text` has; 0: it is no UTF-8
/// (overlong forms, halves of pairs and what is beyond U+10FFFF are none).
size_t lengthOfCharacter(std::string_view text);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_UTF8_H
