//===- PlanVerifyBoxesTest.cpp - Boxes cover each tensor once -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

#include <array>

using namespace llmc::rt;
using namespace llmc::rt::plan;

static void breakIn(Plan &plan, void (*breakIt)(Plan &plan, State &state)) {
  breakIt(plan, plan.states[0]);
}

#define EXPECT_REFUSED(text, ...)                                              \
  EXPECT_MISMATCH(text, verifyBroken([](Plan &plan) {                          \
                    breakIn(plan, [](Plan & plan, State & state) __VA_ARGS__); \
                  }))

/// Rows [first, first + 2) of the 4x4 state, after each other in the buffer.
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
  // Each tensor by itself.
  fetches = {fetchedRows(2), fetchedRows(0), fetchedRows(2)};
  fetches[2].of = "other";
  fetches[2].name = "other2";
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::HasSubstr("fetched value 'other': expected the parts to "
                                 "cover 16 elements, got 8"));
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

/// A state 'a' of three parts at the given places of one buffer, and 'b', of
/// one part; bytes [first, first + size).
static Plan makeInterleaved(std::vector<std::pair<int64_t, int64_t>> places) {
  PlanBuilder b(Mesh{{{"data", 1}}, -1});
  int32_t frame = b.addFrame("state", FrameKind::state);
  int32_t bytes = b.addBuffer(frame, "bytes", DType::u8, {256});
  b.place();
  for (const char *name : {"a", "b"}) {
    State state;
    state.name = name;
    state.dtype = DType::u8;
    state.shape = {0};
    b.plan().states.push_back(state);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    auto [first, size] = places[i];
    State &state = b.plan().states[i + 1 == places.size()];
    state.parts.push_back(
        {state.shape, Layout::whole({size}), {}, b.view(bytes, first, {size})});
    state.shape[0] += size;
  }
  return b.take();
}

// The farthest end decides, not the last start.
TEST(PlanVerifyBoxes, StatesAreApart) {
  auto verify = [](std::vector<std::pair<int64_t, int64_t>> places) {
    return verifyPlan(makeInterleaved(std::move(places))).message();
  };
  std::string overlap = "states 'a' and 'b' overlap on stage 0";
  EXPECT_EQ(verify({{0, 100}, {10, 10}, {50, 10}}), overlap);
  EXPECT_EQ(verify({{0, 100}, {10, 90}, {99, 10}}), overlap);
  EXPECT_EQ(verify({{0, 100}, {10, 90}, {100, 10}}), "");
  EXPECT_EQ(verify({{40, 60}, {0, 10}, {10, 30}}), "");
  EXPECT_EQ(verify({{40, 60}, {0, 10}, {10, 31}}),
            "states 'b' and 'a' overlap on stage 0");
  EXPECT_EQ(verify({{0, 256}, {10, 10}, {50, 0}}), "");
  EXPECT_EQ(verify({{0, 256}, {50, 1}}), overlap);
  EXPECT_EQ(verify({{0, 0}, {0, 256}}), "");
}

TEST(PlanVerifyBoxes, PlacesEndWithTheirBuffer) {
  auto verify = [](int64_t first, int64_t size) {
    return verifyPlan(makeInterleaved({{0, 1}, {first, size}})).message();
  };
  EXPECT_EQ(verify(200, 56), "");
  EXPECT_EQ(verify(200, 57),
            "state 'b': a part leaves its buffer 'bytes' of 256 bytes");
  EXPECT_EQ(verify(256, 0), "");
}

// Boxes that share a side, that overlap in some dims only, in all of them.
TEST(PlanVerifyBoxes, TilesOfTwoDims) {
  auto verify = [](std::vector<std::array<int64_t, 4>> boxes) {
    Plan plan;
    plan.arenas = {0};
    Entry entry;
    entry.kind = EntryKind::forward;
    entry.numChunks = 0;
    entry.prologue = entry.epilogue = {-1};
    for (auto [row, column, rows, columns] : boxes) {
      Fetch fetch;
      fetch.name = "f" + std::to_string(entry.fetches.size());
      fetch.of = "x";
      fetch.origin = {row, column};
      fetch.layout = Layout::whole({rows, columns});
      fetch.shape = {4, 6};
      entry.fetches.push_back(fetch);
    }
    plan.entries = {entry};
    return verifyPlan(plan).message();
  };
  std::string where = "fetched value 'x': ";
  EXPECT_EQ(verify({{0, 0, 2, 6}, {2, 0, 2, 3}, {2, 3, 2, 3}}), "");
  EXPECT_EQ(verify({{0, 3, 4, 3}, {0, 0, 2, 3}, {2, 0, 2, 3}}), "");
  EXPECT_EQ(verify({{0, 0, 2, 6}, {2, 0, 2, 3}, {2, 2, 2, 3}}),
            where + "two parts that are not equal overlap");
  EXPECT_EQ(verify({{0, 0, 3, 6}, {2, 0, 2, 3}, {3, 3, 1, 3}}),
            where + "two parts that are not equal overlap");
  EXPECT_EQ(verify({{0, 0, 4, 6}, {1, 1, 1, 1}}),
            where + "two parts that are not equal overlap");
  EXPECT_EQ(verify({{2, 0, 2, 6}, {0, 0, 2, 6}, {2, 0, 2, 6}}), "");
  EXPECT_EQ(verify({{0, 0, 2, 6}, {2, 0, 2, 5}}),
            where + "expected the parts to cover 24 elements, got 22");
  EXPECT_EQ(verify({{0, 0, 4, 6}, {0, 6, 4, 0}}), "");
  EXPECT_EQ(verify({{0, 0, 4, 6}, {0, 7, 4, 0}}),
            where + "a part leaves dim 1 of size 6");
  EXPECT_EQ(verify({{0, 0, 4, 6}, {5, 0, 0, 6}}),
            where + "a part leaves dim 0 of size 4");
  EXPECT_EQ(verify({{0, 0, 4, 6}, {0, INT64_MAX, 4, 6}}),
            where + "a part leaves dim 1 of size 6");
}

TEST(PlanVerifyBoxes, FetchedPartsAreOfOneTensor) {
  auto verify = [](void (*edit)(std::vector<Fetch> &fetches)) {
    Plan plan = makeSamplePlan();
    plan.entries[0].fetches = {fetchedRows(0), fetchedRows(2)};
    edit(plan.entries[0].fetches);
    return verifyPlan(plan).message();
  };
  std::string text = "fetched value 'both': its parts are not of one tensor";
  EXPECT_EQ(verify([](std::vector<Fetch> &) {}), "");
  EXPECT_EQ(verify([](std::vector<Fetch> &f) { f[1].shape = {4, 5}; }), text);
  EXPECT_EQ(verify([](std::vector<Fetch> &f) { f[1].eachMicrobatch = true; }),
            text);
  EXPECT_EQ(verify([](std::vector<Fetch> &f) { f[1].dtype = DType::i32; }),
            text);
  // A whole tensor of the same name.
  EXPECT_EQ(verify([](std::vector<Fetch> &f) {
              f.emplace_back();
              f.back().name = "both";
            }),
            text);
  // The same of scalars, whose boxes say nothing.
  EXPECT_EQ(verify([](std::vector<Fetch> &f) {
              f.resize(1);
              f[0].layout = Layout();
              f[0].origin = f[0].shape = {};
              f.push_back(f[0]);
              f[1].name = "both";
              f[1].of = "";
            }),
            text);
  // Another tensor has its own parts.
  EXPECT_EQ(verify([](std::vector<Fetch> &f) {
              f.push_back(fetchedRows(0));
              f.back().name = f.back().of = "other";
              f.back().shape = {2, 4};
              f.back().dtype = DType::i32;
            }),
            "");
}

TEST(PlanVerifyBoxes, StagesOfAPart) {
  Plan plan = makeSamplePlan();
  plan.frames[findFrame(plan, "state")].stages = {0};
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::HasSubstr("a part is stored by stage 1, which has no "
                                 "frame 'state'"));
  plan.states.pop_back();
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::Not(testing::HasSubstr("a part is stored")));
  plan.frames[findFrame(plan, "state")].stages = {1};
  EXPECT_THAT(verifyPlan(plan).message(),
              testing::HasSubstr("a part is stored by stage 0"));
  // There is no third stage.
  plan.states[0].parts[0].stages = {};
  plan.frames[findFrame(plan, "state")].stages = {0, 1};
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

// Places are those of the arena: the buffers overlap, the states do too.
TEST(PlanVerifyBoxes, BuffersThatOverlap) {
  auto verify = [](int64_t offset) {
    PlanBuilder b(Mesh{{{"data", 1}}, -1});
    int32_t frame = b.addFrame("state", FrameKind::state);
    int32_t x = b.addBuffer(frame, "x", DType::u8, {64});
    int32_t y = b.addBufferAt(frame, 32, "y", DType::u8, {96});
    b.place();
    for (int32_t buffer : {x, y}) {
      State state;
      state.name = buffer == x ? "a" : "b";
      state.dtype = DType::u8;
      state.shape = {16};
      state.parts = {{{0},
                      Layout::whole({16}),
                      {},
                      b.view(buffer, buffer == x ? 32 : offset, {16})}};
      b.plan().states.push_back(state);
    }
    return verifyPlan(b.take()).message();
  };
  EXPECT_EQ(verify(16), "");
  EXPECT_EQ(verify(15), "states 'a' and 'b' overlap on stage 0");
  EXPECT_EQ(verify(0), "states 'a' and 'b' overlap on stage 0");
}
