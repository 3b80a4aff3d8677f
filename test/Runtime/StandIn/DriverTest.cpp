//===- DriverTest.cpp - Devices, contexts, names --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <cstdlib>
#include <thread>

using namespace llmc::standin::test;

namespace {
class DriverTest : public DeviceTest {};
} // namespace

TEST_F(DriverTest, IsAGpuOfComputeCapability90) {
  int count = 0, value = 0, version = 0;
  ASSERT_CUDA(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 8);
  auto attribute = [&](CUdevice_attribute name) {
    EXPECT_CUDA(cuDeviceGetAttribute(&value, name, 7));
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
            232448);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 0);
  EXPECT_EQ(
      cuda().cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 8),
      CUDA_ERROR_INVALID_DEVICE);
  CUdevice device = -1;
  EXPECT_EQ(cuda().cuDeviceGet(&device, 8), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_CUDA(cuDriverGetVersion(&version));
  EXPECT_EQ(version, 13000);
  char name[64] = "";
  ASSERT_CUDA(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, "llmc stand-in for an sm_90 GPU");
}

/// Ends the process with 0 where the first of two devices is the sixth one.
static void lookAtDevices() {
  int count = 0;
  int bus = 0;
  setenv("CUDA_VISIBLE_DEVICES", "5,2,x,3", 1);
  EXPECT_CUDA(cuInit(0));
  EXPECT_CUDA(cuDeviceGetCount(&count));
  EXPECT_CUDA(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0));
  std::exit(count == 2 && bus == 6 ? 0 : 1);
}

// The environment is read once, so a process of its own looks.
TEST(DriverDeathTest, SeesTheDevicesThatTheEnvironmentLists) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lookAtDevices(), ::testing::ExitedWithCode(0), "");
}

TEST_F(DriverTest, WantsAContext) {
  ASSERT_CUDA(cuCtxSetCurrent(nullptr));
  CUdeviceptr made = 0;
  EXPECT_EQ(cuda().cuMemAlloc(&made, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_CUDA(cuCtxPushCurrent(context));
  CUresult elsewhere = CUDA_SUCCESS;
  std::thread([&] { elsewhere = cuda().cuCtxSynchronize(); }).join();
  EXPECT_EQ(elsewhere, CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(DriverTest, CountsWhoRetainsAContext) {
  CUcontext again = nullptr;
  unsigned flags = 0;
  int active = 0;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(0));
  ASSERT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cuda().cuDevicePrimaryCtxRelease(3), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuCtxPushCurrent(reinterpret_cast<CUcontext>(stream)),
            CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(DriverTest, AReleasedContextTakesItsWorkAndMemoryWithIt) {
  size_t before = 0, after = 0, total = 0;
  CUcontext other = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other, 2));
  ASSERT_CUDA(cuCtxSetCurrent(other));
  ASSERT_CUDA(cuMemGetInfo(&before, &total));
  CUdeviceptr memory = allocate(1 << 20);
  ASSERT_CUDA(cuMemsetD8Async(memory, 0, 1 << 20, makeStream()));
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(2));
  EXPECT_EQ(cuda().cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other, 2));
  ASSERT_CUDA(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(2));
  ASSERT_CUDA(cuCtxSetCurrent(context));
}

TEST_F(DriverTest, HasNoFunctionThatItDoesNotImplement) {
  EXPECT_EQ(findSymbol(cuda().library, "cuMemAllocManaged"), nullptr);
  EXPECT_EQ(findSymbol(cuda().library, "cuMemAlloc"), nullptr); // of CUDA 2
  void *function = &function;
  CUdriverProcAddressQueryResult status;
  auto find = [&](const char *name, int version) {
    EXPECT_CUDA(cuGetProcAddress(name, &function, version, 0, &status));
    return function;
  };
  EXPECT_EQ(find("cuMemAlloc", 12000),
            reinterpret_cast<void *>(cuda().cuMemAlloc));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(find("cuMemAllocManaged", 12000), nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(find("cuMemAlloc", 3000), nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(find("cuStreamGetCaptureInfo", 11030),
            findSymbol(cuda().library, "cuStreamGetCaptureInfo_v2"));
  void *older = function;
  EXPECT_NE(find("cuStreamGetCaptureInfo", 12030), older);
  EXPECT_EQ(cuda().cuGetProcAddress("cuInit", &function, 99000, 0, &status),
            CUDA_ERROR_INVALID_VALUE);
}

// What is listed is exported, and what the tests load is listed.
TEST_F(DriverTest, ExportsAllItsEntries) {
#define LLMC_STANDIN_ENTRY(name, since, before, symbol)                        \
  EXPECT_NE(findSymbol(cuda().library, #symbol), nullptr) << #symbol;
#include "Driver/Entries.def"
}

TEST_F(DriverTest, NamesErrors) {
  const char *name = nullptr;
  ASSERT_CUDA(cuGetErrorName(CUDA_ERROR_STREAM_CAPTURE_MERGE, &name));
  EXPECT_STREQ(name, "CUDA_ERROR_STREAM_CAPTURE_MERGE");
  ASSERT_CUDA(cuGetErrorString(CUDA_ERROR_NOT_READY, &name));
  EXPECT_STREQ(name, "not ready");
  EXPECT_EQ(cuda().cuGetErrorName(static_cast<CUresult>(1000), &name),
            CUDA_ERROR_INVALID_VALUE);
}
