//===- CudaBackendTest.cpp - What the target "cuda" answers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of it on a machine without a GPU, where plans are compiled.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "llmc/Runtime/Comm/Backend.h"

#include <gtest/gtest.h>

namespace llmc::rt::cuda {
namespace {

const Backend &backend() { return **findBackend("cuda"); }

/// [m, k] * [k, n] of rows, in f32.
LibraryShape product() {
  ContractionShape shape;
  shape.indices = {{ContractionIndexKind::m, 3, 5, 0, 4},
                   {ContractionIndexKind::n, 4, 0, 1, 1},
                   {ContractionIndexKind::k, 5, 1, 4, 0}};
  LibraryShape library;
  library.name = "product";
  library.descriptor = shape;
  return library;
}

// Plans are made without a GPU: the workspace does not depend on one.
TEST(CudaBackendTest, WorkspaceNeedsNoGpu) {
  Result<uint64_t> bytes = backend().libraryWorkspace(product());
  ASSERT_TRUE(bytes.ok()) << bytes.message();
  EXPECT_EQ(*bytes, uint64_t(32) << 20);
}

// Of a convolution: room for each operand in another layout, and as much as a
// product has.
TEST(CudaBackendTest, WorkspaceOfAConvolutionGrowsWithIt) {
  using Kind = ContractionIndexKind;
  ConvolutionShape shape;
  shape.indices = {{Kind::m, 8, 9 * 16, 0, 5 * 20},
                   {Kind::n, 20, 0, 1, 1},
                   {Kind::k, 16, 1, 20, 0}};
  shape.windows = {{9, 3, 5, 16, 16 * 20, 20, 1, 1, 2, 1}};
  LibraryShape library;
  library.name = "convolution";
  library.descriptor = shape;
  Result<uint64_t> bytes = backend().libraryWorkspace(library);
  ASSERT_TRUE(bytes.ok()) << bytes.message();
  // 8 x 9 x 16, 3 x 16 x 20 and 8 x 5 x 20 floats, each to the next 256 bytes.
  EXPECT_EQ(*bytes, (uint64_t(32) << 20) + 4608 + 3840 + 3328);
  EXPECT_EQ(backend().libraryForms(library).size(), 1U);
  library.form = 1;
  EXPECT_EQ(backend().libraryWorkspace(library).message(),
            "expected form 0 to 0 of convolution 'convolution' on a GPU, got "
            "1");
}

TEST(CudaBackendTest, WorkspaceOfWhatIsNotThereIsRefused) {
  LibraryShape shape;
  shape.name = "order";
  shape.descriptor = ArgsortShape();
  Result<uint64_t> bytes = backend().libraryWorkspace(shape);
  EXPECT_EQ(bytes.kind(), ErrorKind::mismatch);
  EXPECT_EQ(describe(bytes.error()),
            "expected a contraction, a convolution or an attention from the "
            "libraries of the target cuda, got an argsort 'order' (this "
            "version has no library for it on GPUs)");
}

TEST(CudaBackendTest, OptionsThatGpusDoNotHave) {
  WorldOptions options;
  options.threadsPerDevice = 2;
  EXPECT_EQ(backend().makeWorld(options).status().message(),
            "expected a plan for 1 thread on each GPU, got 2");
  options.threadsPerDevice = 1;
  options.shuffleSeed = 7;
  EXPECT_EQ(backend().makeWorld(options).status().message(),
            "expected no seed for the order of tasks, which GPUs choose "
            "themselves");
  options.shuffleSeed.reset();
  options.devices = 0;
  EXPECT_EQ(backend().makeWorld(options).status().kind(), ErrorKind::mismatch);
}

TEST(CudaBackendTest, AMachineWithoutADriverSaysSo) {
  if (Driver::get().ok()) {
    GTEST_SKIP() << "this machine has a driver";
  }
  Status status = backend().makeWorld({}).status();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_NE(status.message().find("libcuda.so.1"), std::string::npos)
      << status.message();
  EXPECT_EQ(backend().machine(), "cuda without a GPU");
  EXPECT_EQ(backend().codeTarget().message(), status.message());
}

} // namespace
} // namespace llmc::rt::cuda
