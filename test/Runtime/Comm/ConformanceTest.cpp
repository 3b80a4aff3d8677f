//===- ConformanceTest.cpp - What every communicator must do --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each test enqueues one operation on all members and compares every byte with
// plain arithmetic. Member r's element i is value(r, i).
//
//===----------------------------------------------------------------------===//

#include "CommunicatorTest.h"

namespace llmc::rt::test {

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

INSTANTIATE_TEST_SUITE_P(Worlds, CommunicatorTest,
                         testing::ValuesIn(allCommunicators()),
                         [](const auto &info) { return info.param.name; });

} // namespace llmc::rt::test
