//===- StreamTest.cpp - Streams, events, and the order of work ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <atomic>
#include <set>
#include <thread>

using namespace llmc::standin::test;
using namespace std::chrono_literals;

namespace {

class StreamTest : public DeviceTest {
protected:
  /// Writes `value` at `address` in a stream.
  void write(CUdeviceptr address, unsigned value, CUstream where) {
    EXPECT_CUDA(cuMemsetD32Async(address, value, 1, where));
  }
  unsigned wordAt(CUdeviceptr address) {
    unsigned word = 0;
    EXPECT_CUDA(cuMemcpyDtoH(&word, address, 4));
    return word;
  }
};
using StreamDeathTest = StreamTest;

void count(void *counter) { ++*static_cast<std::atomic<int> *>(counter); }

} // namespace

TEST_F(StreamTest, NothingRunsWhenItIsSubmitted) {
  CUdeviceptr memory = allocate(4);
  for (int i = 0; i < 20; ++i)
    write(memory, i, stream);
  EXPECT_EQ(cuda().cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_CUDA(cuStreamQuery(stream));
  EXPECT_EQ(wordAt(memory), 19u);
}

TEST_F(StreamTest, WorkIsDoneInTheEndThoughNobodyAsks) {
  std::atomic<int> done{0};
  ASSERT_CUDA(cuMemsetD8Async(allocate(4), 0, 4, stream));
  ASSERT_CUDA(cuLaunchHostFunc(stream, count, &done));
  for (int i = 0; i < 20000 && !done; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(done, 1);
}

TEST_F(StreamTest, AskingLetsWorkGoOn) {
  CUevent event = makeEvent();
  ASSERT_CUDA(cuEventRecord(event, stream));
  int asked = 0;
  while (cuda().cuEventQuery(event) == CUDA_ERROR_NOT_READY && asked < 100000)
    ++asked;
  EXPECT_LT(asked, 100000);
}

TEST_F(StreamTest, StreamsRunInAnyOrder) {
  CUstream other = makeStream();
  CUdeviceptr memory = allocate(4);
  std::set<unsigned> last;
  for (int i = 0; i < 40; ++i) {
    write(memory, 1, stream);
    write(memory, 2, other);
    ASSERT_CUDA(cuCtxSynchronize());
    last.insert(wordAt(memory));
  }
  EXPECT_EQ(last, (std::set<unsigned>{1, 2}));
}

TEST_F(StreamTest, AnEventOrdersTwoStreams) {
  CUstream other = makeStream();
  CUdeviceptr memory = allocate(4);
  CUevent event = makeEvent();
  for (int i = 0; i < 40; ++i) {
    write(memory, 1, stream);
    ASSERT_CUDA(cuEventRecord(event, stream));
    ASSERT_CUDA(cuStreamWaitEvent(other, event, 0));
    write(memory, 2, other);
    ASSERT_CUDA(cuCtxSynchronize());
    EXPECT_EQ(wordAt(memory), 2u);
  }
}

TEST_F(StreamTest, AWaitIsForTheRecordBeforeIt) {
  CUstream other = makeStream();
  CUevent event = makeEvent();
  ASSERT_CUDA(cuStreamWaitEvent(other, event, 0)); // never recorded: nothing
  ASSERT_CUDA(cuStreamSynchronize(other));
  ASSERT_CUDA(cuEventQuery(event));
  ASSERT_CUDA(cuEventRecord(event, stream));
  ASSERT_CUDA(cuStreamWaitEvent(other, event, 0));
  // Recorded again after the wait: what waits does not wait for this.
  ASSERT_CUDA(cuEventRecord(event, other));
  ASSERT_CUDA(cuEventSynchronize(event));
  ASSERT_CUDA(cuStreamSynchronize(stream));
}

TEST_F(StreamTest, TheNullStreamWaitsForBlockingStreamsAndTheyForIt) {
  CUstream blocking = makeStream(CU_STREAM_DEFAULT);
  CUdeviceptr memory = allocate(4);
  for (int i = 0; i < 40; ++i) {
    write(memory, 1, blocking);
    write(memory, 2, nullptr);
    write(memory, 3, blocking);
    write(memory, 4, CU_STREAM_LEGACY);
    ASSERT_CUDA(cuStreamSynchronize(nullptr));
    EXPECT_EQ(wordAt(memory), 4u);
    write(memory, 5, CU_STREAM_LEGACY);
    write(memory, 6, CU_STREAM_PER_THREAD);
    ASSERT_CUDA(cuCtxSynchronize());
    EXPECT_EQ(wordAt(memory), 6u);
  }
}

TEST_F(StreamTest, TheNullStreamWaitsForADestroyedBlockingStream) {
  CUdeviceptr memory = allocate(4);
  for (int i = 0; i < 40; ++i) {
    CUstream blocking = makeStream(CU_STREAM_DEFAULT);
    write(memory, 1, blocking);
    ASSERT_CUDA(cuStreamDestroy(blocking));
    write(memory, 2, nullptr);
    ASSERT_CUDA(cuCtxSynchronize());
    EXPECT_EQ(wordAt(memory), 2u);
  }
}

TEST_F(StreamTest, ANonBlockingStreamDoesNotWaitForTheNullStream) {
  CUdeviceptr memory = allocate(4);
  std::set<unsigned> last;
  for (int i = 0; i < 40; ++i) {
    write(memory, 1, nullptr);
    write(memory, 2, stream);
    ASSERT_CUDA(cuCtxSynchronize());
    last.insert(wordAt(memory));
  }
  EXPECT_EQ(last, (std::set<unsigned>{1, 2}));
}

TEST_F(StreamTest, EventsTellTheTime) {
  CUevent start = makeEvent(0), end = makeEvent(0), untimed = makeEvent();
  float time = -1;
  EXPECT_EQ(cuda().cuEventElapsedTime(&time, start, end),
            CUDA_ERROR_INVALID_HANDLE);
  ASSERT_CUDA(cuEventRecord(start, stream));
  ASSERT_CUDA(cuEventRecord(end, stream));
  EXPECT_EQ(cuda().cuEventElapsedTime(&time, start, end), CUDA_ERROR_NOT_READY);
  ASSERT_CUDA(cuEventSynchronize(end));
  EXPECT_CUDA(cuEventElapsedTime(&time, start, end));
  EXPECT_GE(time, 0);
  ASSERT_CUDA(cuEventRecord(untimed, stream));
  ASSERT_CUDA(cuEventSynchronize(untimed));
  EXPECT_EQ(cuda().cuEventElapsedTime(&time, start, untimed),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamTest, HostFunctionsMayNotCallTheDriver) {
  static CUresult result;
  auto callBack = [](void *) {
    CUdevice device;
    result = cuda().cuCtxGetDevice(&device);
  };
  ASSERT_CUDA(cuLaunchHostFunc(stream, callBack, nullptr));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(StreamTest, StreamsAndEventsOfTwoDevices) {
  CUcontext second = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&second, 1));
  ASSERT_CUDA(cuCtxPushCurrent(second));
  CUstream other = makeStream();
  CUevent event = makeEvent(0);
  ASSERT_CUDA(cuEventRecord(event, other));
  ASSERT_CUDA(cuCtxPopCurrent(nullptr));
  EXPECT_EQ(cuda().cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuStreamWaitEvent(stream, event, 0));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_EQ(cuda().cuLaunchKernel(kernel("race"), 1, 1, 1, 1, 1, 1, 4, other,
                                  nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  // A copy may be in a stream of any device.
  EXPECT_CUDA(cuMemsetD8Async(allocate(1), 0, 1, other));
  EXPECT_CUDA(cuStreamSynchronize(other));
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(1));
}

TEST_F(StreamTest, HandlesAreChecked) {
  auto wild = reinterpret_cast<CUstream>(0x12345);
  EXPECT_EQ(cuda().cuStreamSynchronize(wild), CUDA_ERROR_INVALID_HANDLE);
  auto event = reinterpret_cast<CUevent>(stream); // of another kind
  EXPECT_EQ(cuda().cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuda().cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  int priority = 1, least = 1, greatest = 1;
  CUstream urgent = nullptr;
  ASSERT_CUDA(cuCtxGetStreamPriorityRange(&least, &greatest));
  ASSERT_CUDA(cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING,
                                         greatest - 10));
  ASSERT_CUDA(cuStreamGetPriority(urgent, &priority));
  EXPECT_EQ(priority, greatest);
}

TEST_F(StreamDeathTest, ReportsHandlesWhoseObjectIsDestroyed) {
  CUevent event = makeEvent();
  ASSERT_CUDA(cuEventDestroy(event));
  EXPECT_DEATH(cuda().cuEventQuery(event),
               "stand-in: the event is used after it was destroyed");
  ASSERT_CUDA(cuStreamDestroy(stream));
  EXPECT_DEATH(cuda().cuStreamQuery(stream),
               "stand-in: the stream is used after it was destroyed");
}
