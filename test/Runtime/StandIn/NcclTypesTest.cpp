//===- NcclTypesTest.cpp - Collectives of each type, in place, nested -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl.h"

#include <cstring>

using namespace llmc::standin::test;

namespace {

class NcclTypesTest : public NcclTest {
protected:
  /// The sum, or the mean, of four numbers of a type, each given by its bits.
  template <typename Bits>
  Bits reduce(ncclDataType_t type, ncclRedOp_t op,
              const std::vector<Bits> &given) {
    for (int i = 0; i < kRanks; ++i)
      write(i, &given[i], sizeof(Bits));
    group([&](int i) { return allReduce(i, 1, type, op); });
    Bits results[kRanks];
    for (int i = 0; i < kRanks; ++i)
      read(i, &results[i], sizeof(Bits));
    for (Bits result : results)
      EXPECT_EQ(result, results[0]);
    return results[0];
  }
};

} // namespace

TEST_F(NcclTypesTest, ReducesIntegers) {
  EXPECT_EQ(reduce<int8_t>(ncclInt8, ncclSum, {1, -2, 3, 4}), 6);
  EXPECT_EQ(reduce<uint8_t>(ncclUint8, ncclMax, {1, 200, 3, 4}), 200);
  EXPECT_EQ(reduce<int32_t>(ncclInt32, ncclMin, {1, -2, 3, 4}), -2);
  EXPECT_EQ(reduce<int64_t>(ncclInt64, ncclProd, {1 << 20, 1 << 20, 3, -1}),
            -(3ll << 40));
  EXPECT_EQ(reduce<uint32_t>(ncclUint32, ncclAvg, {1, 2, 3, 5}), 2u);
  EXPECT_EQ(reduce<uint64_t>(ncclUint64, ncclSum, {1, 2, 3, 1ull << 60}),
            (1ull << 60) + 6);
}

TEST_F(NcclTypesTest, ReducesNarrowFloatsInTheirType) {
  // 1 + 2 + 3 + 4 = 10, and the mean 2.5.
  EXPECT_EQ(
      reduce<uint16_t>(ncclFloat16, ncclSum, {0x3c00, 0x4000, 0x4200, 0x4400}),
      0x4900);
  EXPECT_EQ(
      reduce<uint16_t>(ncclBfloat16, ncclAvg, {0x3f80, 0x4000, 0x4040, 0x4080}),
      0x4020);
  EXPECT_EQ(reduce<uint8_t>(ncclFloat8e4m3, ncclSum, {0x38, 0x40, 0x44, 0x48}),
            0x52);
  EXPECT_EQ(reduce<uint8_t>(ncclFloat8e5m2, ncclMax, {0x3c, 0x40, 0x42, 0x44}),
            0x44);
  // Each sum is rounded: 256 + 1 is 256 again, whatever the order.
  EXPECT_EQ(
      reduce<uint16_t>(ncclBfloat16, ncclSum, {0x3f80, 0x4380, 0x3f80, 0x0000}),
      0x4380);
}

TEST_F(NcclTypesTest, ReducesDoubles) {
  auto bits = [](double value) {
    uint64_t result;
    std::memcpy(&result, &value, 8);
    return result;
  };
  EXPECT_EQ(reduce<uint64_t>(ncclFloat64, ncclSum,
                             {bits(0.5), bits(1), bits(2), bits(4)}),
            bits(7.5));
}

TEST_F(NcclTypesTest, WorksInPlaceWhereThatIsMeant) {
  group([&](int i) {
    void *own = reinterpret_cast<void *>(ranks[i].in + 4 * i);
    return nccl().AllGather(own, in(i), 1, ncclFloat32, comms[i],
                            ranks[i].stream);
  });
  group([&](int i) {
    void *own = reinterpret_cast<void *>(ranks[i].in + 4 * i);
    return nccl().ReduceScatter(in(i), own, 1, ncclFloat32, ncclSum, comms[i],
                                ranks[i].stream);
  });
  group([&](int i) {
    return nccl().AllReduce(in(i), in(i), 1, ncclFloat32, ncclSum, comms[i],
                            ranks[i].stream);
  });
  group([&](int i) {
    return nccl().AllGather(in(i), out(i), 1, ncclFloat32, comms[i],
                            ranks[i].stream);
  });
  // Gathered: 1, 10, 0.5, 1 on all; rank 0 has four times the first one, and
  // the others the first one still.
  EXPECT_EQ(read(3, 4), std::vector<float>(4, 4 + 3));
}

TEST_F(NcclTypesTest, GroupsStandInGroups) {
  EXPECT_NCCL(GroupStart());
  group([&](int i) { return allReduce(i, 1, ncclFloat32, ncclSum); });
  ASSERT_CUDA(cuCtxSetCurrent(ranks[0].context));
  EXPECT_CUDA(cuStreamQuery(ranks[0].stream)); // nothing is submitted
  EXPECT_NCCL(GroupEnd());
  EXPECT_EQ(read(0, 1), std::vector<float>{10});
}

TEST_F(NcclTypesTest, AGroupWithAWrongCallSubmitsNothing) {
  EXPECT_NCCL(GroupStart());
  EXPECT_EQ(allReduce(0, 1, ncclFloat32, ncclSum), ncclSuccess);
  EXPECT_EQ(allReduce(1, 1, ncclDataType_t(12), ncclSum), ncclInvalidArgument);
  EXPECT_EQ(nccl().GroupEnd(), ncclInvalidArgument);
  group([&](int i) { return allReduce(i, 1, ncclFloat32, ncclSum); });
  EXPECT_EQ(read(0, 1), std::vector<float>{10});
}
