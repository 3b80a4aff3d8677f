//===- Utf8.cpp - Characters of texts that may be none --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Utf8.h"

namespace llmc::rt {

size_t lengthOfCharacter(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  auto first = static_cast<unsigned char>(text[0]);
  size_t length = first < 0x80                     ? 1
                  : first >= 0xc2 && first <= 0xdf ? 2
                  : first >= 0xe0 && first <= 0xef ? 3
                  : first >= 0xf0 && first <= 0xf4 ? 4
                                                   : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      return 0;
    }
  }
  auto second = length > 1 ? static_cast<unsigned char>(text[1]) : 0;
  bool isOverlong =
      (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  bool isOutside =
      (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return isOverlong || isOutside ? 0 : length;
}

} // namespace llmc::rt
