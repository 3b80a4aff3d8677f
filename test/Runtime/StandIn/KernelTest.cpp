//===- KernelTest.cpp - Kernels run by fibers -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace llmc::standin::test;

namespace {
class KernelTest : public DeviceTest {
protected:
  void run(const char *name, unsigned threads, unsigned sharedBytes,
           const std::vector<uint64_t> &parameters = {}) {
    launch(name, 2, threads, sharedBytes, stream, parameters);
    EXPECT_CUDA(cuStreamSynchronize(stream));
  }
};
using KernelDeathTest = KernelTest;
} // namespace

TEST_F(KernelTest, SumsRowsByShufflesAndSharedMemory) {
  constexpr unsigned rows = 7, columns = 1000;
  std::vector<float> values(rows * columns), expected(rows, 0);
  for (unsigned i = 0; i < rows * columns; ++i) {
    values[i] = static_cast<float>(i % 17);
    expected[i / columns] += values[i];
  }
  CUdeviceptr from = upload(values), to = allocate(rows * sizeof(float));
  launch("row_sum", rows, 128, 4 * sizeof(float), stream, {from, to, columns});
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download(to, rows), expected);
}

TEST_F(KernelTest, CopiesParametersOfUnknownNumberAtTheCall) {
  CUdeviceptr from = upload({1, 2, 3, 4}), to = allocate(16);
  uint64_t factor = 3;
  void *parameters[] = {&from, &to, &factor};
  ASSERT_CUDA(cuLaunchKernel(kernel("scale"), 2, 1, 1, 2, 1, 1, 0, stream,
                             parameters, nullptr));
  factor = 100;
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download(to, 4), (std::vector<float>{3, 6, 9, 12}));
}

TEST_F(KernelTest, TakesParametersAsABuffer) {
  uint64_t values[] = {upload({1, 2}), allocate(8), 5};
  size_t bytes = sizeof values;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, values,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  ASSERT_CUDA(cuLaunchKernel(kernel("scale"), 1, 1, 1, 2, 1, 1, 0, stream,
                             nullptr, extra));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download(values[1], 2), (std::vector<float>{5, 10}));
}

TEST_F(KernelTest, RunsThreadsAndBlocksInAnyOrder) {
  const unsigned shapes[][2] = {{1, 64}, {64, 1}};
  for (auto [blocks, threads] : shapes) {
    CUdeviceptr counter = upload({0}), to = allocate(64 * 4);
    launch("arrival", blocks, threads, 0, stream, {counter, to});
    ASSERT_CUDA(cuStreamSynchronize(stream));
    std::vector<int32_t> order(64), all(64);
    ASSERT_CUDA(cuMemcpyDtoH(order.data(), to, order.size() * 4));
    for (unsigned i = 0; i < all.size(); ++i)
      all[i] = i;
    EXPECT_NE(order, all) << blocks << " blocks";
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all);
  }
}

TEST_F(KernelTest, HoldsTheLimitsOfALaunch) {
  CUfunction race = kernel("race");
  auto run = [&](unsigned blocks, unsigned threads, unsigned sharedBytes) {
    return cuda().cuLaunchKernel(race, blocks, 1, 1, threads, 1, 1, sharedBytes,
                                 stream, nullptr, nullptr);
  };
  EXPECT_EQ(run(0, 1, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(1, 1, 49153), CUDA_ERROR_INVALID_VALUE);
  constexpr auto most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(cuda().cuFuncSetAttribute(race, most, 232449),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetAttribute(race, most, 232448));
  EXPECT_EQ(run(1, 1, 232448), CUDA_SUCCESS);
  int value = 0;
  EXPECT_CUDA(cuFuncGetAttribute(&value, most, race));
  EXPECT_EQ(value, 232448);
  EXPECT_EQ(cuda().cuLaunchKernel(race, 1, 1, 1, 1, 2, 1, 0, stream, nullptr,
                                  nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(KernelTest, TakesNoImageButItsOwn) {
  CUmodule other = nullptr;
  auto load = [&](const std::string &image) {
    return cuda().cuModuleLoadData(&other, image.data());
  };
  EXPECT_EQ(load(".version 8.0\n.target sm_90\n"),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(load("nothing that anybody knows"), CUDA_ERROR_INVALID_IMAGE);
  std::string cubin = testImage();
  reinterpret_cast<Elf64_Ehdr *>(&cubin[0])->e_machine = 190;
  EXPECT_EQ(load(cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::string object = testImage();
  reinterpret_cast<Elf64_Ehdr *>(&object[0])->e_type = ET_REL;
  EXPECT_EQ(load(object), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(KernelTest, FindsTheFunctionsOfTheImageAlone) {
  CUfunction function = nullptr;
  EXPECT_EQ(cuda().cuModuleGetFunction(&function, module, "no_such_kernel"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuda().cuModuleGetFunction(&function, module, "malloc"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(kernel("race"), kernel("race"));
}

TEST_F(KernelDeathTest, ReportsARace) {
  EXPECT_DEATH(run("race", 64, 256),
               "stand-in: kernel 'race', block [01]: race on byte [0-9]+ of "
               "shared memory: thread [0-9]+ writes it at site 7, .*site 8");
}

TEST_F(KernelDeathTest, AShuffleIsNoBarrier) {
  EXPECT_DEATH(run("write_after_read", 32, 4),
               "race on byte 0 of shared memory: thread 3 writes it at site "
               "13, another thread reads it at site 11");
  EXPECT_DEATH(run("read_after_write", 32, 4),
               "race on byte 0 of shared memory: thread 3 writes it at site "
               "14, thread 4 reads it at site 16");
}

TEST_F(KernelDeathTest, ReportsThreadsThatMissABarrier) {
  EXPECT_DEATH(run("half_barrier", 64, 0),
               "stand-in: kernel 'half_barrier', block [01]: divergent "
               "barrier: thread 0 waits at barrier 3, and thread 32 is over");
}

TEST_F(KernelDeathTest, ReportsTwoBarriers) {
  EXPECT_DEATH(run("two_barriers", 64, 0),
               "divergent barrier: thread [0-9]+ is at site [56], thread "
               "[0-9]+ at site [56]");
}

TEST_F(KernelDeathTest, ReportsLanesThatMissAShuffle) {
  EXPECT_DEATH(run("half_shuffle", 32, 0),
               "divergent shuffle: thread 0 waits at shuffle 2, and thread 9 "
               "is over");
  EXPECT_DEATH(run("half_shuffle", 40, 0), "its warp has 8 lanes");
}

TEST_F(KernelDeathTest, ReportsWhatLiesOutsideSharedMemory) {
  EXPECT_DEATH(run("beyond_shared", 4, 16),
               "touches bytes 16 to 19 of 16 bytes of shared memory at site 4");
}

TEST_F(KernelDeathTest, ReportsWhatLiesOutsideAnAllocation) {
  CUdeviceptr memory = allocate(256);
  run("write_at", 1, 0, {memory, 252});
  EXPECT_DEATH(run("write_at", 1, 0, {memory, 256}),
               "where nothing is allocated, in kernel 'write_at', block [01], "
               "thread 0");
}

TEST_F(KernelDeathTest, ReportsMemoryThatWasFreed) {
  CUdeviceptr memory = allocate(256);
  launch("write_at", 1, 1, 0, stream, {memory, 0});
  EXPECT_DEATH(cuda().cuMemFree(memory),
               "cuMemFree of memory that 1 submitted operations still use");
  ASSERT_CUDA(cuStreamSynchronize(stream));
  ASSERT_CUDA(cuMemFree(memory));
  EXPECT_DEATH(run("write_at", 1, 0, {memory, 0}), "nothing is allocated");
}

TEST_F(KernelDeathTest, ReportsAModuleThatIsUnloadedTooEarly) {
  launch("write_at", 1, 1, 0, stream, {allocate(4), 0});
  EXPECT_DEATH(cuda().cuModuleUnload(module), "of which 1 submitted launches");
  ASSERT_CUDA(cuStreamSynchronize(stream));
  CUfunction function = kernel("race");
  ASSERT_CUDA(cuModuleUnload(module));
  EXPECT_DEATH(cuda().cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 4, stream,
                                     nullptr, nullptr),
               "the function is used after it was destroyed");
}

TEST_F(KernelDeathTest, ReportsMemoryOfAPeerWithoutAccess) {
  CUcontext other = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other, 1));
  ASSERT_CUDA(cuCtxPushCurrent(other));
  CUdeviceptr memory = allocate(4);
  ASSERT_CUDA(cuCtxPopCurrent(nullptr));
  EXPECT_DEATH(run("write_at", 1, 0, {memory, 0}),
               "on device 0 gets memory of device 1");
  ASSERT_CUDA(cuCtxEnablePeerAccess(other, 0));
  EXPECT_EQ(cuda().cuCtxEnablePeerAccess(other, 0),
            CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  run("write_at", 1, 0, {memory, 0});
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(1));
}
