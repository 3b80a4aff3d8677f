//===- ConformanceTest.cpp - What every communicator must do --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each test enqueues one operation on all members and compares every byte with
// plain arithmetic. Member r's element i is value(r, i).
//
//===----------------------------------------------------------------------===//

#include "Worlds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace llmc::rt::test {
namespace {

constexpr std::chrono::seconds patience(20);
const Origin origin{"operation", "model.py:88"};

float value(int member, int64_t i) {
  return static_cast<float>(100 * (member + 1)) + static_cast<float>(i) / 7;
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

Collective makeCollective(CollectiveKind kind, uint64_t outer, uint64_t count) {
  Collective collective;
  collective.kind = kind;
  collective.buffers = {{outer, count, 1}};
  collective.symbol = "c";
  return collective;
}

// Members are combined in rank order, and all get the same bits.
TEST_P(CommunicatorTest, AllReduceInRankOrder) {
  constexpr int64_t count = 100003;
  make(3, count * sizeof(float));
  fillInputs(count);
  ASSERT_TRUE(run(makeCollective(CollectiveKind::allReduce, 1, count)).ok());
  for (int64_t i = 0; i < count; ++i) {
    float expected = (value(0, i) + value(1, i)) + value(2, i);
    for (int rank = 0; rank < 3; ++rank) {
      ASSERT_EQ(out(rank)[i], expected) << rank << " " << i;
    }
  }
  EXPECT_EQ(group[0]->counts().collectives[0], 1u);
  EXPECT_EQ(group[0]->counts().bytes[0], count * sizeof(float));
}

TEST_P(CommunicatorTest, AllReduceInPlace) {
  make(4, 40);
  fillInputs(10);
  outs = ins;
  Collective collective = makeCollective(CollectiveKind::allReduce, 2, 5);
  collective.reduction = ReductionKind::max;
  ASSERT_TRUE(run(collective).ok());
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(out(rank)[9], value(3, 9));
  }
}

// 1 + 2^-24 three times: lost one by one in f32, kept in f64 until the end.
TEST_P(CommunicatorTest, AccumulatesInTheGivenType) {
  make(4, 4);
  for (int rank = 0; rank < 4; ++rank) {
    in(rank)[0] = rank == 0 ? 1.0f : std::ldexp(1.0f, -24);
  }
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 1);
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(out(0)[0], 1.0f);
  collective.accumulate = DType::f64;
  ASSERT_TRUE(run(collective).ok());
  EXPECT_GT(out(3)[0], 1.0f);
}

TEST_P(CommunicatorTest, ReducesBFloat16InSingle) {
  make(3, 2);
  for (int rank = 0; rank < 3; ++rank) {
    *reinterpret_cast<uint16_t *>(ins[rank]) =
        toBFloat16(rank == 0 ? 256.0f : 1.0f);
  }
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 1);
  collective.type = DType::bf16;
  ASSERT_TRUE(run(collective).ok());
  // Each 256 + 1 alone would round to 256.
  EXPECT_EQ(fromBFloat16(*reinterpret_cast<uint16_t *>(outs[1])), 258.0f);
}

TEST_P(CommunicatorTest, ReducesIntegersAndFlags) {
  make(3, 8);
  for (int rank = 0; rank < 3; ++rank) {
    *reinterpret_cast<int64_t *>(ins[rank]) = (int64_t(1) << 60) + rank;
  }
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 1);
  collective.type = DType::i64;
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(*reinterpret_cast<int64_t *>(outs[2]), (int64_t(3) << 60) + 3);
  // Bit by bit, as the ops of a graph.
  const int64_t bits[] = {0b110, 0b011, 0b111};
  for (int rank = 0; rank < 3; ++rank) {
    *reinterpret_cast<int64_t *>(ins[rank]) = bits[rank];
  }
  collective.reduction = ReductionKind::bitAnd;
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(*reinterpret_cast<int64_t *>(outs[1]), 0b010);
  collective.reduction = ReductionKind::product;
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(*reinterpret_cast<int64_t *>(outs[1]), 6 * 3 * 7);
  collective.type = DType::i1;
  collective.reduction = ReductionKind::bitAnd;
  for (int rank = 0; rank < 3; ++rank) {
    ins[rank][0] = std::byte(rank != 1);
  }
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(outs[0][0], std::byte(0));
  collective.reduction = ReductionKind::bitOr;
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(outs[0][0], std::byte(1));
}

TEST_P(CommunicatorTest, ReduceReachesTheRootOnly) {
  make(3, 8);
  fillInputs(2);
  Collective collective = makeCollective(CollectiveKind::reduce, 1, 2);
  collective.root = 1;
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(out(1)[1], (value(0, 1) + value(1, 1)) + value(2, 1));
  EXPECT_EQ(outs[0][0], std::byte(0x5a));
}

// [outer, count] of each member side by side along an inner dimension.
TEST_P(CommunicatorTest, AllGather) {
  make(3, 4 * 3 * 5 * sizeof(float));
  fillInputs(20);
  ASSERT_TRUE(run(makeCollective(CollectiveKind::allGather, 4, 5)).ok());
  for (int rank = 0; rank < 3; ++rank) {
    for (int o = 0; o < 4; ++o) {
      for (int from = 0; from < 3; ++from) {
        for (int i = 0; i < 5; ++i) {
          ASSERT_EQ(out(rank)[(o * 3 + from) * 5 + i], value(from, o * 5 + i));
        }
      }
    }
  }
}

// The input is the member's own part of the output.
TEST_P(CommunicatorTest, AllGatherInPlace) {
  make(3, 3 * 5 * sizeof(float));
  for (int rank = 0; rank < 3; ++rank) {
    ins[rank] = outs[rank] + rank * 5 * sizeof(float);
  }
  fillInputs(5);
  ASSERT_TRUE(run(makeCollective(CollectiveKind::allGather, 1, 5)).ok());
  for (int rank = 0; rank < 3; ++rank) {
    for (int i = 0; i < 15; ++i) {
      ASSERT_EQ(out(rank)[i], value(i / 5, i % 5));
    }
  }
}

TEST_P(CommunicatorTest, ReduceScatter) {
  make(3, 2 * 3 * 4 * sizeof(float));
  fillInputs(24);
  ASSERT_TRUE(run(makeCollective(CollectiveKind::reduceScatter, 2, 4)).ok());
  for (int rank = 0; rank < 3; ++rank) {
    for (int o = 0; o < 2; ++o) {
      for (int i = 0; i < 4; ++i) {
        int64_t at = (o * 3 + rank) * 4 + i;
        ASSERT_EQ(out(rank)[o * 4 + i],
                  (value(0, at) + value(1, at)) + value(2, at));
      }
    }
  }
}

// The output is the member's own part of the input.
TEST_P(CommunicatorTest, ReduceScatterInPlace) {
  make(3, 12 * sizeof(float));
  fillInputs(12);
  for (int rank = 0; rank < 3; ++rank) {
    outs[rank] = ins[rank] + rank * 4 * sizeof(float);
  }
  ASSERT_TRUE(run(makeCollective(CollectiveKind::reduceScatter, 1, 4)).ok());
  for (int rank = 0; rank < 3; ++rank) {
    int64_t at = rank * 4 + 3;
    EXPECT_EQ(out(rank)[3], (value(0, at) + value(1, at)) + value(2, at));
  }
}

// A [4, 6] matrix split along columns becomes one split along rows:
// in [4, 3 x 2] -> out [12, 2] seen as [1, 3, 8].
TEST_P(CommunicatorTest, AllToAll) {
  make(3, 24 * sizeof(float));
  fillInputs(24);
  Collective collective = makeCollective(CollectiveKind::allToAll, 4, 2);
  ASSERT_TRUE(run(collective).ok());
  for (int rank = 0; rank < 3; ++rank) {
    for (int from = 0; from < 3; ++from) {
      for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(out(rank)[from * 8 + i],
                  value(from, i / 2 * 6 + rank * 2 + i % 2));
      }
    }
  }
}

// in [1, 3, 8] -> out [4, 3, 2]: the inverse.
TEST_P(CommunicatorTest, AllToAllBack) {
  make(3, 24 * sizeof(float));
  fillInputs(24);
  Collective collective = makeCollective(CollectiveKind::allToAll, 1, 8);
  collective.buffers[0].outerOut = 4;
  ASSERT_TRUE(run(collective).ok());
  for (int rank = 0; rank < 3; ++rank) {
    for (int from = 0; from < 3; ++from) {
      for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(out(rank)[i / 2 * 6 + from * 2 + i % 2],
                  value(from, rank * 8 + i));
      }
    }
  }
}

TEST_P(CommunicatorTest, BroadcastAndPermute) {
  make(3, 3 * sizeof(float));
  fillInputs(3);
  Collective collective = makeCollective(CollectiveKind::broadcast, 1, 3);
  collective.root = 2;
  ASSERT_TRUE(run(collective).ok());
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(out(rank)[2], value(2, 2));
  }
  collective.kind = CollectiveKind::permute;
  collective.sources = {2, 0, -1};
  ASSERT_TRUE(run(collective).ok());
  EXPECT_EQ(out(0)[1], value(2, 1));
  EXPECT_EQ(out(1)[1], value(0, 1));
  EXPECT_EQ(out(2)[1], 0.0f);
}

// A bucket of two buffers is one collective.
TEST_P(CommunicatorTest, SeveralBuffers) {
  make(2, 64);
  fillInputs(8);
  ASSERT_TRUE(push().ok());
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 3);
  collective.buffers.push_back({1, 2, 1});
  for (int rank = 0; rank < 2; ++rank) {
    const void *from[] = {at(rank, in(rank)), at(rank, in(rank) + 3)};
    void *to[] = {at(rank, out(rank)), at(rank, out(rank) + 8)};
    group[rank]->collective(*streams[rank], collective, from, to, origin);
  }
  ASSERT_TRUE(finish().ok());
  EXPECT_EQ(out(1)[2], value(0, 2) + value(1, 2));
  EXPECT_EQ(out(0)[9], value(0, 4) + value(1, 4));
}

// Both directions in one exchange on each side; also twice over one channel.
TEST_P(CommunicatorTest, Exchange) {
  make(2, 64);
  fillInputs(8);
  ASSERT_TRUE(push().ok());
  for (int rank = 0; rank < 2; ++rank) {
    Communicator *own = group[rank];
    TransferPart parts[] = {{true, own, at(rank, in(rank)), 8},
                            {false, own, at(rank, out(rank)), 8},
                            {true, own, at(rank, in(rank) + 2), 4},
                            {false, own, at(rank, out(rank) + 2), 4}};
    world->exchange(*streams[rank], parts, 4, origin);
  }
  ASSERT_TRUE(finish().ok());
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(out(rank)[i], value(1 - rank, i));
    }
  }
  EXPECT_EQ(group[0]->counts().transfers, 4u);
  EXPECT_EQ(group[0]->counts().transferBytes, 24u);
}

// Sends and receives on streams of their own need no order between them.
TEST_P(CommunicatorTest, OneStreamForEachDirection) {
  make(2, 64);
  fillInputs(1);
  ASSERT_TRUE(push().ok());
  for (int rank = 0; rank < 2; ++rank) {
    Stream *receive = *devices[rank]->stream({"receive", 0, 4, 16});
    TransferPart send{true, group[rank], at(rank, in(rank)), 4};
    TransferPart take{false, group[rank], at(rank, out(rank)), 4};
    world->exchange(*streams[rank], &send, 1, origin);
    world->exchange(*receive, &take, 1, origin);
  }
  ASSERT_TRUE(finish().ok());
  EXPECT_EQ(out(0)[0], value(1, 0));
}

// Two splits over the same devices keep transfers apart, whatever the order.
TEST_P(CommunicatorTest, SplitsMeetApart) {
  make(2, 64);
  fillInputs(2);
  ASSERT_TRUE(push().ok());
  std::vector<Communicator *> splits[] = {*world->split({{1, 0}}),
                                          *world->split({{1, 0}})};
  Stream *other = *devices[1]->stream({"other", 0, 4, 16});
  for (int i = 0; i < 2; ++i) {
    TransferPart send{true, splits[i][1], at(0, in(0) + i), 4};
    world->exchange(*streams[0], &send, 1, origin);
  }
  for (int i = 1; i >= 0; --i) {
    TransferPart take{false, splits[i][0], at(1, out(1) + i), 4};
    world->exchange(i ? *other : *streams[1], &take, 1, origin);
  }
  ASSERT_TRUE(finish().ok());
  EXPECT_EQ(out(1)[0], value(0, 0));
  EXPECT_EQ(out(1)[1], value(0, 1));
}

// One call makes the communicators of all groups; who is in none has none.
TEST_P(CommunicatorTest, OneSplitMakesAllGroups) {
  make(5, 4);
  std::vector<Communicator *> made = *world->split({{3, 0}, {1, 4}});
  ASSERT_EQ(made.size(), 5u);
  EXPECT_EQ(made[2], nullptr);
  for (auto [device, rank] :
       {std::pair<int, int>{3, 0}, {0, 1}, {1, 0}, {4, 1}}) {
    EXPECT_EQ(made[static_cast<size_t>(device)]->rank(), rank) << device;
    EXPECT_EQ(made[static_cast<size_t>(device)]->size(), 2) << device;
  }
  fillInputs(1);
  ASSERT_TRUE(push().ok());
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 1);
  for (int rank = 0; rank < 5; ++rank) {
    Communicator *own = made[static_cast<size_t>(4 - rank)];
    if (own) {
      enqueue(*own, rank, *streams[rank], collective, in(rank), out(rank));
    }
  }
  ASSERT_TRUE(finish().ok());
  EXPECT_EQ(out(4)[0], value(1, 0) + value(4, 0));
  EXPECT_EQ(out(3)[0], value(3, 0) + value(0, 0));
  EXPECT_EQ(outs[2][0], std::byte(0x5a));
}

TEST_P(CommunicatorTest, GroupsAreChecked) {
  make(3, 4);
  for (const std::vector<std::vector<int>> &groups :
       std::vector<std::vector<std::vector<int>>>{
           {{0, 3}}, {{-1}}, {{}}, {{0, 1}, {1, 2}}, {{2, 2}}}) {
    EXPECT_EQ(world->split(groups).kind(), ErrorKind::mismatch);
  }
}

TEST_P(CommunicatorTest, TransfersJoinTwo) {
  make(3, 4);
  TransferPart send{true, group[0], at(0, in(0)), 4};
  world->exchange(*streams[0], &send, 1, origin);
  Status status = world->drain(patience);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(),
            "expected transfers in groups of 2 in 'operation', got one of 3");
}

// A group serves several streams of a member; it meets in the order of issue.
TEST_P(CommunicatorTest, TwoStreamsOneGroup) {
  make(2, 64);
  fillInputs(4);
  ASSERT_TRUE(push().ok());
  Collective collective = makeCollective(CollectiveKind::allReduce, 1, 1);
  for (int rank = 0; rank < 2; ++rank) {
    Stream *other = *devices[rank]->stream({"other", 9, 4, 16});
    for (int i = 0; i < 4; ++i) {
      enqueue(*group[rank], rank, i % 2 ? *other : *streams[rank], collective,
              in(rank) + i, out(rank) + i);
    }
  }
  ASSERT_TRUE(finish().ok());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(out(1)[i], value(0, i) + value(1, i));
  }
}

TEST_P(CommunicatorTest, DifferentSizesAreRefused) {
  make(2, 64);
  Collective one = makeCollective(CollectiveKind::allReduce, 1, 4);
  Collective two = makeCollective(CollectiveKind::allReduce, 1, 5);
  for (int rank = 0; rank < 2; ++rank) {
    enqueue(*group[rank], rank, *streams[rank], rank ? two : one, ins[rank],
            outs[rank]);
  }
  Status status = world->drain(patience);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_NE(status.message().find("[1, 4; 1]"), std::string::npos);
  EXPECT_NE(status.message().find("[1, 5; 1]"), std::string::npos);
}

TEST_P(CommunicatorTest, AbortEndsTheWorld) {
  make(2, 64);
  group[1]->abort(makeError(ErrorKind::peerLost, "rank 1 was killed"));
  Status status = run(makeCollective(CollectiveKind::allReduce, 1, 4));
  EXPECT_EQ(status.kind(), ErrorKind::peerLost);
  EXPECT_EQ(world->drain(patience).message(), "rank 1 was killed");
}

// A member that never comes is named, with the place of the one that waits.
TEST_P(CommunicatorTest, MissingMemberIsNamed) {
  make(3, 64);
  Collective collective = makeCollective(CollectiveKind::allGather, 1, 4);
  enqueue(*group[0], 0, *streams[0], collective, ins[0], outs[0]);
  Status status = world->drain(patience);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("devices 1, 0 in all_gather"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("model.py:88"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Worlds, CommunicatorTest,
                         testing::ValuesIn(allWorlds()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
