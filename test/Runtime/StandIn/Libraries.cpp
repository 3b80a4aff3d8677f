//===- Libraries.cpp - The stand-ins, as a test finds them ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>

using namespace llmc::standin::test;

void *llmc::standin::test::openLibrary(const char *name) {
  std::string path = std::string(LLMC_STANDIN_FOLDER) + "/" + name;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return library;
}

void *llmc::standin::test::findSymbol(void *library, const char *name) {
  return dlsym(library, name);
}

const Driver &llmc::standin::test::cuda() {
  // Long enough for a test that looks at work which has not run yet.
  setenv("LLMC_STANDIN_IDLE_MS", "300", 0);
  static const Driver driver;
  return driver;
}

const std::string &llmc::standin::test::testImage() {
  static const std::string image = [] {
    std::ifstream file(LLMC_STANDIN_KERNELS, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return image;
}

void DeviceTest::SetUp() {
  // The child of a death test begins anew: a driver does not outlive a fork.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ASSERT_CUDA(cuInit(0));
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&context, 0));
  ASSERT_CUDA(cuCtxSetCurrent(context));
  stream = makeStream();
  ASSERT_CUDA(cuModuleLoadData(&module, testImage().data()));
}

void DeviceTest::TearDown() {
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(0));
  ASSERT_CUDA(cuCtxSetCurrent(nullptr));
}

CUdeviceptr DeviceTest::allocate(size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_CUDA(cuMemAlloc(&address, bytes));
  return address;
}

CUdeviceptr DeviceTest::upload(const std::vector<float> &values) {
  CUdeviceptr address = allocate(values.size() * sizeof(float));
  EXPECT_CUDA(
      cuMemcpyHtoD(address, values.data(), values.size() * sizeof(float)));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  return address;
}

std::vector<float> DeviceTest::download(CUdeviceptr address, size_t count) {
  std::vector<float> values(count);
  EXPECT_CUDA(cuMemcpyDtoH(values.data(), address, count * sizeof(float)));
  return values;
}

CUstream DeviceTest::makeStream(unsigned flags) {
  CUstream made = nullptr;
  EXPECT_CUDA(cuStreamCreate(&made, flags));
  return made;
}

CUevent DeviceTest::makeEvent(unsigned flags) {
  CUevent made = nullptr;
  EXPECT_CUDA(cuEventCreate(&made, flags));
  return made;
}

CUfunction DeviceTest::kernel(const char *name) {
  CUfunction function = nullptr;
  EXPECT_CUDA(cuModuleGetFunction(&function, module, name));
  return function;
}

void DeviceTest::launch(const char *name, unsigned blocks, unsigned threads,
                        unsigned sharedBytes, CUstream where,
                        const std::vector<uint64_t> &parameters) {
  std::vector<void *> pointers;
  for (const uint64_t &value : parameters)
    pointers.push_back(const_cast<uint64_t *>(&value));
  EXPECT_CUDA(cuLaunchKernel(kernel(name), blocks, 1, 1, threads, 1, 1,
                             sharedBytes, where, pointers.data(), nullptr));
}
