//===- CaptureTest.cpp - Streams become graphs, and the rules of that -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <cstring>
#include <thread>

using namespace llmc::standin::test;

namespace {

class CaptureTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    other = makeStream();
    memory = upload({0, 0, 0, 0});
  }
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_CUDA(cuStreamBeginCapture(stream, mode));
  }
  CUresult end() { return cuda().cuStreamEndCapture(stream, &graph); }
  void write(float value, int place, CUstream where) {
    unsigned bits;
    std::memcpy(&bits, &value, 4);
    EXPECT_CUDA(cuMemsetD32Async(memory + 4 * place, bits, 1, where));
  }
  CUgraphExec instantiate() {
    CUgraphExec exec = nullptr;
    EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  }
  CUstreamCaptureStatus status() {
    CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_CUDA(cuStreamIsCapturing(stream, &found));
    return found;
  }
  /// That a call gives `error`, and that the capture is invalid after it.
  void expectInvalidated(CUresult got, CUresult error) {
    EXPECT_EQ(got, error);
    EXPECT_EQ(status(), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT_EQ(cuda().cuMemsetD8Async(memory, 0, 1, stream),
              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status(), CU_STREAM_CAPTURE_STATUS_NONE);
  }

  CUstream other = nullptr;
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
};
using CaptureDeathTest = CaptureTest;

constexpr auto kUnsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

} // namespace

TEST_F(CaptureTest, CapturesForksAndReplaysThem) {
  CUevent fork = makeEvent(), join = makeEvent();
  CUdeviceptr sum = allocate(4);
  begin();
  write(1, 0, stream);
  ASSERT_CUDA(cuEventRecord(fork, stream));
  ASSERT_CUDA(cuStreamWaitEvent(other, fork, 0));
  uint64_t columns = 2, to = sum;
  void *parameters[] = {&memory, &to, &columns};
  write(2, 1, other);
  ASSERT_CUDA(cuEventRecord(join, other));
  ASSERT_CUDA(cuStreamWaitEvent(stream, join, 0));
  ASSERT_CUDA(cuLaunchKernel(kernel("row_sum"), 1, 1, 1, 32, 1, 1, 4, stream,
                             parameters, nullptr));
  to = columns = 0; // they were copied
  ASSERT_EQ(end(), CUDA_SUCCESS);
  EXPECT_EQ(download(memory, 2), (std::vector<float>{0, 0})); // nothing ran
  size_t nodes = 0;
  ASSERT_CUDA(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 3u);
  CUgraphExec exec = instantiate();
  ASSERT_CUDA(cuGraphDestroy(graph));
  for (int i = 0; i < 20; ++i) {
    ASSERT_CUDA(cuMemsetD8Async(memory, 0, 8, stream));
    ASSERT_CUDA(cuMemsetD8Async(sum, 0, 4, stream));
    ASSERT_CUDA(cuGraphLaunch(exec, stream));
    ASSERT_CUDA(cuStreamSynchronize(stream));
    EXPECT_EQ(download(sum, 1)[0], 3);
  }
  ASSERT_CUDA(cuGraphExecDestroy(exec));
}

TEST_F(CaptureTest, LaunchesOfOneGraphDoNotOverlap) {
  CUdeviceptr counter = upload({0}), order = allocate(8);
  begin();
  launch("arrival", 1, 1, 0, stream, {counter, order});
  launch("arrival", 1, 1, 0, stream, {counter, order + 4});
  ASSERT_EQ(end(), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  for (int round = 1; round <= 20; ++round) {
    ASSERT_CUDA(cuGraphLaunch(exec, stream));
    ASSERT_CUDA(cuGraphLaunch(exec, other));
    ASSERT_CUDA(cuCtxSynchronize());
    int last[2];
    ASSERT_CUDA(cuMemcpyDtoH(last, order, 8));
    EXPECT_EQ(last[0], 4 * round - 2);
    EXPECT_EQ(last[1], 4 * round - 1);
  }
}

TEST_F(CaptureTest, HostMemoryIsReadWhenTheGraphRuns) {
  float value = 1;
  begin();
  ASSERT_CUDA(cuMemcpyHtoDAsync(memory, &value, 4, stream));
  ASSERT_EQ(end(), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  for (float now : {5.0f, 6.0f}) {
    value = now;
    ASSERT_CUDA(cuGraphLaunch(exec, stream));
    ASSERT_CUDA(cuStreamSynchronize(stream));
    EXPECT_EQ(download(memory, 1)[0], now);
  }
}

TEST_F(CaptureTest, UpdatesAGraphOfTheSameShape) {
  begin();
  write(1, 0, stream);
  ASSERT_EQ(end(), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  begin();
  write(2, 0, stream);
  ASSERT_EQ(end(), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo info;
  ASSERT_CUDA(cuGraphExecUpdate(exec, graph, &info));
  ASSERT_CUDA(cuGraphLaunch(exec, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download(memory, 1)[0], 2);
  begin();
  launch("race", 1, 1, 4, stream, {});
  ASSERT_EQ(end(), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuGraphExecUpdate(exec, graph, &info),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
}

TEST_F(CaptureTest, TellsWhereItStands) {
  CUstreamCaptureStatus found;
  cuuint64_t id = 0;
  CUgraph building = nullptr;
  const CUgraphNode *nodes = nullptr;
  size_t count = 9;
  begin();
  write(1, 0, stream);
  ASSERT_CUDA(cuStreamGetCaptureInfo(stream, &found, &id, &building, &nodes,
                                     nullptr, &count));
  EXPECT_EQ(found, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  CUgraphNodeType type;
  ASSERT_CUDA(cuGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);
  ASSERT_EQ(end(), CUDA_SUCCESS);
  EXPECT_EQ(graph, building);
}

TEST_F(CaptureTest, ForbidsWaitingForWhatItCaptures) {
  begin();
  expectInvalidated(cuda().cuStreamSynchronize(stream), kUnsupported);
  begin();
  expectInvalidated(cuda().cuStreamQuery(stream), kUnsupported);
  begin();
  expectInvalidated(cuda().cuCtxSynchronize(), kUnsupported);
  begin();
  CUevent event = makeEvent();
  ASSERT_CUDA(cuEventRecord(event, stream));
  expectInvalidated(cuda().cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
  // The event is marked even after the end.
  EXPECT_EQ(cuda().cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuda().cuStreamWaitEvent(other, event, 0),
            CUDA_ERROR_CAPTURED_EVENT);
  ASSERT_CUDA(cuEventRecord(event, other));
  EXPECT_CUDA(cuEventSynchronize(event));
  CUevent timed = makeEvent(0);
  float time = 0;
  ASSERT_CUDA(cuEventRecord(timed, other));
  begin();
  ASSERT_CUDA(cuEventRecord(timed, stream));
  ASSERT_EQ(end(), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuEventElapsedTime(&time, timed, timed),
            CUDA_ERROR_CAPTURED_EVENT);
}

TEST_F(CaptureTest, ForbidsUnsafeCallsByTheMode) {
  CUdeviceptr made = 0;
  float value = 0;
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  expectInvalidated(cuda().cuMemAlloc(&made, 4), kUnsupported);
  begin();
  expectInvalidated(cuda().cuMemFree(memory), kUnsupported);
  begin();
  expectInvalidated(cuda().cuMemcpyHtoD(memory, &value, 4), kUnsupported);
  begin();
  expectInvalidated(cuda().cuStreamSynchronize(other), kUnsupported);
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA(cuMemAlloc(&made, 4));
  EXPECT_EQ(end(), CUDA_SUCCESS);
  begin();
  auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CUDA(cuMemAlloc(&made, 4));
  ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(end(), CUDA_SUCCESS);
}

TEST_F(CaptureTest, OtherThreadsAreBoundByTheGlobalModeAlone) {
  auto elsewhere = [&] {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      CUdeviceptr made = 0;
      cuda().cuCtxSetCurrent(context);
      result = cuda().cuMemAlloc(&made, 4);
    }).join();
    return result;
  };
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(elsewhere(), CUDA_SUCCESS);
  EXPECT_EQ(end(), CUDA_SUCCESS);
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  expectInvalidated(elsewhere(), kUnsupported);
}

TEST_F(CaptureTest, EndsInItsThreadAndStreamAndJoined) {
  CUevent fork = makeEvent();
  begin();
  CUresult wrongThread = CUDA_SUCCESS;
  std::thread([&] {
    cuda().cuCtxSetCurrent(context);
    wrongThread = cuda().cuStreamEndCapture(stream, &graph);
  }).join();
  EXPECT_EQ(wrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  ASSERT_CUDA(cuEventRecord(fork, stream));
  ASSERT_CUDA(cuStreamWaitEvent(other, fork, 0));
  write(1, 0, other);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(end(), CUDA_ERROR_ILLEGAL_STATE);
  write(1, 0, other); // it captures no more
  EXPECT_CUDA(cuStreamSynchronize(other));
  begin();
  ASSERT_CUDA(cuEventRecord(fork, stream));
  ASSERT_CUDA(cuStreamWaitEvent(other, fork, 0));
  EXPECT_EQ(cuda().cuStreamEndCapture(other, &graph),
            CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureTest, IsIsolatedFromWhatIsNotCaptured) {
  CUevent outside = makeEvent();
  ASSERT_CUDA(cuEventRecord(outside, other));
  begin();
  expectInvalidated(cuda().cuStreamWaitEvent(stream, outside, 0),
                    CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  begin();
  ASSERT_CUDA(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ASSERT_CUDA(cuEventRecord(outside, other));
  EXPECT_EQ(cuda().cuStreamWaitEvent(stream, outside, 0),
            CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuda().cuStreamEndCapture(other, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureTest, TheNullStreamCannotBeUsedBesideABlockingCapture) {
  CUstreamCaptureStatus found;
  EXPECT_EQ(
      cuda().cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED),
      kUnsupported);
  ASSERT_CUDA(cuStreamDestroy(stream));
  stream = makeStream(CU_STREAM_DEFAULT);
  begin();
  EXPECT_EQ(cuda().cuStreamIsCapturing(nullptr, &found),
            CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(status(), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  expectInvalidated(cuda().cuMemsetD8Async(memory, 0, 1, nullptr),
                    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

TEST_F(CaptureTest, ExternalEventsAreNodes) {
  CUevent event = makeEvent();
  EXPECT_EQ(
      cuda().cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL),
      CUDA_ERROR_ILLEGAL_STATE);
  begin();
  write(4, 0, stream);
  ASSERT_CUDA(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
  ASSERT_EQ(end(), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  ASSERT_CUDA(cuGraphLaunch(exec, stream));
  EXPECT_EQ(cuda().cuEventQuery(event), CUDA_ERROR_NOT_READY);
  ASSERT_CUDA(cuStreamWaitEvent(other, event, 0));
  ASSERT_CUDA(cuStreamSynchronize(other));
  EXPECT_EQ(download(memory, 1)[0], 4);
}

TEST_F(CaptureDeathTest, ReportsAGraphWhoseMemoryIsFreed) {
  begin();
  write(1, 0, stream);
  ASSERT_EQ(end(), CUDA_SUCCESS);
  CUgraphExec exec = instantiate();
  ASSERT_CUDA(cuMemFree(memory));
  EXPECT_DEATH(cuda().cuGraphLaunch(exec, stream),
               "'set of .*' is submitted, and its memory is freed");
}
