//===- ComplexNamesTest.cpp - Names of the parts of complex tensors -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/ComplexNames.h"

#include <gtest/gtest.h>

using namespace llmc::rt;

TEST(ComplexNames, PartsEndWithTheirs) {
  EXPECT_EQ(partNameOf("blocks.0.w", 0), "blocks.0.w.real");
  EXPECT_EQ(partNameOf("w", 1), "w.imag");
  std::optional<PartName> imag = parsePartName("blocks.0.w.imag");
  ASSERT_TRUE(imag);
  EXPECT_EQ(imag->whole, "blocks.0.w");
  EXPECT_EQ(imag->part, 1);
  EXPECT_EQ(parsePartName("w.real.real")->whole, "w.real");
  for (const char *name : {"", "w", ".real", "imag", "w.realm", "w.imag.m"}) {
    EXPECT_FALSE(parsePartName(name)) << name;
  }
}
