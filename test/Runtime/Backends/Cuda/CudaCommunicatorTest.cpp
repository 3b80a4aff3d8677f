//===- CudaCommunicatorTest.cpp - Collectives by NCCL ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of numbers whose sums are exact, since NCCL adds up in an order of
// its own, and steps of several GPUs, on the stand-ins. What all communicators
// do the same is tested by test/Runtime/Comm.
//
//===----------------------------------------------------------------------===//

#include "../../Comm/LoopbackTransport.h"
#include "../../Comm/Worlds.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace llmc::rt::test {
namespace {

constexpr std::chrono::seconds membersPatience(20);
const Origin collectiveOrigin{"operation", "model.py:88"};

/// A world of `n` GPUs, each with some memory and a stream; ranks in the
/// reverse order of devices.
class CudaCommunicatorTest : public testing::TestWithParam<WorldKind> {
protected:
  void make(int n, uint64_t bytes) {
    world = GetParam().make(n);
    std::vector<int> order;
    for (int rank = 0; rank < n; ++rank) {
      order.push_back(n - 1 - rank);
    }
    std::vector<Communicator *> made = *world->split({order});
    for (int rank = 0; rank < n; ++rank) {
      Device &device = world->device(order[rank]);
      group.push_back(made[static_cast<size_t>(order[rank])]);
      streams.push_back(
          *device.stream({"comm", 0, 64, 512, StreamUse::communication}));
      mirrors.push_back(std::make_unique<Mirror>(*world, device, 2 * bytes));
      half = bytes;
    }
  }
  template <typename T> T *in(int rank) {
    return reinterpret_cast<T *>(mirrors[rank]->host());
  }
  template <typename T> T *out(int rank) {
    return reinterpret_cast<T *>(mirrors[rank]->host() + half);
  }
  void enqueue(const Collective &collective) {
    for (size_t rank = 0; rank < group.size(); ++rank) {
      const void *from = mirrors[rank]->at(mirrors[rank]->host());
      void *to = mirrors[rank]->at(mirrors[rank]->host() + half);
      group[rank]->collective(*streams[rank], collective, &from, &to,
                              collectiveOrigin);
    }
  }
  Status push() {
    for (auto &mirror : mirrors) {
      LLMC_TRY(mirror->push());
    }
    return Status::success();
  }
  Status finish() {
    LLMC_TRY(world->drain(membersPatience));
    for (auto &mirror : mirrors) {
      LLMC_TRY(mirror->pull());
    }
    return Status::success();
  }

  std::unique_ptr<World> world;
  std::vector<Communicator *> group;
  std::vector<Stream *> streams;
  std::vector<std::unique_ptr<Mirror>> mirrors;
  uint64_t half = 0;
};

Collective makeCollective(CollectiveKind kind, uint64_t outer, uint64_t count) {
  Collective collective;
  collective.kind = kind;
  collective.buffers = {{outer, count, 1}};
  collective.symbol = "c";
  return collective;
}

template <typename T> struct TypeOf;
template <> struct TypeOf<float> {
  static constexpr DType type = DType::f32;
};
template <> struct TypeOf<double> {
  static constexpr DType type = DType::f64;
};
template <> struct TypeOf<int32_t> {
  static constexpr DType type = DType::i32;
};
template <> struct TypeOf<uint64_t> {
  static constexpr DType type = DType::u64;
};

/// Member r's element i.
template <typename T> T value(int rank, int64_t i) {
  return static_cast<T>(100 * (rank + 1) + i);
}

TEST_P(CudaCommunicatorTest, ReductionsOfExactNumbers) {
  make(3, 512);
  auto check = [&](auto zero) {
    using T = decltype(zero);
    constexpr int64_t count = 12;
    for (int rank = 0; rank < 3; ++rank) {
      for (int64_t i = 0; i < 3 * count; ++i) {
        in<T>(rank)[i] = value<T>(rank, i);
        out<T>(rank)[i] = 0;
      }
    }
    auto sum = [](int64_t i) {
      return value<T>(0, i) + value<T>(1, i) + value<T>(2, i);
    };
    Collective all = makeCollective(CollectiveKind::allReduce, 2, count / 2);
    all.type = all.accumulate = TypeOf<T>::type;
    ASSERT_TRUE(push().ok());
    enqueue(all);
    Status status = finish();
    ASSERT_TRUE(status.ok()) << status.message();
    for (int rank = 0; rank < 3; ++rank) {
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(out<T>(rank)[i], sum(i));
      }
    }
    Collective parts = makeCollective(CollectiveKind::reduceScatter, 2, 4);
    parts.type = parts.accumulate = TypeOf<T>::type;
    Collective one = makeCollective(CollectiveKind::reduce, 1, 3);
    one.type = one.accumulate = TypeOf<T>::type;
    one.root = 1;
    enqueue(parts);
    ASSERT_TRUE(finish().ok());
    for (int rank = 0; rank < 3; ++rank) {
      for (int64_t i = 0; i < 8; ++i) {
        ASSERT_EQ(out<T>(rank)[i], sum((i / 4 * 3 + rank) * 4 + i % 4));
      }
    }
    T untouched = out<T>(0)[0];
    enqueue(one);
    ASSERT_TRUE(finish().ok());
    EXPECT_EQ(out<T>(1)[2], sum(2));
    EXPECT_EQ(out<T>(0)[0], untouched);
  };
  check(0.0f);
  check(0.0);
  check(int32_t(0));
  check(uint64_t(0));
}

TEST_P(CudaCommunicatorTest, Booleans) {
  make(3, 64);
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 2);
  collective.type = collective.accumulate = DType::i1;
  for (auto [reduction, first, second] :
       {std::tuple(ReductionKind::bitAnd, 0, 1),
        std::tuple(ReductionKind::bitOr, 1, 1)}) {
    collective.reduction = reduction;
    for (int rank = 0; rank < 3; ++rank) {
      in<uint8_t>(rank)[0] = rank != 1;
      in<uint8_t>(rank)[1] = 1;
    }
    ASSERT_TRUE(push().ok());
    enqueue(collective);
    ASSERT_TRUE(finish().ok());
    EXPECT_EQ(out<uint8_t>(2)[0], first);
    EXPECT_EQ(out<uint8_t>(0)[1], second);
  }
}

// What NCCL does not have ends the world with the reason.
TEST_P(CudaCommunicatorTest, RefusalsAreOfTheEntry) {
  make(2, 64);
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 2);
  collective.accumulate = DType::f64;
  enqueue(collective);
  Status status = world->drain(membersPatience);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(),
            "NCCL has no all_reduce 'c': expected elements that are added up "
            "in their own type f32, got sums in f64");
}

// A step of several GPUs, twice over: captured by a thread of each, replayed.
TEST_P(CudaCommunicatorTest, StepsOfSeveralGpus) {
  make(4, 64);
  Collective gather = makeCollective(CollectiveKind::allGather, 2, 1);
  for (int step = 0; step < 4; ++step) {
    for (int rank = 0; rank < 4; ++rank) {
      in<float>(rank)[0] = value<float>(rank, 10 * step);
      in<float>(rank)[1] = value<float>(rank, 10 * step + 1);
    }
    ASSERT_TRUE(push().ok());
    if (world->beginStep(step % 2)) {
      enqueue(gather);
    }
    ASSERT_TRUE(world->submit().ok());
    Status status = finish();
    ASSERT_TRUE(status.ok()) << status.message();
    for (int rank = 0; rank < 4; ++rank) {
      for (int64_t i = 0; i < 8; ++i) {
        ASSERT_EQ(out<float>(rank)[i],
                  value<float>(static_cast<int>(i % 4), 10 * step + i / 4));
      }
    }
  }
  EXPECT_EQ(group[1]->counts().collectives[1], 4u);
  EXPECT_EQ(group[1]->counts().bytes[1], 4 * 8u);
}

// Transfers in a ring and a collective in one step, on streams of their own.
TEST_P(CudaCommunicatorTest, ARingOfTransfers) {
  constexpr int n = 3;
  make(n, 64);
  // Pairs of device d and the next one.
  std::vector<std::vector<Communicator *>> pairs;
  for (int d = 0; d < n; ++d) {
    pairs.push_back(*world->split({{d, (d + 1) % n}}));
  }
  for (int step = 0; step < 3; ++step) {
    for (int rank = 0; rank < n; ++rank) {
      in<float>(rank)[0] = value<float>(rank, step);
    }
    ASSERT_TRUE(push().ok());
    if (world->beginStep(1)) {
      for (int rank = 0; rank < n; ++rank) {
        int d = n - 1 - rank, before = (d + n - 1) % n;
        TransferPart parts[] = {
            {true, pairs[d][d], mirrors[rank]->at(in<float>(rank)), 4},
            {false, pairs[before][d], mirrors[rank]->at(out<float>(rank)), 4}};
        world->exchange(*streams[rank], parts, 2, collectiveOrigin);
      }
    }
    ASSERT_TRUE(world->submit().ok());
    Status status = finish();
    ASSERT_TRUE(status.ok()) << status.message();
    for (int rank = 0; rank < n; ++rank) {
      EXPECT_EQ(out<float>(rank)[0], value<float>((rank + 1) % n, step));
    }
  }
}

// Of one process it is known before a GPU waits.
TEST_P(CudaCommunicatorTest, AMissingMemberIsFoundBeforeTheStepRuns) {
  make(2, 64);
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 2);
  const void *from = mirrors[0]->at(mirrors[0]->host());
  void *to = mirrors[0]->at(mirrors[0]->host() + half);
  group[0]->collective(*streams[0], collective, &from, &to, collectiveOrigin);
  Status status = world->drain(membersPatience);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(),
            "deadlock: device 1 stream 'comm' at 'operation' (model.py:88) "
            "waits for devices 0 in all_reduce number 0");
}

// What is found while a step is issued is the error of this step, whatever the
// host asks other devices at that time.
TEST_P(CudaCommunicatorTest, AStepThatIsRefusedHasNotEnded) {
  constexpr int n = 8;
  Collective rows = makeCollective(CollectiveKind::raggedAllToAll, 1, 4);
  rows.rows = {1, 4, 4, 1};
  for (int trial = 0; trial < 200; ++trial) {
    std::unique_ptr<World> own = GetParam().make(n);
    Device &last = own->device(n - 1);
    Stream &stream = **last.stream({"comm", 0, 8, 8});
    Mirror mirror(*own, last, 64);
    Communicator &alone = *(*own->split({{n - 1}}))[n - 1];
    // One row from row 9 on.
    const int64_t counts[] = {9, 1, 0, 1};
    std::memcpy(mirror.host() + 32, counts, sizeof(counts));
    ASSERT_TRUE(mirror.push().ok());
    ASSERT_TRUE(own->beginStep(0));
    const void *ins[] = {mirror.at(mirror.host()),
                         mirror.at(mirror.host() + 32)};
    void *out = mirror.at(mirror.host() + 16);
    alone.collective(stream, rows, ins, &out, collectiveOrigin);
    (void)own->submit();
    EXPECT_EQ(own->wait(membersPatience).kind(), ErrorKind::mismatch);
  }
}

/// What ends a step in which device 0 meets device 1, whose process does not
/// come and is lost, in a collective that it repeats or not.
void loseProcess(const std::string &kind, bool repeats) {
  auto ends = makeLoopback(2);
  std::unique_ptr<World> worlds[2];
  std::vector<Communicator *> pair[2];
  std::thread threads[2];
  setenv("LLMC_CUDA_GRAPHS", kind == "CudaGraphs" ? "1" : "0", 1);
  for (int process : {0, 1}) {
    threads[process] = std::thread([&, process] {
      WorldOptions options;
      options.devices = 2;
      options.transport = ends[process];
      worlds[process] = *(*findBackend("cuda"))->makeWorld(options);
      pair[process] = *worlds[process]->split({{0, 1}});
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  World &own = *worlds[0];
  Mirror mirror(own, own.device(0), 64);
  Stream &stream = **own.device(0).stream({"comm", 0, 8, 4});
  Repeat &repeat = **own.device(0).repeat({&stream});
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 2);
  static const CopyBox flag{1, {}};
  ASSERT_TRUE(own.beginStep(0));
  const void *in = mirror.at(mirror.host());
  void *out = mirror.at(mirror.host() + 8);
  std::byte *holds = mirror.at(mirror.host() + 16);
  own.device(0).fill(stream, holds, 1, 1, flag, collectiveOrigin);
  if (repeats) {
    own.device(0).beginRepeat(repeat, holds, collectiveOrigin);
  }
  pair[0][0]->collective(stream, collective, &in, &out, collectiveOrigin);
  if (repeats) {
    own.device(0).endRepeat(repeat, collectiveOrigin);
  }
  ASSERT_TRUE(own.submit().ok());
  std::thread watch([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ends[0]->abort(makeError(ErrorKind::peerLost, "process 1 was killed"));
  });
  Status status = own.wait(membersPatience);
  watch.join();
  EXPECT_EQ(status.kind(), ErrorKind::peerLost);
  EXPECT_EQ(status.message(), "process 1 was killed");
  EXPECT_EQ(status.error().hint,
            "device 0 waited at 'operation' (model.py:88)");
}

// A process that waits for one that is gone ends with what the job says of it.
TEST_P(CudaCommunicatorTest, ALostProcessEndsTheStep) {
  loseProcess(GetParam().name, false);
}

TEST_P(CudaCommunicatorTest, ALostProcessEndsALoop) {
  loseProcess(GetParam().name, true);
}

INSTANTIATE_TEST_SUITE_P(Worlds, CudaCommunicatorTest,
                         testing::ValuesIn(cudaWorlds({})),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
