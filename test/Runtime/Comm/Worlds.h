//===- Worlds.h - The worlds that conformance tests run on ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new backend adds a row; the suites of Device and Comm then run on it. What
// it cannot do stands in `refusals` with the reason, and is printed as skipped.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_COMM_WORLDS_H
#define LLMC_TEST_RUNTIME_COMM_WORLDS_H

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace llmc::rt::test {

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<World>(int devices)> make;
  std::map<std::string, std::string> refusals; ///< Test -> reason.
};

inline std::ostream &operator<<(std::ostream &os, const WorldKind &kind) {
  return os << kind.name;
}

inline std::unique_ptr<World> makeCpu(int devices, int threads,
                                      std::optional<uint64_t> seed) {
  CpuOptions options;
  options.devices = devices;
  options.threads = threads;
  options.shuffleSeed = seed;
  return makeCpuWorld(options);
}

inline std::vector<WorldKind> allWorlds() {
  return {
      {"Cpu1", [](int n) { return makeCpu(n, 1, {}); }, {}},
      {"Cpu3", [](int n) { return makeCpu(n, 3, {}); }, {}},
      {"CpuShuffle", [](int n) { return makeCpu(n, 1, 7); }, {}},
  };
}

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_COMM_WORLDS_H
