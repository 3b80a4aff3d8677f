//===- GroupConformanceTest.cpp - Groups, transfers and their faults ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How members meet: transfers, splits, several streams, and what is refused.
//
//===----------------------------------------------------------------------===//

#include "CommunicatorTest.h"

namespace llmc::rt::test {

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
  // Other processes are waited for to the deadline.
  Status status = world->drain(std::chrono::milliseconds(300));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("devices 1, 0 in all_gather"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("model.py:88"), std::string::npos);
}

} // namespace llmc::rt::test
