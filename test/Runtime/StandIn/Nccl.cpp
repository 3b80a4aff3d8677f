//===- Nccl.cpp - The stand-in of NCCL, as a test finds it ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl.h"

using namespace llmc::standin::test;

const Nccl &llmc::standin::test::nccl() {
  static const Nccl library;
  return library;
}

void NcclTest::SetUp() {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ASSERT_CUDA(cuInit(0));
  for (int i = 0; i < kRanks; ++i) {
    Rank &rank = ranks[i];
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&rank.context, i));
    ASSERT_CUDA(cuCtxSetCurrent(rank.context));
    ASSERT_CUDA(cuStreamCreate(&rank.stream, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuMemAlloc(&rank.in, 64));
    ASSERT_CUDA(cuMemAlloc(&rank.out, 64));
    write(i, {float(i + 1), float(10 * i), 0.5f, 1, 2, 3, 4, 5});
  }
  ASSERT_NCCL(CommInitAll(comms, kRanks, nullptr));
}

void NcclTest::TearDown() {
  for (int i = 0; i < kRanks; ++i) {
    if (comms[i]) {
      EXPECT_NCCL(CommDestroy(comms[i]));
    }
    ASSERT_CUDA(cuDevicePrimaryCtxRelease(i));
  }
  ASSERT_CUDA(cuCtxSetCurrent(nullptr));
}

void NcclTest::write(int rank, const void *values, size_t bytes) {
  ASSERT_CUDA(cuCtxSetCurrent(ranks[rank].context));
  ASSERT_CUDA(cuMemcpyHtoD(ranks[rank].in, values, bytes));
  ASSERT_CUDA(cuStreamSynchronize(nullptr));
}

void NcclTest::read(int rank, void *values, size_t bytes) {
  ASSERT_CUDA(cuCtxSetCurrent(ranks[rank].context));
  ASSERT_CUDA(cuStreamSynchronize(ranks[rank].stream));
  ASSERT_CUDA(cuMemcpyDtoH(values, ranks[rank].out, bytes));
}
