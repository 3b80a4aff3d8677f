//===- PlanVerifyBoxesTest.cpp - Boxes cover each tensor once -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;

static void breakIn(Plan &plan, void (*breakIt)(Plan &plan, State &state)) {
  breakIt(plan, plan.states[0]);
}

#define EXPECT_REFUSED(text, ...)                                              \
  EXPECT_MISMATCH(text, verifyBroken([](Plan &plan) {                          \
                    breakIn(plan, [](Plan & plan, State & state) __VA_ARGS__); \
                  }))

/// Rows [first, first + 2) of the 4x4 state, behind each other in the buffer.
static StatePart rows(const StatePart &whole, int64_t first) {
  StatePart part = whole;
  part.origin = {first, 0};
  part.layout = Layout::whole({2, 4});
  part.place.shape = {2, 4};
  part.place.offset = first * 16;
  return part;
}

TEST(PlanVerifyBoxes, PartsTile) {
  Plan plan = makeSamplePlan();
  State &state = plan.states[0];
  StatePart whole = state.parts[0];
  state.parts = {rows(whole, 0), rows(whole, 2)};
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

TEST(PlanVerifyBoxes, GapsAndOverlaps) {
  EXPECT_REFUSED("expected the parts to cover 16 elements, got 8",
                 { state.parts = {rows(state.parts[0], 2)}; });
  EXPECT_REFUSED("two parts that are not equal overlap", {
    state.parts = {rows(state.parts[0], 0), rows(state.parts[0], 1)};
  });
  EXPECT_REFUSED("a part leaves dim 0 of size 4",
                 { state.parts[0].origin[0] = 1; });
  EXPECT_REFUSED("a part leaves dim 0 of size 4",
                 { state.parts[0].origin[0] = -1; });
}

// A copy on the other stage counts once.
TEST(PlanVerifyBoxes, CopiesAreEqualBoxes) {
  Plan plan = makeSamplePlan();
  StatePart copy = plan.states[0].parts[0];
  copy.stages = {1};
  copy.place = plan.states[1].parts[0].place;
  plan.states[0].parts.push_back(copy);
  plan.states.pop_back();
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

/// Rows [first, first + 2) of a fetched 4x4 tensor.
static Fetch fetchedRows(int64_t first) {
  Fetch fetch;
  fetch.name = "rows" + std::to_string(first);
  fetch.layout = Layout::whole({2, 4});
  fetch.of = "both";
  fetch.origin = {first, 0};
  fetch.shape = {4, 4};
  return fetch;
}

TEST(PlanVerifyBoxes, FetchedPartsTile) {
  Plan plan = makeSamplePlan();
  auto &fetches = plan.entries[0].fetches;
  fetches = {fetchedRows(2), fetchedRows(0)};
  EXPECT_EQ(verifyPlan(plan).message(), "");
  fetches = {fetchedRows(2)};
  EXPECT_THAT(
      verifyPlan(plan).message(),
      testing::HasSubstr("expected the parts to cover 16 elements, got 8"));
  fetches = {fetchedRows(0), fetchedRows(1)};
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::HasSubstr("two parts that are not equal overlap"));
  fetches = {fetchedRows(0), fetchedRows(3)};
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::HasSubstr("a part leaves dim 0 of size 4"));
  fetches = {fetchedRows(0), fetchedRows(2)};
  fetches[1].dtype = DType::bf16;
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::HasSubstr("its parts are not of one tensor"));
  fetches = {fetchedRows(0)};
  fetches[0].origin = {0};
  EXPECT_EQ(verifyPlan(plan).kind(), ErrorKind::malformed);
}

TEST(PlanVerifyBoxes, Places) {
  EXPECT_REFUSED("a part leaves its buffer 'w' of 64 bytes",
                 { state.parts[0].place.offset = 4; });
  EXPECT_REFUSED("expected a part to lie in a state frame, got 'step' (step)",
                 { state.parts[0].place.buffer = findBuffer(plan, "gw"); });
  EXPECT_REFUSED("states 'embedding' and 'head' overlap on stage 0",
                 { plan.states[1].parts[0].stages = {0}; });
  EXPECT_REFUSED("a part is stored by stage 1, which has no frame 'state'",
                 { plan.frames[0].stages = {0}; });
}
