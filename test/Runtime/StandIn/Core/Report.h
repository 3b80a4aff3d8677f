//===- Report.h - What the stand-ins say, and their numbers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a GPU's libraries document an error, the stand-ins return it. Where
// they say that the behaviour is undefined, the stand-ins end the process by
// `violation`, so that a test sees it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_REPORT_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_REPORT_H

#include <cstdint>
#include <string>

namespace llmc::standin {

/// Prints "stand-in: <text>" on stderr and aborts. Lock held or not.
[[noreturn]] void violation(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/// Says why a call is about to return an error, where LLMC_STANDIN_EXPLAIN
/// is 1.
void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

std::string format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/// The number that the environment variable `name` holds, or `otherwise`.
uint64_t environmentNumber(const char *name, uint64_t otherwise);

/// Repeatable numbers (SplitMix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    state += 0x9e3779b97f4a7c15ull;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// A number below `bound`, which is not 0.
  uint64_t below(uint64_t bound) {
    return (static_cast<unsigned __int128>(next()) * bound) >> 64;
  }

private:
  uint64_t state;
};

/// LLMC_STANDIN_SEED, or 1.
uint64_t seed();

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_REPORT_H
