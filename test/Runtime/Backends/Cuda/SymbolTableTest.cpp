//===- SymbolTableTest.cpp - Entry points of a library --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolTable.h"
#include "Driver.h"
#include "Nccl.h"

#include <gtest/gtest.h>

namespace llmc::rt::cuda {
namespace {

TEST(SymbolTableTest, TheFirstFileThatIsThereIsTaken) {
  void *place = nullptr;
  Status status =
      loadSymbols({"liblacks.so.1", "libc.so.6"}, {{"getpid", &place}}, "hint");
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_NE(place, nullptr);
}

TEST(SymbolTableTest, AMissingFileIsNamed) {
  Status status = loadSymbols({"liblacks.so.2", "liblacks.so.1"}, {}, "get it");
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(describe(status.error()),
            "expected liblacks.so.2 or liblacks.so.1 on this machine, got none "
            "(get it)");
}

TEST(SymbolTableTest, AMissingSymbolIsNamed) {
  void *first = nullptr, *second = nullptr;
  Status status = loadSymbols(
      {"libc.so.6"}, {{"getpid", &first}, {"cuGetPid", &second}}, "update it");
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(describe(status.error()),
            "expected libc.so.6 to have 'cuGetPid', got none (update it)");
}

TEST(SymbolTableTest, AnOlderNameDoes) {
  void *first = nullptr, *second = nullptr;
  EXPECT_TRUE(loadSymbols({"libc.so.6"},
                          {{"getpid_v2", &first, "getpid"},
                           {"getpid", &second, "getppid"}},
                          "update it")
                  .ok());
  EXPECT_EQ(first, second);
}

// Macros of cuda.h put versions to names, and the table looks for these.
TEST(SymbolTableTest, NamesHaveTheirVersions) {
  EXPECT_STREQ(LLMC_CUDA_TEXT(cuMemAlloc), "cuMemAlloc_v2");
  EXPECT_STREQ(LLMC_CUDA_TEXT(cuLaunchKernel), "cuLaunchKernel");
}

CUresult nameOf(CUresult result, const char **text) {
  *text =
      result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

TEST(SymbolTableTest, ErrorsOfTheDriverHaveNameAndText) {
  Driver driver;
  driver.cuGetErrorName = nameOf;
  driver.cuGetErrorString = [](CUresult, const char **text) {
    *text = "out of memory";
    return CUDA_SUCCESS;
  };
  EXPECT_TRUE(driver.check(CUDA_SUCCESS, "cuMemAlloc").ok());
  Status status = driver.check(CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc");
  EXPECT_EQ(status.kind(), ErrorKind::outOfMemory);
  EXPECT_EQ(status.message(),
            "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory, number 2)");
  EXPECT_EQ(driver.check(CUDA_ERROR_NO_BINARY_FOR_GPU, "x").kind(),
            ErrorKind::mismatch);
  EXPECT_EQ(driver.check(CUDA_ERROR_ECC_UNCORRECTABLE, "x").kind(),
            ErrorKind::rerunElsewhere);
  EXPECT_EQ(driver.check(CUDA_ERROR_ILLEGAL_ADDRESS, "x").kind(),
            ErrorKind::internal);
}

// A call that is in progress has not failed.
TEST(SymbolTableTest, ErrorsOfNcclHaveKinds) {
  Nccl nccl;
  nccl.ncclGetErrorString = [](NcclResult) { return "remote error"; };
  nccl.ncclGetLastError = [](NcclComm) { return "socket closed"; };
  EXPECT_TRUE(nccl.check(NcclResult::success, "x").ok());
  EXPECT_TRUE(nccl.check(NcclResult::inProgress, "x").ok());
  Status status = nccl.check(NcclResult::remoteError, "ncclAllReduce");
  EXPECT_EQ(status.kind(), ErrorKind::peerLost);
  EXPECT_EQ(status.message(), "ncclAllReduce: remote error (socket closed)");
  EXPECT_EQ(nccl.check(NcclResult::invalidUsage, "x").kind(),
            ErrorKind::mismatch);
}

} // namespace
} // namespace llmc::rt::cuda
