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

TEST(TargetLibraries, GpusMultiplyMatricesThatLieInRows) {
  using Kind = ContractionIndexKind;
  ContractionShape rows;
  rows.indices = {
      {Kind::m, 4, 5, 0, 6}, {Kind::n, 6, 0, 5, 1}, {Kind::k, 5, 1, 1, 0}};
  ContractionShape features;
  features.indices = {{Kind::batch, 3, 1, 1, 1},
                      {Kind::m, 4, 15, 0, 18},
                      {Kind::n, 6, 0, 15, 3},
                      {Kind::k, 5, 3, 3, 0}};
  for (std::string_view target : {"cpu", "cuda", "cuda+cudnn"}) {
    EXPECT_TRUE(checkLibrary(target, rows).ok()) << target;
    EXPECT_EQ(checkLibrary(target, features).ok(), target == "cpu") << target;
  }
  EXPECT_EQ(checkLibrary("cuda", features).message(),
            "cuBLASLt cannot compute contraction 'contraction': expected an m, "
            "n and k with a stride of 1 in each of a, b and c, and no stride "
            "that is less than the size beside it");
}

TEST(TargetLibraries, KindsThatThereAreNone) {
  EXPECT_FALSE(isComputed("cuda", "attentions"));
}

} // namespace
