//===- CpuWorld.cpp - N virtual devices in this process -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include "CpuDevice.h"

#include <fmt/format.h>

#include <numeric>

namespace llmc::rt {

namespace {

class CpuWorldImpl final : public CpuWorld {
public:
  explicit CpuWorldImpl(const CpuOptions &options)
      : pool(options), numbers(static_cast<size_t>(options.devices)) {
    std::iota(numbers.begin(), numbers.end(), 0);
    for (int number : numbers) {
      devices.push_back(std::make_unique<cpu::CpuDevice>(
          pool, library, number, options.threadsPerDevice));
    }
  }

  int size() const override { return static_cast<int>(numbers.size()); }
  const std::vector<int> &local() const override { return numbers; }
  Device &device(int number) override {
    return *devices[static_cast<size_t>(number)];
  }

  Result<std::vector<Communicator *>>
  communicator(const std::vector<int> &members, int tags) override {
    for (int member : members) {
      if (member < 0 || member >= size()) {
        return makeError(ErrorKind::mismatch,
                         fmt::format("expected a device in [0, {}) in a group, "
                                     "got {}",
                                     size(), member));
      }
    }
    if (members.empty() || members.size() > cpu::mostMembers) {
      return makeError(ErrorKind::mismatch,
                       fmt::format("expected a group of 1 to {} devices, got "
                                   "{}",
                                   cpu::mostMembers, members.size()));
    }
    cpu::Group *group = pool.addGroup(members, tags);
    std::vector<Communicator *> handles;
    for (int rank = 0; rank < group->size(); ++rank) {
      communicators.push_back(
          std::make_unique<cpu::CpuCommunicator>(pool, *group, rank));
      handles.push_back(communicators.back().get());
    }
    return handles;
  }

  Status drain(std::chrono::milliseconds deadline) override {
    return pool.drain(deadline);
  }
  OrderDigest digest() const override { return pool.digest(); }

private:
  cpu::KernelLibrary library; ///< Outlives the pool, which calls its code.
  cpu::Pool pool;
  std::vector<int> numbers;
  std::vector<std::unique_ptr<cpu::CpuDevice>> devices;
  std::vector<std::unique_ptr<cpu::CpuCommunicator>> communicators;
};

} // namespace

std::unique_ptr<CpuWorld> makeCpuWorld(const CpuOptions &options) {
  return std::make_unique<CpuWorldImpl>(options);
}

} // namespace llmc::rt
