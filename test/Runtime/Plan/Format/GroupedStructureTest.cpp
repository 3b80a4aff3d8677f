//===- GroupedStructureTest.cpp - Bounds and fields of grouped products ---===//
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

using Groups = GroupedContractionShape;

static Groups makeGroups() {
  using Kind = ContractionIndexKind;
  Groups shape;
  shape.product.indices = {{Kind::batch, 2, 8, 0, 16},
                           {Kind::m, 4, 2, 0, 4},
                           {Kind::n, 4, 0, 1, 1},
                           {Kind::k, 2, 1, 4, 0}};
  shape.rows = 1;
  shape.numSizes = shape.groups = 3;
  shape.stride = 8;
  return shape;
}

/// The sample with a library call of `shape` at its end.
static Plan withGroups(const Groups &shape) {
  Plan plan = makeSamplePlan();
  Library library;
  library.descriptor = shape;
  library.operands = {firstOf<Fill>(plan, "begin").to};
  library.access = {Access::read};
  plan.programs.back().instructions.push_back({0, -1, library});
  return plan;
}

/// What a reader says of a sound shape after an edit, as a writer does.
static std::string afterGroups(void (*edit)(Groups &shape)) {
  Groups shape = makeGroups();
  edit(shape);
  Plan plan = withGroups(shape);
  Status status = checkStructure(plan);
  EXPECT_EQ(parsePlan(serializeUnchecked(plan)).status().kind(), status.kind())
      << status.message();
  return status.message();
}

TEST(GroupedStructure, Bounds) {
  EXPECT_EQ(afterGroups([](Groups &) {}), "");
  EXPECT_EQ(afterGroups([](Groups &g) { g.rows = 3; }), "");
  EXPECT_THAT(afterGroups([](Groups &g) { g.rows = -1; }),
              HasSubstr("the index of a grouped contraction's rows to be "
                        "between 0 and 3, got -1"));
  EXPECT_THAT(afterGroups([](Groups &g) { g.rows = 4; }),
              HasSubstr("between 0 and 3, got 4"));
  EXPECT_THAT(afterGroups([](Groups &g) { g.product.indices.clear(); }),
              HasSubstr("the index of a grouped contraction's rows"));
  EXPECT_THAT(afterGroups([](Groups &g) { g.rows = 0; }),
              HasSubstr("expected the rows of a grouped contraction to be an "
                        "index m or k, got batch"));
  EXPECT_THAT(afterGroups([](Groups &g) { g.rows = 2; }), HasSubstr("got n"));
  for (auto edit :
       {+[](Groups &g) { g.product.alpha = 2; },
        +[](Groups &g) { g.product.hasBias = true; },
        +[](Groups &g) { g.product.activation = Activation::relu; }}) {
    EXPECT_THAT(afterGroups(edit),
                HasSubstr("a grouped contraction without bias, alpha and "
                          "activation"));
  }
  EXPECT_THAT(afterGroups([](Groups &g) { g.product.beta = 2; }),
              HasSubstr("beta of 0 or 1"));
  EXPECT_THAT(afterGroups([](Groups &g) { g.sizes = static_cast<DType>(20); }),
              HasSubstr("a dtype to be between 0 and 19, got 20"));
  EXPECT_EQ(afterGroups([](Groups &g) {
              g.numSizes = g.groups = g.stride = INT64_MAX;
            }),
            "");
  for (auto edit :
       {+[](Groups &g) { g.numSizes = -1; }, +[](Groups &g) { g.groups = -1; },
        +[](Groups &g) { g.stride = -1; }}) {
    EXPECT_THAT(afterGroups(edit),
                HasSubstr("the groups of a grouped contraction"));
  }
}

TEST(GroupedStructure, FieldsAreKept) {
  for (int flags = 0; flags < 4; ++flags) {
    Groups shape = makeGroups();
    shape.product.a = shape.product.b = DType::bf16;
    shape.product.beta = 1;
    shape.rows = 3;
    shape.sizes = DType::u8;
    shape.numSizes = 5;
    shape.groups = 6;
    shape.stride = 7;
    shape.hasOwnSizes = flags % 2 != 0;
    shape.hasFirst = flags / 2 != 0;
    Result<Plan> read = parsePlan(serializeUnchecked(withGroups(shape)));
    ASSERT_TRUE(read.ok()) << read.message();
    auto &found =
        std::get<Library>(read->programs.back().instructions.back().action);
    EXPECT_TRUE(found.descriptor == LibraryDescriptor(shape));
  }
}
