//===- RaggedConformanceTest.cpp - Rows that the run counts ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices of rows, with plain loops as the judge; and what does not fit, which
// is an error of one line that names the devices.
//
//===----------------------------------------------------------------------===//

#include "CommunicatorTest.h"

namespace llmc::rt::test {

/// Lists of `slices` entries for each outer index, in bytes of a member's
/// inputs behind its rows.
struct Counted {
  uint64_t outer, rowsIn, rowsOut, elements, slices;

  uint64_t bytesIn() const { return outer * rowsIn * elements * 4; }
  uint64_t countsAt() const { return (bytesIn() + 63) / 64 * 64; }
  uint64_t bytes() const {
    return std::max(countsAt() + outer * 4 * slices * 8,
                    outer * rowsOut * elements * 4);
  }
  Collective collective() const {
    Collective made = makeCollective(CollectiveKind::raggedAllToAll, outer,
                                     rowsIn * elements);
    made.rows = {elements, rowsIn, rowsOut, slices};
    return made;
  }
};

class RaggedTest : public CommunicatorTest {
protected:
  /// What a device's thread still checks uses the collective.
  void TearDown() override { world.reset(); }
  void start(int n, Counted given) {
    shape = given;
    make(n, shape.bytes());
    fillInputs(static_cast<int64_t>(shape.bytesIn() / 4));
  }
  /// Entry `i` of list `list` of member `rank`.
  int64_t &at(int rank, uint64_t outer, uint64_t list, uint64_t i) {
    auto *all = reinterpret_cast<int64_t *>(ins[rank] + shape.countsAt());
    return all[(outer * 4 + list) * shape.slices + i];
  }
  /// Slice `i` of member `from` and what the receiver expects of it.
  void set(int from, uint64_t outer, uint64_t i, int64_t first, int64_t count,
           int64_t target) {
    uint64_t each = shape.slices / group.size();
    at(from, outer, 0, i) = first;
    at(from, outer, 1, i) = count;
    at(from, outer, 2, i) = target;
    at(static_cast<int>(i / each), outer, 3, from * each + i % each) = count;
  }
  Status exchange() {
    LLMC_TRY(push());
    collective = shape.collective();
    for (int rank = 0; rank < static_cast<int>(group.size()); ++rank) {
      const void *from[] = {
          CommunicatorTest::at(rank, ins[rank]),
          CommunicatorTest::at(rank, ins[rank] + shape.countsAt())};
      void *to = CommunicatorTest::at(rank, outs[rank]);
      group[rank]->collective(*streams[rank], collective, from, &to, origin);
    }
    return finish();
  }
  std::string refusal() {
    Status status = exchange();
    EXPECT_EQ(status.kind(), ErrorKind::mismatch);
    return status.message();
  }

  Counted shape;
  Collective collective;
};

// Three members, two slices to each, two outer indices, rows of many elements:
// several tickets.
TEST_P(RaggedTest, RowsGoWhereTheCountsSay) {
  start(3, {2, 9, 14, 5003, 6});
  std::vector<std::vector<float>> wanted(3,
                                         std::vector<float>(2 * 14 * 5003, 0));
  uint64_t moved = 0;
  for (uint64_t o = 0; o < 2; ++o) {
    int64_t filled[3] = {1, 0, 2};
    for (int from = 0; from < 3; ++from) {
      int64_t sent = 0;
      for (uint64_t i = 0; i < 6; ++i) {
        auto to = static_cast<int>(i / 2);
        auto count = static_cast<int64_t>((from + 2 * i + o) % 3);
        set(from, o, i, sent, count, filled[to]);
        for (int64_t k = 0; k < count * 5003; ++k) {
          wanted[to][(o * 14 + filled[to]) * 5003 + k] =
              value(from, (o * 9 + sent) * 5003 + k);
        }
        moved += from == to ? 0 : count * 5003 * 4;
        sent += count;
        filled[to] += count;
      }
    }
  }
  ASSERT_EQ(exchange().message(), "");
  for (int rank = 0; rank < 3; ++rank) {
    for (size_t i = 0; i < wanted[rank].size(); ++i) {
      ASSERT_EQ(out(rank)[i], wanted[rank][i]) << rank << " " << i;
    }
  }
  auto kind = static_cast<size_t>(CollectiveKind::raggedAllToAll);
  EXPECT_EQ(group[0]->counts().collectives[kind], 1u);
  EXPECT_EQ(group[0]->counts().bytes[kind], moved);
  EXPECT_EQ(group[0]->counts().scalars[kind], 0u);
}

// Of a slice without rows nothing but that is read.
TEST_P(RaggedTest, EmptySlicesAreAnywhere) {
  start(2, {1, 4, 4, 1, 2});
  for (int from = 0; from < 2; ++from) {
    set(from, 0, 0, std::numeric_limits<int64_t>::min(), 0, 1000);
    set(from, 0, 1, 1 << 20, 0, std::numeric_limits<int64_t>::max());
  }
  ASSERT_EQ(exchange().message(), "");
  EXPECT_EQ(out(0)[0], 0.0f);
  EXPECT_EQ(out(1)[3], 0.0f);
}

TEST_P(RaggedTest, SlicesLieInTheirRows) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t outside[][3] = {{3, 2, 0},    {-1, 2, 0}, {0, 5, 0},
                                {most, 2, 0}, {0, 2, 5},  {0, 2, -1},
                                {0, 2, most}, {0, -1, 0}, {0, most, 0}};
  for (auto [first, count, target] : outside) {
    group.clear(), devices.clear(), streams.clear(), mirrors.clear();
    ins.clear(), outs.clear();
    start(2, {1, 4, 6, 1, 2});
    set(0, 0, 1, 0, 1, 0);
    set(1, 0, 1, first, count, target);
    std::string text = refusal();
    EXPECT_NE(text.find("in 'operation', slice 1 from device 0 to device 0"),
              std::string::npos)
        << text;
  }
  // The last row of both is one.
  group.clear(), devices.clear(), streams.clear(), mirrors.clear();
  ins.clear(), outs.clear();
  start(2, {1, 4, 6, 1, 2});
  set(1, 0, 1, 2, 2, 4);
  EXPECT_EQ(exchange().message(), "");
}

TEST_P(RaggedTest, BothSidesAgree) {
  start(2, {1, 4, 6, 1, 2});
  set(0, 0, 1, 0, 2, 0);
  at(1, 0, 3, 0) = 3;
  EXPECT_NE(refusal().find("expected 3 rows as the receiver does, got 2 that "
                           "are sent in 'operation', slice 1 from device 1 to "
                           "device 0"),
            std::string::npos);
}

TEST_P(RaggedTest, SlicesDoNotOverlap) {
  start(2, {1, 4, 6, 1, 2});
  set(0, 0, 1, 0, 3, 1);
  set(1, 0, 1, 0, 2, 3);
  EXPECT_NE(refusal().find("expected rows that no other slice fills, got row 3 "
                           "twice"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Worlds, RaggedTest,
                         testing::ValuesIn(allCommunicators()),
                         [](const auto &info) { return info.param.name; });

} // namespace llmc::rt::test
