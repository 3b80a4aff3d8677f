//===- Nccl.h - The stand-in of NCCL, as a test finds it ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_NCCL_H
#define LLMC_TEST_RUNTIME_STANDIN_NCCL_H

#include "Libraries.h"
#include "Nccl/Interface.h"

namespace llmc::standin::test {

/// The functions of libnccl.
struct Nccl {
  void *library = openLibrary("libnccl.so.2");
#define LLMC_TEST_NCCL(name)                                                   \
  decltype(&::nccl##name) name = reinterpret_cast<decltype(&::nccl##name)>(    \
      findSymbol(library, "nccl" #name));
  LLMC_TEST_NCCL(GetVersion)
  LLMC_TEST_NCCL(GetUniqueId)
  LLMC_TEST_NCCL(GetErrorString)
  LLMC_TEST_NCCL(GetLastError)
  LLMC_TEST_NCCL(CommInitRank)
  LLMC_TEST_NCCL(CommInitRankConfig)
  LLMC_TEST_NCCL(CommInitAll)
  LLMC_TEST_NCCL(CommSplit)
  LLMC_TEST_NCCL(CommFinalize)
  LLMC_TEST_NCCL(CommDestroy)
  LLMC_TEST_NCCL(CommAbort)
  LLMC_TEST_NCCL(CommGetAsyncError)
  LLMC_TEST_NCCL(CommCount)
  LLMC_TEST_NCCL(CommCuDevice)
  LLMC_TEST_NCCL(CommUserRank)
  LLMC_TEST_NCCL(GroupStart)
  LLMC_TEST_NCCL(GroupEnd)
  LLMC_TEST_NCCL(AllReduce)
  LLMC_TEST_NCCL(Reduce)
  LLMC_TEST_NCCL(Broadcast)
  LLMC_TEST_NCCL(Bcast)
  LLMC_TEST_NCCL(AllGather)
  LLMC_TEST_NCCL(ReduceScatter)
  LLMC_TEST_NCCL(Send)
  LLMC_TEST_NCCL(Recv)
#undef LLMC_TEST_NCCL
};
const Nccl &nccl();

#define EXPECT_NCCL(call) EXPECT_EQ(nccl().call, ncclSuccess)
#define ASSERT_NCCL(call) ASSERT_EQ(nccl().call, ncclSuccess)

constexpr int kRanks = 4;

/// Ranks of one process, each on a device, with a stream and two buffers of 64
/// bytes.
class NcclTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  void write(int rank, const void *values, size_t bytes);
  void write(int rank, const std::vector<float> &values) {
    write(rank, values.data(), values.size() * sizeof(float));
  }
  void read(int rank, void *values, size_t bytes);
  std::vector<float> read(int rank, size_t count) {
    std::vector<float> values(count);
    read(rank, values.data(), count * sizeof(float));
    return values;
  }
  /// Calls for each rank, in one group.
  template <typename Call> void group(Call call) {
    EXPECT_NCCL(GroupStart());
    for (int i = 0; i < kRanks; ++i)
      EXPECT_EQ(call(i), ncclSuccess);
    EXPECT_NCCL(GroupEnd());
  }
  ncclResult_t allReduce(int rank, size_t count, ncclDataType_t type,
                         ncclRedOp_t op) {
    return nccl().AllReduce(in(rank), out(rank), count, type, op, comms[rank],
                            ranks[rank].stream);
  }
  void *in(int rank) { return reinterpret_cast<void *>(ranks[rank].in); }
  void *out(int rank) { return reinterpret_cast<void *>(ranks[rank].out); }

  struct Rank {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr in = 0, out = 0;
  };
  Rank ranks[kRanks];
  ncclComm_t comms[kRanks] = {};
};

} // namespace llmc::standin::test

#endif // LLMC_TEST_RUNTIME_STANDIN_NCCL_H
