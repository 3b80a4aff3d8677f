//===- ProcessesWorld.cpp - The worlds of several processes as one --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesWorld.h"

#include "LoopbackTransport.h"
#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

namespace llmc::rt::test {

namespace {

class ProcessesWorld final : public World {
public:
  ProcessesWorld(int devices, int ofProcess, const MakeProcess &make)
      : all(static_cast<size_t>(devices)), ofProcess(ofProcess) {
    std::iota(all.begin(), all.end(), 0);
    auto ends = makeLoopback(devices / ofProcess);
    worlds.resize(ends.size());
    (void)each(
        [&](std::unique_ptr<World> &world) {
          WorldOptions options;
          options.devices = devices;
          options.transport = ends[static_cast<size_t>(&world - worlds.data())];
          world = make(options);
          return Status::success();
        },
        /*endsOthers=*/false);
  }

  int size() const override { return static_cast<int>(all.size()); }
  const std::vector<int> &local() const override { return all; }
  Device &device(int number) override { return ownerOf(number).device(number); }

  Result<std::vector<Communicator *>>
  split(const std::vector<std::vector<int>> &groups) override {
    std::vector<std::vector<Communicator *>> ofWorld(worlds.size());
    LLMC_TRY(each(
        [&](std::unique_ptr<World> &world) {
          auto &own = ofWorld[static_cast<size_t>(&world - worlds.data())];
          LLMC_TRY_ASSIGN(own, world->split(groups));
          return Status::success();
        },
        /*endsOthers=*/false));
    std::vector<Communicator *> handles;
    for (size_t i = 0; i < worlds.size(); ++i) {
      for (Communicator *handle : ofWorld[i]) {
        owners[handle] = worlds[i].get();
        handles.push_back(handle);
      }
    }
    return handles;
  }
  void exchange(Stream &stream, const TransferPart *parts, uint32_t numParts,
                const Origin &origin) override {
    owners.at(parts[0].communicator)->exchange(stream, parts, numParts, origin);
  }
  bool beginStep(uint64_t key) override {
    return each([&](std::unique_ptr<World> &world) {
             world->beginStep(key);
             return Status::success();
           })
        .ok();
  }
  Status submit() override {
    return each([](std::unique_ptr<World> &world) { return world->submit(); });
  }
  Status wait(std::chrono::milliseconds deadline) override {
    return each(
        [&](std::unique_ptr<World> &world) { return world->wait(deadline); });
  }
  Status drain(std::chrono::milliseconds deadline) override {
    return each(
        [&](std::unique_ptr<World> &world) { return world->drain(deadline); });
  }

private:
  World &ownerOf(int number) {
    return *worlds[static_cast<size_t>(number / ofProcess)];
  }

  /// All processes at once. The first error ends the others too, as the watch
  /// over a job does.
  template <typename Call>
  Status each(const Call &call, bool endsOthers = true) {
    std::mutex mutex;
    Status first;
    std::vector<std::thread> threads;
    for (auto &world : worlds) {
      threads.emplace_back([&] {
        Status status = call(world);
        std::lock_guard<std::mutex> lock(mutex);
        if (first.ok() && !status.ok()) {
          first = status;
          for (auto &other : worlds) {
            if (endsOthers) {
              other->transport()->abort(status);
            }
          }
        }
      });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
    return first;
  }

  std::vector<int> all;
  int ofProcess;
  std::vector<std::unique_ptr<World>> worlds;
  std::map<const Communicator *, World *> owners;
};

} // namespace

std::unique_ptr<World> makeProcesses(int devices, int mostOfProcess,
                                     const MakeProcess &make) {
  int ofProcess = std::max(1, std::min(mostOfProcess, devices / 2));
  while (devices % ofProcess != 0) {
    --ofProcess;
  }
  return std::make_unique<ProcessesWorld>(devices, ofProcess, make);
}

} // namespace llmc::rt::test
