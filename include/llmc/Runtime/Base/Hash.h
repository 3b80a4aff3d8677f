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
#include <memory>
#include <string>
#include <string_view>

namespace llmc::rt {

uint64_t hash64(const void *data, size_t size, uint64_t seed = 0);
inline uint64_t hash64(std::string_view text, uint64_t seed = 0) {
  return hash64(text.data(), text.size(), seed);
}
/// The hash64 of bytes that come piece by piece.
class Hasher {
public:
  Hasher();
  Hasher(Hasher &&) noexcept;
  ~Hasher();
  void add(const void *data, size_t size);
  uint64_t value() const;

private:
  struct State;
  std::unique_ptr<State> state;
};
/// 16 lower-case hexadecimal digits.
std::string hexDigits(uint64_t value);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_HASH_H
