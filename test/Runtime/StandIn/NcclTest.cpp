//===- NcclTest.cpp - Collectives of ranks that are devices ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl.h"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace llmc::standin::test;

namespace {
using NcclDeathTest = NcclTest;
} // namespace

TEST_F(NcclTest, ReducesEverythingToAll) {
  for (ncclRedOp_t op : {ncclSum, ncclMax, ncclMin, ncclProd, ncclAvg}) {
    group([&](int i) { return allReduce(i, 2, ncclFloat32, op); });
    std::vector<float> expected = op == ncclSum   ? std::vector<float>{10, 60}
                                  : op == ncclMax ? std::vector<float>{4, 30}
                                  : op == ncclMin ? std::vector<float>{1, 0}
                                  : op == ncclProd
                                      ? std::vector<float>{24, 0}
                                      : std::vector<float>{2.5f, 15};
    for (int i = 0; i < kRanks; ++i)
      EXPECT_EQ(read(i, 2), expected) << "op " << op;
  }
}

TEST_F(NcclTest, AddsInAnotherOrderThanThatOfRanksAndTheSameForAll) {
  // In the order of ranks the small terms are lost, one after the other.
  const float first[] = {1e8f, 3, 3, 3};
  for (int i = 0; i < kRanks; ++i)
    write(i, std::vector<float>(8, first[i]));
  group([&](int i) { return allReduce(i, 8, ncclFloat32, ncclSum); });
  float inOrder = ((first[0] + first[1]) + first[2]) + first[3];
  std::vector<float> sums = read(0, 8);
  EXPECT_NE(sums, std::vector<float>(8, inOrder));
  for (int i = 1; i < kRanks; ++i)
    EXPECT_EQ(read(i, 8), sums);
}

TEST_F(NcclTest, GathersScattersAndBroadcasts) {
  group([&](int i) {
    return nccl().AllGather(in(i), out(i), 1, ncclFloat32, comms[i],
                            ranks[i].stream);
  });
  EXPECT_EQ(read(2, 4), (std::vector<float>{1, 2, 3, 4}));
  group([&](int i) {
    return nccl().ReduceScatter(in(i), out(i), 1, ncclFloat32, ncclSum,
                                comms[i], ranks[i].stream);
  });
  EXPECT_EQ(read(0, 1), std::vector<float>{10});
  EXPECT_EQ(read(1, 1), std::vector<float>{60});
  EXPECT_EQ(read(3, 1), std::vector<float>{4});
  group([&](int i) {
    return nccl().Broadcast(in(i), out(i), 2, ncclFloat32, 3, comms[i],
                            ranks[i].stream);
  });
  EXPECT_EQ(read(1, 2), (std::vector<float>{4, 30}));
  group([&](int i) {
    return nccl().Reduce(in(i), out(i), 1, ncclFloat32, ncclSum, 2, comms[i],
                         ranks[i].stream);
  });
  EXPECT_EQ(read(2, 1), std::vector<float>{10});
  EXPECT_EQ(read(1, 1), std::vector<float>{4}); // as the broadcast left it
}

TEST_F(NcclTest, MatchesCollectivesByTheirOrderGroupedOrNot) {
  // Rank 0 begins both at once, the others one after the other.
  auto second = [&](int i) {
    return nccl().AllReduce(reinterpret_cast<void *>(ranks[i].in + 4),
                            reinterpret_cast<void *>(ranks[i].out + 4), 1,
                            ncclFloat32, ncclMax, comms[i], ranks[i].stream);
  };
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < kRanks; ++i) {
      if (i == 0) {
        EXPECT_NCCL(GroupStart());
      }
      EXPECT_EQ(allReduce(i, 1, ncclFloat32, ncclSum), ncclSuccess);
      EXPECT_EQ(second(i), ncclSuccess);
      if (i == 0) {
        EXPECT_NCCL(GroupEnd());
      }
    }
    for (int i = 0; i < kRanks; ++i)
      EXPECT_EQ(read(i, 2), (std::vector<float>{10, 30}));
  }
}

TEST_F(NcclTest, OperationsOfACommunicatorComeOneAfterTheOther) {
  static std::atomic<bool> go;
  go = false;
  auto block = [](void *) {
    while (!go)
      std::this_thread::yield();
  };
  CUstream second[kRanks];
  for (int i = kRanks; i-- > 0;) {
    ASSERT_CUDA(cuCtxSetCurrent(ranks[i].context));
    ASSERT_CUDA(cuStreamCreate(&second[i], CU_STREAM_NON_BLOCKING));
  }
  ASSERT_CUDA(cuLaunchHostFunc(ranks[0].stream, block, nullptr));
  group([&](int i) { return allReduce(i, 1, ncclFloat32, ncclSum); });
  group([&](int i) {
    return nccl().AllReduce(in(i), in(i), 1, ncclFloat32, ncclSum, comms[i],
                            second[i]);
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(cuda().cuStreamQuery(second[0]), CUDA_ERROR_NOT_READY);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  go = true;
  EXPECT_CUDA(cuStreamSynchronize(second[0]));
  EXPECT_EQ(read(0, 1), std::vector<float>{10});
}

TEST_F(NcclTest, ExchangesWithNeighboursInOneGroup) {
  group([&](int i) {
    ncclResult_t sent = nccl().Send(in(i), 2, ncclFloat32, (i + 1) % kRanks,
                                    comms[i], ranks[i].stream);
    return sent ? sent
                : nccl().Recv(out(i), 2, ncclFloat32, (i + kRanks - 1) % kRanks,
                              comms[i], ranks[i].stream);
  });
  EXPECT_EQ(read(0, 2), (std::vector<float>{4, 30}));
  EXPECT_EQ(read(3, 2), (std::vector<float>{3, 20}));
}

TEST_F(NcclTest, ASendWaitsForItsReceive) {
  ASSERT_NCCL(Send(in(0), 1, ncclFloat32, 1, comms[0], ranks[0].stream));
  ASSERT_CUDA(cuCtxSetCurrent(ranks[0].context));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(cuda().cuStreamQuery(ranks[0].stream), CUDA_ERROR_NOT_READY);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_NCCL(Recv(out(1), 1, ncclFloat32, 0, comms[1], ranks[1].stream));
  EXPECT_CUDA(cuStreamSynchronize(ranks[0].stream));
  EXPECT_EQ(read(1, 1), std::vector<float>{1});
}

TEST_F(NcclTest, SplitsByColorAndKey) {
  ncclComm_t halves[kRanks] = {};
  group([&](int i) {
    return nccl().CommSplit(comms[i], i == 3 ? -1 : i % 2, -i, &halves[i],
                            nullptr);
  });
  int rank = -1, count = 0;
  EXPECT_NCCL(CommUserRank(halves[0], &rank));
  EXPECT_NCCL(CommCount(halves[0], &count));
  EXPECT_EQ(rank, 1); // the key of device 2 is smaller
  EXPECT_EQ(count, 2);
  EXPECT_EQ(halves[3], nullptr);
  for (int i : {0, 2})
    EXPECT_NCCL(AllReduce(in(i), out(i), 1, ncclFloat32, ncclSum, halves[i],
                          ranks[i].stream));
  EXPECT_EQ(read(0, 1), std::vector<float>{4});
  for (int i = 0; i < 3; ++i)
    EXPECT_NCCL(CommDestroy(halves[i]));
}

TEST_F(NcclTest, DoesNotBlockWhereTheConfigurationSaysSo) {
  ncclUniqueId id;
  ASSERT_NCCL(GetUniqueId(&id));
  ncclConfig_t config = {sizeof config, 0xcafebeef, 23007, 0};
  ncclComm_t made[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_CUDA(cuCtxSetCurrent(ranks[i].context));
    EXPECT_EQ(nccl().CommInitRankConfig(&made[i], 2, id, i, &config),
              ncclInProgress);
  }
  auto await = [&](int i) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress)
      EXPECT_NCCL(CommGetAsyncError(made[i], &state));
    EXPECT_EQ(state, ncclSuccess);
  };
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 2; ++i) {
      await(i);
      ncclResult_t result = nccl().AllReduce(in(i), out(i), 1, ncclFloat32,
                                             ncclSum, made[i], ranks[i].stream);
      EXPECT_TRUE(result == ncclSuccess || result == ncclInProgress);
    }
  EXPECT_EQ(read(1, 1), std::vector<float>{3});
  for (int i = 0; i < 2; ++i) {
    await(i);
    EXPECT_EQ(nccl().CommFinalize(made[i]), ncclInProgress);
    await(i);
    EXPECT_NCCL(CommDestroy(made[i]));
  }
}

TEST_F(NcclTest, AbortEndsWhatWaits) {
  ASSERT_NCCL(AllReduce(in(0), out(0), 1, ncclFloat32, ncclSum, comms[0],
                        ranks[0].stream));
  ASSERT_NCCL(CommAbort(comms[0]));
  comms[0] = nullptr;
  ASSERT_CUDA(cuCtxSetCurrent(ranks[0].context));
  EXPECT_CUDA(cuStreamSynchronize(ranks[0].stream));
  for (int i = 1; i < kRanks; ++i) {
    EXPECT_NCCL(CommAbort(comms[i]));
    comms[i] = nullptr;
  }
}

TEST_F(NcclDeathTest, IsCapturedAndReplayedAndOutlivesItsGraphs) {
  CUgraphExec execs[kRanks];
  for (int i = 0; i < kRanks; ++i) {
    ASSERT_CUDA(cuCtxSetCurrent(ranks[i].context));
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamBeginCapture(ranks[i].stream,
                                     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT_NCCL(AllReduce(in(i), out(i), 1, ncclFloat32, ncclSum, comms[i],
                          ranks[i].stream));
    EXPECT_NCCL(AllReduce(out(i), in(i), 1, ncclFloat32, ncclSum, comms[i],
                          ranks[i].stream));
    ASSERT_CUDA(cuStreamEndCapture(ranks[i].stream, &graph));
    ASSERT_CUDA(cuGraphInstantiateWithFlags(&execs[i], graph, 0));
    ASSERT_CUDA(cuGraphDestroy(graph));
  }
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < kRanks; ++i) {
      ASSERT_CUDA(cuCtxSetCurrent(ranks[i].context));
      ASSERT_CUDA(cuGraphLaunch(execs[i], ranks[i].stream));
    }
  for (int i = 0; i < kRanks; ++i)
    EXPECT_EQ(read(i, 1), std::vector<float>{160});
  EXPECT_DEATH(nccl().CommDestroy(comms[0]), "goes while a graph has");
  EXPECT_DEATH(nccl().CommAbort(comms[0]), "goes while a graph has");
  for (CUgraphExec exec : execs)
    EXPECT_CUDA(cuGraphExecDestroy(exec));
}

TEST_F(NcclTest, RanksWantDevicesOfTheirOwn) {
  ncclComm_t made[2] = {};
  const int devices[] = {1, 1};
  EXPECT_EQ(nccl().CommInitAll(made, 2, devices), ncclInvalidUsage);
  for (ncclComm_t comm : made)
    EXPECT_NCCL(CommAbort(comm));
}

TEST_F(NcclTest, RefusesWhatIsNoCall) {
  auto call = [&](ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                  CUstream stream) {
    return nccl().AllReduce(in(0), out(0), 1, type, op, comm, stream);
  };
  CUstream own = ranks[0].stream;
  EXPECT_EQ(call(ncclDataType_t(12), ncclSum, comms[0], own),
            ncclInvalidArgument);
  EXPECT_EQ(call(ncclFloat32, ncclRedOp_t(5), comms[0], own),
            ncclInvalidArgument);
  EXPECT_EQ(call(ncclFloat32, ncclSum, nullptr, own), ncclInvalidArgument);
  EXPECT_EQ(call(ncclFloat32, ncclSum, comms[0], ranks[1].stream),
            ncclInvalidArgument);
  EXPECT_EQ(nccl().GroupEnd(), ncclInvalidUsage);
  EXPECT_EQ(nccl().Send(in(0), 1, ncclFloat32, kRanks, comms[0], own),
            ncclInvalidArgument);
  int version = 0;
  EXPECT_NCCL(GetVersion(&version));
  EXPECT_EQ(version, 23007);
}

TEST_F(NcclDeathTest, NamesBothSidesOfAMismatch) {
  EXPECT_DEATH(
      {
        group([&](int i) {
          return allReduce(i, i == 2 ? 3 : 2, ncclFloat32, ncclSum);
        });
        read(0, 1);
      },
      "collective 0 of a communicator: rank . calls all_reduce of [23] f32 by "
      "sum, rank . calls all_reduce of [23] f32 by sum");
  EXPECT_DEATH(
      {
        ASSERT_NCCL(Send(in(0), 2, ncclFloat32, 1, comms[0], ranks[0].stream));
        ASSERT_NCCL(Recv(out(1), 1, ncclFloat32, 0, comms[1], ranks[1].stream));
        read(1, 1);
      },
      "rank 0 calls send of 2 f32 to rank 1, which calls receive of 1 f32");
}

TEST_F(NcclDeathTest, ReportsTwoOrdersWhereThatIsAsked) {
  ncclComm_t others[kRanks];
  ASSERT_NCCL(CommInitAll(others, kRanks, nullptr));
  CUstream second[kRanks];
  auto run = [&](bool sameOrder, bool grouped) {
    setenv("LLMC_STANDIN_NCCL_ORDER", "1", 1);
    for (int i = 0; i < kRanks; ++i) {
      EXPECT_CUDA(cuCtxSetCurrent(ranks[i].context));
      EXPECT_CUDA(cuStreamCreate(&second[i], CU_STREAM_NON_BLOCKING));
      if (grouped) {
        EXPECT_NCCL(GroupStart());
      }
      for (bool first : {true, false})
        EXPECT_NCCL(
            AllReduce(in(i), out(i), 1, ncclFloat32, ncclSum,
                      (first == (i != 2 || sameOrder)) ? comms[i] : others[i],
                      first ? ranks[i].stream : second[i]));
      if (grouped) {
        EXPECT_NCCL(GroupEnd());
      }
    }
    for (int i = 0; i < kRanks; ++i) {
      EXPECT_CUDA(cuCtxSetCurrent(ranks[i].context));
      EXPECT_CUDA(cuCtxSynchronize());
    }
    std::exit(7);
  };
  EXPECT_EXIT(run(true, false), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(run(false, true), ::testing::ExitedWithCode(7), "");
  EXPECT_DEATH(run(false, false),
               "devices . and . call all_reduce of 1 f32 by sum, and another "
               "operation that both take part in, in different orders");
  for (ncclComm_t comm : others)
    EXPECT_NCCL(CommDestroy(comm));
}

TEST_F(NcclDeathTest, ReportsBuffersThatAreNone) {
  auto reduceInto = [&](uint64_t from, uint64_t to, size_t count) {
    (void)nccl().AllReduce(reinterpret_cast<void *>(from),
                           reinterpret_cast<void *>(to), count, ncclFloat32,
                           ncclSum, comms[0], ranks[0].stream);
  };
  EXPECT_DEATH(reduceInto(ranks[0].in, ranks[0].out, 17),
               "68 bytes at .* are not part of one allocation");
  EXPECT_DEATH(reduceInto(ranks[1].in, ranks[0].out, 1),
               "memory of device 1 is given to a rank on device 0");
  EXPECT_DEATH(reduceInto(ranks[0].in, ranks[0].in + 4, 2),
               "the buffers overlap");
}
