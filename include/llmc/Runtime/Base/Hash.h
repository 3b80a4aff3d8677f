//===- Hash.h - XXH3 checksums ----------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checksums of files and names of kernels. Not cryptographic: they find
// accidents, not enemies.
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_HASH_H
#define LLMC_RUNTIME_BASE_HASH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmc::rt {

uint64_t hash64(const void *data, size_t size, uint64_t seed = 0);
inline uint64_t hash64(std::string_view text, uint64_t seed = 0) {
  return hash64(text.data(), text.size(), seed);
}
/// 16 lower-case hexadecimal digits.
std::string hexDigits(uint64_t value);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_HASH_H
