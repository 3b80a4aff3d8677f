//===- Hash.cpp - XXH3 checksums ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace llmc::rt {

uint64_t hash64(const void *data, size_t size, uint64_t seed) {
  return XXH3_64bits_withSeed(data, size, seed);
}

struct Hasher::State {
  XXH3_state_t hash;
};

Hasher::Hasher() : state(std::make_unique<State>()) {
  XXH3_64bits_reset(&state->hash);
}
Hasher::Hasher(Hasher &&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::add(const void *data, size_t size) {
  XXH3_64bits_update(&state->hash, data, size);
}

uint64_t Hasher::value() const { return XXH3_64bits_digest(&state->hash); }

std::string hexDigits(uint64_t value) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) {
    text[i] = digits[value & 15];
  }
  return text;
}

} // namespace llmc::rt
