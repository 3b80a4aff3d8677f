//===- KindsTest.cpp - Reductions and collectives, and their traits -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CollectiveKind.h"
#include "llmc/Runtime/Base/ReductionKind.h"

#include <gtest/gtest.h>
#include <limits>

using namespace llmc;

namespace {
// Plan files hold the numbers, and the text of programs the names.
TEST(ReductionKinds, NumbersAndNamesStand) {
  const char *names[] = {"sum", "max", "min", "and", "or", "product"};
  ASSERT_EQ(reductionTraits.size(), 6u);
  for (uint8_t i = 0; i < 6; ++i) {
    auto kind = static_cast<ReductionKind>(i);
    EXPECT_EQ(nameOf(kind), names[i]);
    EXPECT_EQ(reductionNamed(names[i]), kind);
  }
  EXPECT_EQ(nameOf(static_cast<ReductionKind>(6)), "unknown");
  EXPECT_FALSE(reductionNamed("mean"));
}

TEST(ReductionKinds, TraitsHoldOfTheFunctions) {
  for (const ReductionTraits &traits : reductionTraits) {
    bool isIdempotent = true, isBitwise = true;
    for (int32_t x : {-7, -1, 0, 1, 2, 6}) {
      isIdempotent &= combine(traits.kind, x, x) == x;
      for (int32_t y : {-3, 0, 5, 12}) {
        int32_t z = combine(traits.kind, x, y);
        EXPECT_EQ(z, combine(traits.kind, y, x)) << traits.name;
        // Each bit depends on the same bit of the two alone.
        for (int bit = 0; bit < 32; ++bit)
          isBitwise &= (combine(traits.kind, x >> bit & 1, y >> bit & 1) ==
                        (z >> bit & 1));
      }
    }
    EXPECT_EQ(isIdempotent, traits.isIdempotent) << traits.name;
    EXPECT_EQ(isBitwise, traits.isBitwise) << traits.name;
  }
}

TEST(ReductionKinds, CombineWrapsAndPassesNaNsOn) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(combine(ReductionKind::sum, most, int64_t(1)),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(combine(ReductionKind::product, most, int64_t(2)), -2);
  EXPECT_EQ(combine<uint16_t>(ReductionKind::product, 65535, 65535), 1);
  EXPECT_EQ(combine(ReductionKind::max, 2.0, -3.0), 2.0);
  EXPECT_EQ(combine(ReductionKind::min, 2.0, -3.0), -3.0);
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (ReductionKind kind : {ReductionKind::max, ReductionKind::min}) {
    EXPECT_NE(combine(kind, nan, 1.0), combine(kind, nan, 1.0));
    EXPECT_NE(combine(kind, 1.0, nan), combine(kind, 1.0, nan));
  }
}

TEST(CollectiveKinds, NumbersAndNamesStand) {
  const char *names[] = {"all_reduce", "all_gather",       "reduce_scatter",
                         "all_to_all", "broadcast",        "reduce",
                         "permute",    "ragged_all_to_all"};
  for (uint8_t i = 0; i < numCollectiveKinds; ++i) {
    auto kind = static_cast<CollectiveKind>(i);
    EXPECT_EQ(nameOf(kind), names[i]);
    EXPECT_EQ(collectiveNamed(names[i]), kind);
  }
  EXPECT_EQ(nameOf(static_cast<CollectiveKind>(8)), "unknown");
  EXPECT_FALSE(collectiveNamed("send"));
}

TEST(CollectiveKinds, ShapesAndPlaces) {
  using K = CollectiveKind;
  for (K kind :
       {K::allGather, K::reduceScatter, K::allToAll, K::raggedAllToAll}) {
    EXPECT_TRUE(traitsOf(kind).usesDim());
    EXPECT_FALSE(traitsOf(kind).worksInPlace());
  }
  for (K kind : {K::allReduce, K::broadcast, K::reduce})
    EXPECT_TRUE(traitsOf(kind).worksInPlace());
  EXPECT_FALSE(traitsOf(K::permute).usesDim());
  EXPECT_FALSE(traitsOf(K::permute).worksInPlace());
}

// Of four members with 10 bytes each.
TEST(CollectiveKinds, BytesReceived) {
  using K = CollectiveKind;
  EXPECT_EQ(bytesReceived(K::allReduce, 10, 4), 15);
  EXPECT_EQ(bytesReceived(K::allGather, 10, 4), 30);
  EXPECT_EQ(bytesReceived(K::reduceScatter, 10, 4), 8);
  EXPECT_EQ(bytesReceived(K::allToAll, 10, 4), 8);
  EXPECT_EQ(bytesReceived(K::raggedAllToAll, 10, 4), 8);
  for (K kind : {K::broadcast, K::reduce, K::permute})
    EXPECT_EQ(bytesReceived(kind, 10, 4), 10);
  for (const CollectiveTraits &traits : collectiveTraits)
    EXPECT_EQ(bytesReceived(traits.kind, 10, 1), 0);
}
} // namespace
