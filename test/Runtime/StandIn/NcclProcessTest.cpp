//===- NcclProcessTest.cpp - Ranks that are processes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank is this program again, with a test that is disabled otherwise.
//
//===----------------------------------------------------------------------===//

#include "Nccl.h"

#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llmc::standin::test;

extern char **environ;

namespace {

/// What a rank does that has a process of its own.
class NcclProcess : public ::testing::Test {
protected:
  void start(int ranks) {
    ncclUniqueId id = {};
    std::strcpy(id.internal, std::getenv("LLMC_TEST_ID"));
    ASSERT_CUDA(cuInit(0));
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&context, rank));
    ASSERT_CUDA(cuCtxSetCurrent(context));
    ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    ASSERT_CUDA(cuMemAlloc(&buffer, 4));
    ASSERT_NCCL(CommInitRank(&comm, ranks, id, rank));
  }

  int rank = std::atoi(std::getenv("LLMC_TEST_RANK"));
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr buffer = 0;
  ncclComm_t comm = nullptr;
};

/// Runs `test` of NcclProcess in so many processes; they all succeed.
void runRanks(const char *test, int ranks) {
  ncclUniqueId id;
  ASSERT_NCCL(GetUniqueId(&id));
  setenv("LLMC_TEST_ID", id.internal, 1);
  std::string filter = std::string("--gtest_filter=NcclProcess.") + test;
  const char *arguments[] = {"StandInTest", filter.c_str(),
                             "--gtest_also_run_disabled_tests", nullptr};
  std::vector<pid_t> processes(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    setenv("LLMC_TEST_RANK", std::to_string(rank).c_str(), 1);
    ASSERT_EQ(posix_spawn(&processes[rank], "/proc/self/exe", nullptr, nullptr,
                          const_cast<char **>(arguments), environ),
              0);
  }
  for (pid_t process : processes) {
    int status = 1;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
}

} // namespace

// A rank of NcclProcessTest.MeetsAcrossProcesses.
TEST_F(NcclProcess, DISABLED_Rank) {
  ncclComm_t half = nullptr;
  float value = rank + 1.0f;
  start(3);
  ASSERT_CUDA(cuMemcpyHtoD(buffer, &value, 4));
  ASSERT_NCCL(CommSplit(comm, rank / 2, 0, &half, nullptr));
  void *memory = reinterpret_cast<void *>(buffer);
  for (int round = 0; round < 20; ++round)
    ASSERT_NCCL(
        AllReduce(memory, memory, 1, ncclFloat32, ncclAvg, comm, stream));
  ASSERT_NCCL(AllReduce(memory, memory, 1, ncclFloat32, ncclSum, half, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  ASSERT_CUDA(cuMemcpyDtoH(&value, buffer, 4));
  EXPECT_NEAR(value, rank < 2 ? 4 : 2, 1e-5);
  ASSERT_NCCL(CommDestroy(half));
  ASSERT_NCCL(CommDestroy(comm));
}

// A rank of NcclProcessTest.SeesThatAProcessIsGone.
TEST_F(NcclProcess, DISABLED_Survivor) {
  start(2);
  if (rank == 1)
    _exit(0);
  void *memory = reinterpret_cast<void *>(buffer);
  ASSERT_NCCL(AllReduce(memory, memory, 1, ncclFloat32, ncclSum, comm, stream));
  ncclResult_t error = ncclSuccess;
  while (error == ncclSuccess)
    ASSERT_NCCL(CommGetAsyncError(comm, &error));
  EXPECT_EQ(error, ncclRemoteError);
  EXPECT_EQ(cuda().cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(
      nccl().AllReduce(memory, memory, 1, ncclFloat32, ncclSum, comm, stream),
      ncclRemoteError);
  ASSERT_NCCL(CommAbort(comm));
  EXPECT_CUDA(cuStreamSynchronize(stream));
}

TEST(NcclProcessTest, MeetsAcrossProcesses) { runRanks("DISABLED_Rank", 3); }

TEST(NcclProcessTest, SeesThatAProcessIsGone) {
  runRanks("DISABLED_Survivor", 2);
}
