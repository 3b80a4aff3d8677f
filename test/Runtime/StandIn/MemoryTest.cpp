//===- MemoryTest.cpp - Memory, copies and sets ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <cstring>
#include <numeric>

using namespace llmc::standin::test;

namespace {
class MemoryTest : public DeviceTest {
protected:
  std::vector<char> bytesAt(CUdeviceptr address, size_t count) {
    std::vector<char> bytes(count);
    EXPECT_CUDA(cuMemcpyDtoH(bytes.data(), address, count));
    return bytes;
  }
  float *pinned(size_t count) {
    void *memory = nullptr;
    EXPECT_CUDA(cuMemHostAlloc(&memory, count * sizeof(float), 0));
    return static_cast<float *>(memory);
  }
};
using MemoryDeathTest = MemoryTest;
} // namespace

TEST_F(MemoryTest, CountsWhatIsFree) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_CUDA(cuMemGetInfo(&before, &total));
  CUdeviceptr memory = allocate(1 << 20);
  ASSERT_CUDA(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before - after, 1u << 20);
  EXPECT_EQ(memory % 256, 0u);
  CUdeviceptr base = 0, none = 0;
  size_t bytes = 0;
  ASSERT_CUDA(cuMemGetAddressRange(&base, &bytes, memory + 5));
  EXPECT_EQ(base, memory);
  EXPECT_EQ(bytes, 1u << 20);
  EXPECT_EQ(cuda().cuMemAlloc(&none, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuda().cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemFree(memory + 256), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuMemFree(memory));
  EXPECT_EQ(cuda().cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}

TEST_F(MemoryTest, AddressesAreUsedAgainLate) {
  CUdeviceptr first = allocate(64);
  ASSERT_CUDA(cuMemFree(first));
  EXPECT_NE(allocate(64), first);
}

TEST_F(MemoryTest, NewMemoryIsNotZero) {
  EXPECT_EQ(bytesAt(allocate(8), 8), std::vector<char>(8, '\xff'));
}

TEST_F(MemoryTest, FindsRangesThatLeaveTheirAllocation) {
  CUdeviceptr memory = allocate(16), other = allocate(16);
  char host[32] = {};
  auto refused = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(cuda().cuMemcpyHtoD(memory, host, 17), refused);
  EXPECT_EQ(cuda().cuMemcpyDtoH(host, memory + 8, 9), refused);
  EXPECT_EQ(cuda().cuMemcpyDtoD(memory, other + 16, 1), refused);
  EXPECT_EQ(cuda().cuMemcpyDtoDAsync(memory + 1, other, 16, stream), refused);
  EXPECT_EQ(cuda().cuMemsetD32(memory, 0, 5), refused);
  EXPECT_EQ(cuda().cuMemsetD2D8(memory, 16, 0, 1, 2), refused);
  EXPECT_EQ(cuda().cuMemcpyHtoD(0, host, 1), refused);
  ASSERT_CUDA(cuMemFree(other));
  EXPECT_EQ(cuda().cuMemcpyDtoH(host, other, 1), refused);
  // An address of the wrong side.
  auto address = reinterpret_cast<CUdeviceptr>(host);
  EXPECT_EQ(cuda().cuMemcpyDtoH(host, address, 1), refused);
  EXPECT_EQ(cuda().cuMemcpyHtoD(memory, reinterpret_cast<void *>(memory), 1),
            refused);
}

TEST_F(MemoryTest, SetsOfWordsWantAligned) {
  CUdeviceptr memory = allocate(64);
  EXPECT_EQ(cuda().cuMemsetD16(memory + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemsetD32Async(memory + 2, 0, 1, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemsetD2D32(memory, 6, 0, 1, 2), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuMemsetD8(memory, 1, 8));
  ASSERT_CUDA(cuMemsetD16(memory + 2, 0x0302, 1));
  ASSERT_CUDA(cuMemsetD2D32(memory + 4, 8, 0x07060504, 1, 2));
  EXPECT_EQ(bytesAt(memory, 16), (std::vector<char>{1, 1, 2, 3, 4, 5, 6, 7, -1,
                                                    -1, -1, -1, 4, 5, 6, 7}));
}

TEST_F(MemoryTest, CopiesBoxes) {
  std::vector<char> host(60), back(24, 0);
  std::iota(host.begin(), host.end(), 0);
  CUdeviceptr memory = allocate(60);
  ASSERT_CUDA(cuMemcpyHtoD(memory, host.data(), 60));
  CUDA_MEMCPY2D flat = {};
  flat.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.srcDevice = memory;
  flat.srcPitch = 10;
  flat.srcXInBytes = 3;
  flat.srcY = 1;
  flat.dstMemoryType = CU_MEMORYTYPE_HOST;
  flat.dstHost = back.data();
  flat.dstPitch = 4;
  flat.WidthInBytes = 4;
  flat.Height = 2;
  ASSERT_CUDA(cuMemcpy2D(&flat));
  EXPECT_EQ(std::vector<char>(back.begin(), back.begin() + 8),
            (std::vector<char>{13, 14, 15, 16, 23, 24, 25, 26}));
  flat.srcPitch = 6;
  EXPECT_EQ(cuda().cuMemcpy2D(&flat), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D box = {};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = memory;
  box.srcPitch = 5;
  box.srcHeight = 4;
  box.srcZ = 1;
  box.srcXInBytes = 2;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = back.data();
  box.dstPitch = 2;
  box.dstHeight = 2;
  box.WidthInBytes = 2;
  box.Height = 2;
  box.Depth = 2;
  ASSERT_CUDA(cuMemcpy3D(&box));
  EXPECT_EQ(std::vector<char>(back.begin(), back.begin() + 8),
            (std::vector<char>{22, 23, 27, 28, 42, 43, 47, 48}));
}

TEST_F(MemoryTest, StagesPageableMemoryAndReadsPinnedMemoryLate) {
  CUdeviceptr memory = allocate(4);
  float pageable = 1, *late = pinned(1);
  ASSERT_CUDA(cuMemcpyHtoDAsync(memory, &pageable, 4, stream));
  pageable = 2;
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download(memory, 1)[0], 1);
  *late = 3;
  ASSERT_CUDA(cuMemcpyHtoDAsync(memory, late, 4, stream));
  *late = 4; // too early: the copy has not read it
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download(memory, 1)[0], 4);
}

TEST_F(MemoryTest, WritesPinnedMemoryLateAndPageableMemoryAtOnce) {
  CUdeviceptr memory = upload({5});
  float pageable = 0, *late = pinned(1);
  *late = 0;
  ASSERT_CUDA(cuMemcpyDtoHAsync(late, memory, 4, stream));
  EXPECT_EQ(*late, 0);
  ASSERT_CUDA(cuMemcpyDtoHAsync(&pageable, memory, 4, stream));
  EXPECT_EQ(pageable, 5);
  EXPECT_EQ(*late, 5); // it came before in the stream
}

TEST_F(MemoryTest, ACopyFromPageableMemoryReturnsBeforeItIsDone) {
  // Documented, and a trap: a non-blocking stream does not wait for it.
  float value = 7;
  CUdeviceptr memory = allocate(4);
  ASSERT_CUDA(cuMemcpyHtoD(memory, &value, 4));
  EXPECT_EQ(cuda().cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  ASSERT_CUDA(cuStreamSynchronize(nullptr));
  EXPECT_EQ(cuda().cuStreamQuery(nullptr), CUDA_SUCCESS);
}

TEST_F(MemoryTest, RegistersAndKnowsPointers) {
  std::vector<float> host(1024, 1);
  ASSERT_CUDA(cuMemHostRegister(host.data(), 4096, 0));
  EXPECT_EQ(cuda().cuMemHostRegister(host.data() + 10, 4, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr device = 0;
  ASSERT_CUDA(cuMemHostGetDevicePointer(&device, host.data(), 0));
  unsigned type = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    device + 8));
  EXPECT_EQ(type, unsigned(CU_MEMORYTYPE_HOST));
  ASSERT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    allocate(1)));
  EXPECT_EQ(type, unsigned(CU_MEMORYTYPE_DEVICE));
  ASSERT_CUDA(cuMemHostUnregister(host.data()));
  EXPECT_EQ(cuda().cuMemHostUnregister(host.data()),
            CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuda().cuMemHostGetDevicePointer(&device, host.data(), 0),
            CUDA_ERROR_INVALID_VALUE);
  void *memory = pinned(4);
  EXPECT_EQ(cuda().cuMemHostUnregister(memory),
            CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  ASSERT_CUDA(cuMemFreeHost(memory));
  EXPECT_EQ(cuda().cuMemFreeHost(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryDeathTest, TheHostCannotTouchDeviceMemory) {
  CUdeviceptr memory = allocate(4);
  EXPECT_DEATH(std::printf("%f", *reinterpret_cast<volatile float *>(memory)),
               "stand-in: the host touched device memory");
  EXPECT_DEATH(*reinterpret_cast<volatile float *>(memory) = 1,
               "stand-in: the host touched device memory");
  EXPECT_DEATH(*reinterpret_cast<volatile int *>(stream) = 1,
               "stand-in: the host looked into the handle");
}

TEST_F(MemoryDeathTest, ReportsMemoryThatGoesWhileItIsUsed) {
  CUdeviceptr memory = allocate(4);
  float *host = pinned(1);
  ASSERT_CUDA(cuMemcpyHtoDAsync(memory, host, 4, stream));
  EXPECT_DEATH(cuda().cuMemFree(memory), "1 submitted operations still use");
  EXPECT_DEATH(cuda().cuMemFreeHost(host), "1 submitted operations still use");
  ASSERT_CUDA(cuStreamSynchronize(stream));
  ASSERT_CUDA(cuMemFreeHost(host));
}

TEST_F(MemoryDeathTest, ReportsCopiesOntoThemselves) {
  CUdeviceptr memory = allocate(32);
  EXPECT_DEATH(cuda().cuMemcpyDtoD(memory, memory + 8, 16), "overlap");
}
