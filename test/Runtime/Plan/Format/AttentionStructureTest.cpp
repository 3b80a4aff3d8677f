//===- AttentionStructureTest.cpp - Bounds and fields of attentions -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace llmc;
using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

/// The sample with a library call of `shape` at its end.
static Plan with(const AttentionShape &shape) {
  Plan plan = makeSamplePlan();
  Library library;
  library.descriptor = shape;
  library.operands = {firstOf<Fill>(plan, "begin").to};
  library.access = {Access::read};
  library.workspaceBytes = 77;
  plan.programs.back().instructions.push_back({0, -1, library});
  return plan;
}

static AttentionShape soundAttention() {
  AttentionShape shape;
  shape.indices = {{AttentionIndexKind::row, 1, 1}};
  return shape;
}

/// What a reader says of the sound shape after an edit, as a writer does.
static std::string after(void (*edit)(AttentionShape &shape)) {
  AttentionShape shape = soundAttention();
  edit(shape);
  Plan plan = with(shape);
  Status status = checkStructure(plan);
  EXPECT_EQ(parsePlan(serializeUnchecked(plan)).status().kind(), status.kind())
      << status.message();
  return status.message();
}

TEST(AttentionStructure, Bounds) {
  using S = AttentionShape;
  EXPECT_EQ(after([](S &) {}), "");
  EXPECT_EQ(after([](S &s) { s.indices.clear(); }), "");
  EXPECT_EQ(after([](S &s) { s.indices.resize(32, s.indices[0]); }), "");
  EXPECT_THAT(after([](S &s) { s.indices.resize(33, s.indices[0]); }),
              HasSubstr("the indices of an attention to be between 0 and 32, "
                        "got 33"));
  EXPECT_THAT(after([](S &s) {
                s.indices[0].kind = static_cast<AttentionIndexKind>(5);
              }),
              HasSubstr("the kind of an attention's index to be between 0 and "
                        "4, got 5"));
  EXPECT_EQ(after([](S &s) { s.indices[0].size = 0; }), "");
  EXPECT_THAT(after([](S &s) { s.indices[0].size = -1; }),
              HasSubstr("a size or stride of an attention"));
  for (auto edit : {+[](S &s) { s.dtype = static_cast<DType>(20); },
                    +[](S &s) { s.accumulate = static_cast<DType>(20); },
                    +[](S &s) { s.bias = static_cast<DType>(20); }}) {
    EXPECT_THAT(after(edit), HasSubstr("a dtype to be between 0 and 19, got "
                                       "20"));
  }
  EXPECT_THAT(after([](S &s) { s.scale = INFINITY; }),
              HasSubstr("expected a finite scale of an attention"));
  EXPECT_THAT(after([](S &s) { s.scale = NAN; }), HasSubstr("finite scale"));
  EXPECT_EQ(after([](S &s) { s.dropout = {RandomBits::jax64, true, 7, 2}; }),
            "");
  for (auto edit :
       {+[](S &s) { s.dropout.bits = static_cast<RandomBits>(4); },
        +[](S &s) { s.dropout.limit = 1; },
        +[](S &s) { s.dropout = {RandomBits::jax64, true, 7, 0}; }}) {
    EXPECT_THAT(after(edit),
                HasSubstr("expected a dropout of known bits, a limit of so "
                          "many and a positive factor of an attention"));
  }
  EXPECT_EQ(after([](S &s) { s.shift = int64_t(1) << 61; }), "");
  EXPECT_EQ(after([](S &s) { s.shift = -(int64_t(1) << 61); }), "");
  EXPECT_THAT(after([](S &s) { s.shift = (int64_t(1) << 61) + 1; }),
              HasSubstr("the shift of an attention to be between"));
  EXPECT_THAT(after([](S &s) { s.shift = -(int64_t(1) << 61) - 1; }),
              HasSubstr("the shift of an attention"));
}

TEST(AttentionStructure, EachStrideIsBound) {
  for (const AttentionStride &each : attentionStrides) {
    AttentionShape shape = soundAttention();
    shape.indices[0].*each.stride = INT64_MAX;
    EXPECT_TRUE(checkStructure(with(shape)).ok()) << each.name;
    shape.indices[0].*each.stride = -1;
    Plan plan = with(shape);
    EXPECT_THAT(checkStructure(plan).message(),
                HasSubstr("a size or stride of an attention"))
        << each.name;
    EXPECT_FALSE(parsePlan(serializeUnchecked(plan)).ok());
  }
}

TEST(AttentionStructure, FieldsAreKept) {
  AttentionShape shape;
  shape.dtype = DType::bf16;
  shape.accumulate = DType::f64;
  shape.bias = DType::f16;
  shape.scale = 0.125;
  shape.shift = -7;
  shape.indices = {
      {AttentionIndexKind::value, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
      {AttentionIndexKind::batch, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}};
  shape.dropout = {RandomBits::threefry, true, UINT64_MAX - 1, 1.125};
  bool AttentionShape::*flags[] = {
      &AttentionShape::isGradient, &AttentionShape::isCausal,
      &AttentionShape::hasOffset, &AttentionShape::hasBias};
  for (bool AttentionShape::*flag : flags) {
    AttentionShape flagged = shape;
    flagged.*flag = true;
    Result<Plan> read = parsePlan(serializeUnchecked(with(flagged)));
    ASSERT_TRUE(read.ok()) << read.message();
    auto &found =
        std::get<Library>(read->programs.back().instructions.back().action);
    EXPECT_TRUE(found.descriptor == LibraryDescriptor(flagged));
    EXPECT_EQ(found.workspaceBytes, 77);
  }
}
