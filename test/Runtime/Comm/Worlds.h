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

#include <cstdlib>
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
  WorldOptions options;
  options.devices = devices;
  options.threads = threads;
  options.shuffleSeed = seed;
  return makeCpuWorld(options);
}

inline std::unique_ptr<World> makeOpaque(int devices) {
  WorldOptions options;
  options.devices = devices;
  options.threads = 2;
  return *(*findBackend("opaque"))->makeWorld(options);
}

/// GPUs, as the stand-ins of test/Runtime/StandIn have them.
inline std::unique_ptr<World> makeCuda(int devices, bool capturesSteps) {
  setenv("LLMC_CUDA_GRAPHS", capturesSteps ? "1" : "0", 1);
  WorldOptions options;
  options.devices = devices;
  return *(*findBackend("cuda"))->makeWorld(options);
}

/// Where the stand-ins are built: one world that captures steps and one that
/// enqueues them. `refusals` of both.
inline std::vector<WorldKind>
cudaWorlds(const std::map<std::string, std::string> &refusals) {
#ifdef LLMC_TEST_STAND_INS
  return {
      {"CudaGraphs", [](int n) { return makeCuda(n, true); }, refusals},
      {"CudaEager", [](int n) { return makeCuda(n, false); }, refusals},
  };
#else
  return {};
#endif
}

/// Those whose libraries have everything.
inline std::vector<WorldKind> allWorlds() {
  return {
      {"Cpu1", [](int n) { return makeCpu(n, 1, {}); }, {}},
      {"Cpu3", [](int n) { return makeCpu(n, 3, {}); }, {}},
      {"CpuShuffle", [](int n) { return makeCpu(n, 1, 7); }, {}},
      {"Opaque", makeOpaque, {}},
  };
}

/// With those whose libraries have not: for tests of the rest.
inline std::vector<WorldKind> allDevices() {
  std::vector<WorldKind> kinds = allWorlds();
  for (WorldKind &kind : cudaWorlds({})) {
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

/// Device memory and a copy of it on the host, where tests write and read: they
/// follow no address of device memory either.
class Mirror {
public:
  Mirror(World &world, Device &device, uint64_t bytes)
      : world(world), device(device),
        stream(**device.stream({"mirror", 0, 4, 0})),
        there(*device.reserve(bytes, MemoryKind::device)),
        here(*device.reserve(bytes, MemoryKind::host)), box{bytes, {}} {}

  std::byte *host() const { return here.base; }
  /// The device's address of what `place` in the host's copy stands for.
  std::byte *at(const void *place) const {
    return there.base + (static_cast<const std::byte *>(place) - here.base);
  }
  Status push() {
    device.copy(stream, there.base, here.base, box, origin);
    return world.drain(std::chrono::seconds(20));
  }
  Status pull() {
    device.copy(stream, here.base, there.base, box, origin);
    return world.drain(std::chrono::seconds(20));
  }

private:
  World &world;
  Device &device;
  Stream &stream;
  Arena there, here;
  CopyBox box;
  Origin origin{"mirror", ""};
};

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_COMM_WORLDS_H
