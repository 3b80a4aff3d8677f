//===- ArgsortStructureTest.cpp - Bounds and fields of argsorts -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

/// The sample with a library call of `shape` at its end.
static Plan with(const ArgsortShape &shape) {
  Plan plan = makeSamplePlan();
  Library library;
  library.descriptor = shape;
  library.operands = {firstOf<Fill>(plan, "begin").to};
  library.access = {Access::read};
  plan.programs.back().instructions.push_back({0, -1, library});
  return plan;
}

/// What a reader says of a sound shape after an edit, as a writer does.
static std::string after(void (*edit)(ArgsortShape &shape)) {
  ArgsortShape shape{{{DType::f32, true}}, 2, 9, 3, 4};
  edit(shape);
  Plan plan = with(shape);
  Status status = checkStructure(plan);
  EXPECT_EQ(parsePlan(serializeUnchecked(plan)).status().kind(), status.kind())
      << status.message();
  return status.message();
}

TEST(ArgsortStructure, Bounds) {
  using S = ArgsortShape;
  EXPECT_EQ(after([](S &) {}), "");
  EXPECT_THAT(after([](S &s) { s.keys.clear(); }),
              HasSubstr("the keys of an argsort"));
  EXPECT_EQ(after([](S &s) { s.keys.resize(100); }), "");
  EXPECT_THAT(after([](S &s) { s.keys[0].dtype = static_cast<DType>(20); }),
              HasSubstr("a dtype to be between 0 and 19, got 20"));
  EXPECT_EQ(after([](S &s) { s.outer = s.inner = INT64_MAX; }), "");
  for (auto edit : {+[](S &s) { s.outer = -1; }, +[](S &s) { s.inner = -1; }}) {
    EXPECT_THAT(after(edit), HasSubstr("the rows of an argsort"));
  }
  EXPECT_EQ(after([](S &s) { s.size = s.count = INT32_MAX; }), "");
  EXPECT_EQ(after([](S &s) { s.size = s.count = 0; }), "");
  EXPECT_THAT(after([](S &s) { s.size = int64_t(1) << 31; }),
              HasSubstr("the size of an argsort to be between 0 and "
                        "2147483647, got 2147483648"));
  EXPECT_EQ(after([](S &s) { s.count = 9; }), "");
  EXPECT_THAT(after([](S &s) { s.count = 10; }),
              HasSubstr("the count of an argsort to be between 0 and 9, got "
                        "10"));
  EXPECT_THAT(after([](S &s) { s.count = -1; }),
              HasSubstr("the count of an argsort"));
}

TEST(ArgsortStructure, FieldsAreKept) {
  ArgsortShape shape{
      {{DType::i1, false}, {DType::u64, true}, {DType::bf16, false}},
      11,
      INT32_MAX,
      13,
      14};
  Result<Plan> read = parsePlan(serializeUnchecked(with(shape)));
  ASSERT_TRUE(read.ok()) << read.message();
  auto &found =
      std::get<Library>(read->programs.back().instructions.back().action);
  EXPECT_TRUE(found.descriptor == LibraryDescriptor(shape));
}
