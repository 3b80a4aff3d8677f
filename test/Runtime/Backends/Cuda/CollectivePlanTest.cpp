//===- CollectivePlanTest.cpp - Collectives as NCCL takes them ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plans of all members, carried out on the host as NCCL's documentation
// says, put every element where CollectiveKind.h says.
//
//===----------------------------------------------------------------------===//

#include "CollectivePlan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace llmc::rt::cuda {
namespace {

using Function = CollectiveCall::Function;
using Memory = CollectivePlace::Memory;
using Elements = std::vector<int32_t>;

constexpr int32_t untouched = -7;

/// Member r's element i.
int32_t element(int member, int64_t i) {
  return static_cast<int32_t>(1000 * (member + 1) + i);
}

Collective makeCollective(CollectiveKind kind, uint64_t outer, uint64_t count,
                          uint64_t outerOut = 1) {
  Collective collective;
  collective.kind = kind;
  collective.type = collective.accumulate = DType::i32;
  collective.buffers = {{outer, count, outerOut}};
  collective.symbol = "c";
  return collective;
}

/// All members of a group on the host.
class Members {
public:
  Members(const Collective &collective, int size)
      : collective(collective), size(size) {
    for (int rank = 0; rank < size; ++rank) {
      Result<CollectivePlan> plan = planCollective(collective, rank, size);
      EXPECT_TRUE(plan.ok()) << plan.message();
      plans.push_back(*plan);
      const CollectiveBuffer &buffer = collective.buffers[0];
      auto elements = static_cast<size_t>(buffer.outer * buffer.count) *
                      static_cast<size_t>(size);
      ins.emplace_back(elements);
      outs.emplace_back(elements, untouched);
      stagings.emplace_back(plans.back().stagingBytes / 4);
      for (size_t i = 0; i < elements; ++i) {
        ins.back()[i] = element(rank, static_cast<int64_t>(i));
      }
    }
  }

  void run() {
    forAll([&](int rank) { copyAll(rank, plans[rank].before); });
    forAll([&](int rank) {
      for (auto [buffer, bytes] : plans[rank].zeros) {
        std::memset(outs[rank].data(), 0, bytes);
      }
      // What is sent lies there for whoever receives.
      for (const CollectiveCall &call : plans[rank].calls) {
        if (call.function == Function::send) {
          mail[{rank, call.peer}].push_back(place(rank, call.from));
        }
      }
    });
    forAll([&](int rank) {
      for (const CollectiveCall &call : plans[rank].calls) {
        carryOut(rank, call);
      }
    });
    forAll([&](int rank) { copyAll(rank, plans[rank].after); });
  }

  std::vector<Elements> ins, outs;

private:
  template <typename Visit> void forAll(Visit visit) {
    for (int rank = 0; rank < size; ++rank) {
      visit(rank);
    }
  }
  uint8_t *place(int rank, const CollectivePlace &at) {
    Elements &memory = at.memory == Memory::in    ? ins[rank]
                       : at.memory == Memory::out ? outs[rank]
                                                  : stagings[rank];
    EXPECT_LE(at.offset, 4 * memory.size());
    return reinterpret_cast<uint8_t *>(memory.data()) + at.offset;
  }
  void copyAll(int rank, const std::vector<CollectiveCopy> &copies) {
    for (const CollectiveCopy &copy : copies) {
      ASSERT_LE(copy.box.dims.size(), 1u);
      CopyDim dim = copy.box.dims.empty() ? CopyDim{} : copy.box.dims[0];
      for (uint64_t i = 0; i < dim.extent; ++i) {
        auto index = static_cast<int64_t>(i);
        std::memcpy(place(rank, copy.to) + index * dim.to,
                    place(rank, copy.from) + index * dim.from, copy.box.bytes);
      }
    }
  }
  int32_t sum(const CollectiveCall &call, uint64_t i) {
    int32_t sum = 0;
    forAll([&](int rank) {
      int32_t one;
      std::memcpy(&one, place(rank, call.from) + 4 * i, 4);
      sum += one;
    });
    return sum;
  }
  void carryOut(int rank, const CollectiveCall &call) {
    uint8_t *to = place(rank, call.to);
    switch (call.function) {
    case Function::reduce:
      if (rank != call.peer) {
        return;
      }
      [[fallthrough]];
    case Function::allReduce:
    case Function::reduceScatter: {
      EXPECT_EQ(call.type, NcclType::i32);
      uint64_t first = call.function == Function::reduceScatter
                           ? static_cast<uint64_t>(rank) * call.count
                           : 0;
      for (uint64_t i = 0; i < call.count; ++i) {
        int32_t value = sum(call, first + i);
        std::memcpy(to + 4 * i, &value, 4);
      }
      return;
    }
    case Function::broadcast:
      std::memcpy(to, place(call.peer, call.from), call.count);
      return;
    case Function::allGather:
      for (int from = 0; from < size; ++from) {
        std::memcpy(to + static_cast<uint64_t>(from) * call.count,
                    place(from, call.from), call.count);
      }
      return;
    case Function::receive: {
      auto &letters = mail[{call.peer, rank}];
      ASSERT_FALSE(letters.empty());
      std::memcpy(to, letters.front(), call.count);
      letters.erase(letters.begin());
      return;
    }
    case Function::send:
      return;
    }
  }

  const Collective &collective;
  int size;
  std::vector<CollectivePlan> plans;
  std::vector<Elements> stagings;
  std::map<std::pair<int, int>, std::vector<uint8_t *>> mail;
};

TEST(CollectivePlanTest, AllGatherPutsPartsSideBySide) {
  for (uint64_t outer : {1, 4}) {
    Collective c = makeCollective(CollectiveKind::allGather, outer, 5);
    Members members(c, 3);
    members.run();
    for (int rank = 0; rank < 3; ++rank) {
      for (int64_t o = 0; o < static_cast<int64_t>(outer); ++o) {
        for (int64_t i = 0; i < 15; ++i) {
          ASSERT_EQ(members.outs[rank][o * 15 + i],
                    element(static_cast<int>(i / 5), o * 5 + i % 5));
        }
      }
    }
  }
}

TEST(CollectivePlanTest, ReduceScatterTakesParts) {
  for (uint64_t outer : {1, 2}) {
    Collective c = makeCollective(CollectiveKind::reduceScatter, outer, 4);
    Members members(c, 3);
    members.run();
    for (int rank = 0; rank < 3; ++rank) {
      for (int64_t i = 0; i < 4 * static_cast<int64_t>(outer); ++i) {
        int64_t at = (i / 4 * 3 + rank) * 4 + i % 4;
        ASSERT_EQ(members.outs[rank][i],
                  element(0, at) + element(1, at) + element(2, at));
      }
    }
  }
}

// A [4, 6] split along columns becomes one split along rows, and back.
TEST(CollectivePlanTest, AllToAllBothWays) {
  Collective there = makeCollective(CollectiveKind::allToAll, 4, 2);
  Collective back = makeCollective(CollectiveKind::allToAll, 1, 8, 4);
  Members split(there, 3), joined(back, 3);
  split.run();
  joined.run();
  for (int rank = 0; rank < 3; ++rank) {
    for (int from = 0; from < 3; ++from) {
      for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(split.outs[rank][from * 8 + i],
                  element(from, i / 2 * 6 + rank * 2 + i % 2));
        ASSERT_EQ(joined.outs[rank][i / 2 * 6 + from * 2 + i % 2],
                  element(from, rank * 8 + i));
      }
    }
  }
}

TEST(CollectivePlanTest, ReductionsBroadcastAndPermute) {
  Collective c = makeCollective(CollectiveKind::allReduce, 2, 3);
  Members all(c, 2);
  all.run();
  EXPECT_EQ(all.outs[1][5], element(0, 5) + element(1, 5));
  c.kind = CollectiveKind::reduce;
  c.root = 1;
  Members one(c, 2);
  one.run();
  EXPECT_EQ(one.outs[1][5], element(0, 5) + element(1, 5));
  EXPECT_EQ(one.outs[0][5], untouched);
  c.kind = CollectiveKind::broadcast;
  Members from(c, 2);
  from.run();
  EXPECT_EQ(from.outs[0][5], element(1, 5));
  c.kind = CollectiveKind::permute;
  c.sources = {2, 0, -1};
  Members moved(c, 3);
  moved.run();
  EXPECT_EQ(moved.outs[0][1], element(2, 1));
  EXPECT_EQ(moved.outs[1][1], element(0, 1));
  EXPECT_EQ(moved.outs[2][1], 0);
}

// A member alone needs no library, also for what NCCL does not have.
TEST(CollectivePlanTest, GroupsOfOneAreCopies) {
  for (int kind = 0; kind < 7; ++kind) {
    Collective c = makeCollective(static_cast<CollectiveKind>(kind), 2, 3);
    c.reduction = ReductionKind::bitAnd;
    c.sources = {0};
    Members alone(c, 1);
    alone.run();
    EXPECT_EQ(alone.outs[0], alone.ins[0]) << kind;
    Result<CollectivePlan> plan = planCollective(c, 0, 1);
    EXPECT_TRUE(plan->calls.empty());
  }
}

TEST(CollectivePlanTest, EmptyBuffersAreNoCall) {
  Collective c = makeCollective(CollectiveKind::allToAll, 0, 3);
  EXPECT_TRUE(planCollective(c, 0, 2)->calls.empty());
}

TEST(CollectivePlanTest, BooleansAreExtremes) {
  Collective c = makeCollective(CollectiveKind::allReduce, 1, 3);
  c.type = c.accumulate = DType::i1;
  c.reduction = ReductionKind::bitAnd;
  Result<CollectivePlan> plan = planCollective(c, 0, 2);
  EXPECT_EQ(plan->calls[0].reduction, NcclReduction::min);
  EXPECT_EQ(plan->calls[0].type, NcclType::u8);
  c.reduction = ReductionKind::bitOr;
  EXPECT_EQ(planCollective(c, 0, 2)->calls[0].reduction, NcclReduction::max);
}

// Floats of eight bits are moved as bytes, and never added up.
TEST(CollectivePlanTest, FloatsOfEightBitsAreMoved) {
  for (DType type : {DType::f8E4M3FN, DType::f8E5M2}) {
    Collective c = makeCollective(CollectiveKind::allGather, 1, 3);
    c.type = c.accumulate = type;
    Result<CollectivePlan> plan = planCollective(c, 0, 2);
    ASSERT_TRUE(plan.ok()) << plan.message();
    EXPECT_EQ(plan->calls[0].type, NcclType::i8);
    EXPECT_EQ(plan->calls[0].count, 3u);
    for (ReductionKind reduction : {ReductionKind::sum, ReductionKind::max}) {
      c = makeCollective(CollectiveKind::allReduce, 1, 3);
      c.type = c.accumulate = type;
      c.reduction = reduction;
      EXPECT_EQ(planCollective(c, 0, 2).kind(), ErrorKind::mismatch);
    }
  }
}

TEST(CollectivePlanTest, RefusalsNameTheReason) {
  Collective c = makeCollective(CollectiveKind::allReduce, 1, 3);
  c.reduction = ReductionKind::bitAnd;
  EXPECT_EQ(planCollective(c, 0, 2).message(),
            "NCCL has no all_reduce 'c': expected a sum, product or extreme of "
            "i8, u8, i32, u32, i64, u64, f16, bf16, f32 or f64, got and of "
            "i32");
  c.reduction = ReductionKind::sum;
  c.type = DType::bf16;
  c.accumulate = DType::f32;
  EXPECT_EQ(planCollective(c, 0, 2).message(),
            "NCCL has no all_reduce 'c': expected elements that are added up "
            "in their own type bf16, got sums in f32");
  c.reduction = ReductionKind::max;
  EXPECT_TRUE(planCollective(c, 0, 2).ok());
}

/// What a plan calls: "send 1 at 24 of 8, receive ...".
std::string callsOf(const CollectivePlan &plan) {
  std::string text;
  for (const CollectiveCall &call : plan.calls) {
    bool sends = call.function == CollectiveCall::Function::send;
    text += fmt::format("{}{} {} at {} of {}", text.empty() ? "" : ", ",
                        sends ? "send" : "receive", call.peer,
                        sends ? call.from.offset : call.to.offset, call.count);
  }
  return text;
}

/// Two members, `slices` to each, rows of 8 bytes; each slice has one row, in
/// the order of the lists, and lies by sender, then by slice.
struct CountedRows {
  Collective collective = makeCollective(CollectiveKind::raggedAllToAll, 1, 0);
  std::vector<std::vector<int64_t>> all;

  explicit CountedRows(int64_t slices) {
    collective.type = DType::f32;
    auto rows = static_cast<uint64_t>(2 * slices);
    collective.rows = {2, rows, rows, rows};
    for (int64_t member = 0; member < 2; ++member) {
      std::vector<int64_t> &lists = all.emplace_back();
      for (int64_t i = 0; i < 2 * slices; ++i) {
        lists.push_back(i);
      }
      lists.resize(4 * slices, 1);
      for (int64_t i = 0; i < 2 * slices; ++i) {
        lists.push_back(member * slices + i % slices);
      }
      lists.resize(8 * slices, 1);
    }
  }
  std::vector<CollectivePlan> plan(int rank) const {
    return planRows(collective, rank, 2, [&](int member) {
      return all[static_cast<size_t>(member)].data();
    });
  }
};

// The counts of all are gathered; then rows go from where they lie to where
// they are to lie. A member's own rows are copied, after all is zero.
TEST(CollectivePlanTest, RowsThatTheRunCounts) {
  CountedRows counted(2);
  CollectivePlan gather = *planCollective(counted.collective, 1, 2);
  EXPECT_EQ(gather.countBytes, 16u * 8);
  ASSERT_EQ(gather.calls.size(), 1u);
  EXPECT_EQ(gather.calls[0].buffer, 1u);
  EXPECT_EQ(gather.calls[0].count, 16u * 8);
  EXPECT_FALSE((*planCollective(counted.collective, 0, 1)).meetsOthers());
  std::vector<CollectivePlan> plans = counted.plan(1);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(callsOf(plans[0]), "receive 0 at 0 of 8, receive 0 at 8 of 8, "
                               "send 0 at 0 of 8, send 0 at 8 of 8");
  ASSERT_EQ(plans[0].before.size(), 2u);
  EXPECT_EQ(plans[0].before[1].from.offset, 24u);
  EXPECT_EQ(plans[0].before[1].to.offset, 24u);
  EXPECT_EQ(plans[0].zeros[0].second, 4u * 8);
}

// NCCL takes so many calls at once; all members cut at the same slices.
TEST(CollectivePlanTest, ManyRowsAreSeveralGroups) {
  CountedRows counted(700);
  for (int rank : {0, 1}) {
    std::vector<CollectivePlan> plans = counted.plan(rank);
    ASSERT_EQ(plans.size(), 3u) << rank;
    // Of 2800 slices 700 are sent and 700 come in; the first 700 and the last
    // ones stay.
    EXPECT_EQ(plans[0].calls.size(), 324u) << rank;
    EXPECT_EQ(plans[1].calls.size(), 1024u) << rank;
    EXPECT_EQ(plans[2].calls.size(), 52u) << rank;
  }
}

TEST(CollectivePlanTest, CountsOfPayload) {
  Collective c = makeCollective(CollectiveKind::reduceScatter, 2, 3);
  EXPECT_EQ(payloadBytes(c, 4), 2 * 3 * 4 * 4u);
  EXPECT_FALSE(isScalar(c, 4));
  c = makeCollective(CollectiveKind::allReduce, 1, 1);
  EXPECT_TRUE(isScalar(c, 4));
  EXPECT_FALSE(isScalar(CountedRows(1).collective, 2));
}

} // namespace
} // namespace llmc::rt::cuda
