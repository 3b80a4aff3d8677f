//===- Libraries.h - The stand-ins, as a test finds them ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_LIBRARIES_H
#define LLMC_TEST_RUNTIME_STANDIN_LIBRARIES_H

#include <cuda.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace llmc::standin::test {

/// A library of the folder of stand-ins, opened by dlopen.
void *openLibrary(const char *name);
void *findSymbol(void *library, const char *name);

#define LLMC_TEST_TEXT(name) #name
#define LLMC_TEST_NAME(name) LLMC_TEST_TEXT(name)

/// The functions of libcuda, under the names of cuda.h.
struct Driver {
  void *library = openLibrary("libcuda.so.1");
#define LLMC_TEST_ENTRY(name)                                                  \
  decltype(&::name) name = reinterpret_cast<decltype(&::name)>(                \
      findSymbol(library, LLMC_TEST_NAME(name)));
#include "DriverEntries.def"
};
const Driver &cuda();

/// A test with a device, its context current, and a stream.
class DeviceTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  CUdeviceptr allocate(size_t bytes);
  CUdeviceptr upload(const std::vector<float> &values);
  std::vector<float> download(CUdeviceptr address, size_t count);
  CUstream makeStream(unsigned flags = CU_STREAM_NON_BLOCKING);
  CUevent makeEvent(unsigned flags = CU_EVENT_DISABLE_TIMING);
  CUfunction kernel(const char *name);
  void launch(const char *kernel, unsigned blocks, unsigned threads,
              unsigned sharedBytes, CUstream stream,
              const std::vector<uint64_t> &parameters);

  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
};

/// The bytes of the kernels of Kernels/RowSum.c, as an image.
const std::string &testImage();

#define EXPECT_CUDA(call) EXPECT_EQ(cuda().call, CUDA_SUCCESS)
#define ASSERT_CUDA(call) ASSERT_EQ(cuda().call, CUDA_SUCCESS)

} // namespace llmc::standin::test

#endif // LLMC_TEST_RUNTIME_STANDIN_LIBRARIES_H
