//===- TargetLibrariesTest.cpp - What a target's libraries have -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/TargetLibraries.h"

#include <gtest/gtest.h>

using namespace llmc::rt;

namespace {

TEST(TargetLibraries, TargetsThatAreNotNamedHaveAllKinds) {
  for (std::string_view kind : libraryKindNames) {
    EXPECT_TRUE(hasLibrary("cpu", kind)) << kind;
    EXPECT_TRUE(hasLibrary("opaque", kind)) << kind;
    EXPECT_EQ(hasLibrary("cuda", kind), kind == "contraction") << kind;
    EXPECT_TRUE(isComputed("cpu", kind) && isComputed("cuda", kind)) << kind;
  }
}

TEST(TargetLibraries, KindsThatThereAreNone) {
  EXPECT_FALSE(isComputed("cuda", "attentions"));
}

} // namespace
