//===- TargetLibrariesTest.cpp - What a target's libraries have -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/TargetLibraries.h"

#include <gtest/gtest.h>

using namespace llmc::rt;

namespace {

TEST(TargetLibraries, CudnnHasWhatItCanExpress) {
  for (std::string_view kind : libraryKindNames) {
    EXPECT_EQ(hasLibrary("cuda+cudnn", kind), kind == "contraction" ||
                                                  kind == "convolution" ||
                                                  kind == "attention")
        << kind;
  }
  ConvolutionShape shape;
  shape.windows = {{9, 3, 5, 1, 1, 1, 1, 1, 2, 1}};
  EXPECT_TRUE(checkLibrary("cpu", shape).ok());
  EXPECT_TRUE(checkLibrary("cuda+cudnn", shape).ok());
  EXPECT_EQ(checkLibrary("cuda", shape).message(),
            "expected a library of target 'cuda' for a convolution, got none");
  // Kernels and processors add a bias, cuDNN's engines do not.
  EXPECT_TRUE(takesBias("cpu", shape));
  EXPECT_TRUE(takesBias("cuda", shape));
  EXPECT_FALSE(takesBias("cuda+cudnn", shape));
  EXPECT_TRUE(takesBias("cuda+cudnn", ContractionShape()));
  shape.windows[0].dilationA = 2;
  EXPECT_EQ(checkLibrary("cuda+cudnn", shape).message(),
            "expected the steps and the padding of a convolution or of one of "
            "its gradients, got others");
  EXPECT_TRUE(takesBias("cuda+cudnn", shape));
  EXPECT_TRUE(checkLibrary("cpu", AttentionShape()).ok());
  EXPECT_EQ(checkLibrary("cuda+cudnn", AttentionShape()).message(),
            "expected an attention in bf16 or f16 with sums in f32, got one in "
            "f32 with sums in f32");
}

TEST(TargetLibraries, TargetsThatAreNotNamedHaveAllKinds) {
  for (std::string_view kind : libraryKindNames) {
    EXPECT_TRUE(hasLibrary("cpu", kind)) << kind;
    EXPECT_TRUE(hasLibrary("opaque", kind)) << kind;
    EXPECT_EQ(hasLibrary("cuda", kind), kind == "contraction") << kind;
    EXPECT_TRUE(isComputed("cpu", kind) && isComputed("cuda", kind)) << kind;
    EXPECT_TRUE(isComputed("cuda+cudnn", kind)) << kind;
  }
}

TEST(TargetLibraries, KindsThatThereAreNone) {
  EXPECT_FALSE(isComputed("cuda", "attentions"));
}

} // namespace
