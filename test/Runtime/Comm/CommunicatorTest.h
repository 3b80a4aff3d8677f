//===- CommunicatorTest.h - A world of members in one group -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the conformance tests of communicators share: a world in which member
// r's element i is value(r, i), with its buffers on the host and the devices.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_COMM_COMMUNICATORTEST_H
#define LLMC_TEST_RUNTIME_COMM_COMMUNICATORTEST_H

#include "ProcessesWorld.h"
#include "Worlds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace llmc::rt::test {

inline constexpr std::chrono::seconds patience(20);
inline const Origin origin{"operation", "model.py:88"};

inline float value(int member, int64_t i) {
  return static_cast<float>(100 * (member + 1)) + static_cast<float>(i) / 7;
}

/// What NCCL does otherwise than `Communicator` says. Sums of integers, whose
/// order does not matter, are tested by test/Runtime/Backends/Cuda.
inline const std::map<std::string, std::string> &refusalsOfNccl() {
  static const char *order = "NCCL adds members up in an order of its own";
  static const char *type = "NCCL adds up in the type of the elements";
  static const std::map<std::string, std::string> refusals = {
      {"AllReduceInRankOrder", order},
      {"ReduceReachesTheRootOnly", order},
      {"ReduceScatter", order},
      {"ReduceScatterInPlace", order},
      {"AccumulatesInTheGivenType", type},
      {"ReducesBFloat16InSingle", type},
      {"ReducesIntegersAndFlags", "NCCL has no bitwise reductions of integers"},
  };
  return refusals;
}

/// Those whose devices several processes drive beside all others.
inline std::vector<WorldKind> allCommunicators() {
  std::vector<WorldKind> kinds = allWorlds();
  for (int ofProcess : {1, 2}) {
    kinds.push_back({"Processes" + std::to_string(ofProcess),
                     [=](int n) {
                       return makeProcesses(n, ofProcess,
                                            [](WorldOptions options) {
                                              options.threads = 2;
                                              return makeCpuWorld(options);
                                            });
                     },
                     {}});
  }
#ifdef LLMC_TEST_STAND_IN_NCCL
  for (WorldKind &kind : cudaWorlds(refusalsOfNccl())) {
    kinds.push_back(std::move(kind));
  }
  for (int ofProcess : {1, 2}) {
    kinds.push_back({"CudaProcesses" + std::to_string(ofProcess),
                     [=](int n) {
                       setenv("LLMC_CUDA_GRAPHS", "1", 1);
                       return makeProcesses(
                           n, ofProcess, [](const WorldOptions &options) {
                             return *(*findBackend("cuda"))->makeWorld(options);
                           });
                     },
                     refusalsOfNccl()});
    kinds.back().refusals["DifferentSizesAreRefused"] =
        "NCCL does not compare what members in other processes bring";
  }
#endif
  return kinds;
}

class CommunicatorTest : public testing::TestWithParam<WorldKind> {
protected:
  void SetUp() override {
    std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    name = name.substr(0, name.find('/'));
    if (auto it = GetParam().refusals.find(name);
        it != GetParam().refusals.end()) {
      GTEST_SKIP() << it->second;
    }
  }

  /// A world of `n` members in one group, in reverse order of devices, with
  /// `bytes` of in and out for each.
  void make(int n, uint64_t bytes) {
    world = GetParam().make(n);
    std::vector<int> order;
    for (int rank = 0; rank < n; ++rank) {
      order.push_back(n - 1 - rank);
    }
    std::vector<Communicator *> made = *world->split({order});
    for (int rank = 0; rank < n; ++rank) {
      group.push_back(made[static_cast<size_t>(order[rank])]);
      Device &device = world->device(order[rank]);
      devices.push_back(&device);
      streams.push_back(*device.stream({"comm", 0, 64, 1024}));
      uint64_t half = (bytes + 63) / 64 * 64;
      mirrors.push_back(std::make_unique<Mirror>(*world, device, 2 * half));
      ins.push_back(mirrors.back()->host());
      outs.push_back(ins.back() + half);
      std::memset(outs.back(), 0x5a, bytes);
    }
  }

  float *in(int rank) { return reinterpret_cast<float *>(ins[rank]); }
  float *out(int rank) { return reinterpret_cast<float *>(outs[rank]); }

  void fillInputs(int64_t count) {
    for (size_t rank = 0; rank < ins.size(); ++rank) {
      for (int64_t i = 0; i < count; ++i) {
        in(static_cast<int>(rank))[i] = value(static_cast<int>(rank), i);
      }
    }
  }

  /// Where the device has what tests write and read on the host.
  void *at(int rank, const void *place) {
    return mirrors[static_cast<size_t>(rank)]->at(place);
  }
  Status push() {
    for (auto &mirror : mirrors) {
      LLMC_TRY(mirror->push());
    }
    return Status::success();
  }
  /// Runs what was enqueued since `push`.
  Status finish() {
    LLMC_TRY(world->drain(patience));
    for (auto &mirror : mirrors) {
      LLMC_TRY(mirror->pull());
    }
    return Status::success();
  }

  void enqueue(Communicator &own, int rank, Stream &stream,
               const Collective &collective, const void *from, void *to) {
    const void *in = at(rank, from);
    void *out = at(rank, to);
    own.collective(stream, collective, &in, &out, origin);
  }
  Status run(const Collective &collective) {
    LLMC_TRY(push());
    for (int rank = 0; rank < static_cast<int>(group.size()); ++rank) {
      enqueue(*group[rank], rank, *streams[rank], collective, ins[rank],
              outs[rank]);
    }
    return finish();
  }

  std::unique_ptr<World> world;
  std::vector<Communicator *> group;
  std::vector<Device *> devices;
  std::vector<Stream *> streams;
  std::vector<std::unique_ptr<Mirror>> mirrors;
  std::vector<std::byte *> ins, outs; ///< On the host.
};

inline Collective makeCollective(CollectiveKind kind, uint64_t outer,
                                 uint64_t count) {
  Collective collective;
  collective.kind = kind;
  collective.buffers = {{outer, count, 1}};
  collective.symbol = "c";
  return collective;
}

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_COMM_COMMUNICATORTEST_H
