//===- CpuWorld.cpp - N virtual devices in this process -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include "CpuDevice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace llmc::rt {

namespace {

class CpuWorld final : public World {
public:
  explicit CpuWorld(const WorldOptions &options)
      : numbers(static_cast<size_t>(options.devices)), pool(options) {
    std::iota(numbers.begin(), numbers.end(), 0);
    for (int number : numbers) {
      devices.push_back(std::make_unique<cpu::CpuDevice>(
          pool, library, reserved, number, options.threadsPerDevice));
    }
  }

  int size() const override { return static_cast<int>(numbers.size()); }
  const std::vector<int> &local() const override { return numbers; }
  Device &device(int number) override {
    return *devices[static_cast<size_t>(number)];
  }

  Result<std::vector<Communicator *>>
  split(const std::vector<std::vector<int>> &groups) override {
    std::vector<Communicator *> handles(numbers.size());
    for (const std::vector<int> &members : groups) {
      LLMC_TRY(check(members, handles));
      cpu::Group *group = pool.addGroup(members);
      for (int rank = 0; rank < group->size(); ++rank) {
        communicators.push_back(
            std::make_unique<cpu::CpuCommunicator>(pool, *group, rank));
        handles[static_cast<size_t>(members[static_cast<size_t>(rank)])] =
            communicators.back().get();
      }
    }
    return handles;
  }
  void exchange(Stream &stream, const TransferPart *parts, uint32_t numParts,
                const Origin &origin) override {
    pool.pushExchange(static_cast<cpu::CpuStream &>(stream), parts, numParts,
                      origin);
  }

  // Queues are filled anew for each step, while the one before it runs.
  bool beginStep(uint64_t) override { return true; }
  Status submit() override { return pool.submit(); }
  Status wait(std::chrono::milliseconds deadline) override {
    return pool.wait(deadline);
  }
  Status drain(std::chrono::milliseconds deadline) override {
    return pool.drain(deadline);
  }
  OrderDigest order() const override { return pool.digest(); }

private:
  /// Each device is in one group at most.
  Status check(const std::vector<int> &members,
               const std::vector<Communicator *> &taken) const {
    if (members.empty() || members.size() > cpu::mostMembers) {
      return makeError(ErrorKind::mismatch,
                       fmt::format("expected a group of 1 to {} devices, got "
                                   "{}",
                                   cpu::mostMembers, members.size()));
    }
    for (int member : members) {
      if (member < 0 || member >= size() ||
          taken[static_cast<size_t>(member)] ||
          std::count(members.begin(), members.end(), member) != 1) {
        return makeError(
            ErrorKind::mismatch,
            fmt::format("expected a device in [0, {}) in a group, which is in "
                        "no other place, got {}",
                        size(), member));
      }
    }
    return Status::success();
  }

  cpu::KernelLibrary library;
  uint64_t reserved = 0; ///< Bytes of device memory.
  std::vector<int> numbers;
  std::vector<std::unique_ptr<cpu::CpuDevice>> devices;
  std::vector<std::unique_ptr<cpu::CpuCommunicator>> communicators;
  /// Goes first: its workers use all of the above.
  cpu::Pool pool;
};

} // namespace

std::unique_ptr<World> makeCpuWorld(const WorldOptions &options) {
  return std::make_unique<CpuWorld>(options);
}

} // namespace llmc::rt
