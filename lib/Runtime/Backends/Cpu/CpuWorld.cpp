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
      : numDevices(static_cast<int>(options.devices)),
        messages(options.transport), pool(options) {
    int count = numDevices / (messages ? messages->size() : 1);
    numbers.resize(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(),
              messages ? messages->process() * count : 0);
    for (int number : numbers) {
      devices.push_back(std::make_unique<cpu::CpuDevice>(
          pool, library, reserved, number, options.threadsPerDevice));
    }
  }

  int size() const override { return numDevices; }
  const std::vector<int> &local() const override { return numbers; }
  Transport *transport() const override { return messages.get(); }
  Device &device(int number) override {
    return *devices[static_cast<size_t>(number - numbers[0])];
  }

  Result<std::vector<Communicator *>>
  split(const std::vector<std::vector<int>> &groups) override {
    std::vector<bool> taken(static_cast<size_t>(numDevices));
    std::vector<Communicator *> handles(numbers.size());
    for (const std::vector<int> &members : groups) {
      LLMC_TRY(check(members, taken));
      cpu::Group *group = pool.addGroup(members);
      for (int rank : group->local) {
        communicators.push_back(
            std::make_unique<cpu::CpuCommunicator>(pool, *group, rank));
        handles[static_cast<size_t>(members[rank] - numbers[0])] =
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
  std::optional<double> exposedSeconds() const override {
    return pool.exposedSeconds() / static_cast<double>(devices.size());
  }
  OrderDigest order() const override { return pool.digest(); }
  std::vector<TraceSpan> takeTrace() override { return pool.takeTrace(); }

private:
  /// Each device is in one group at most.
  Status check(const std::vector<int> &members,
               std::vector<bool> &taken) const {
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
    for (int member : members) {
      taken[static_cast<size_t>(member)] = true;
    }
    return Status::success();
  }

  cpu::KernelLibrary library;
  uint64_t reserved = 0; ///< Bytes of device memory.
  int numDevices;
  std::shared_ptr<Transport> messages;
  std::vector<int> numbers; ///< Of the devices of this process.
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
