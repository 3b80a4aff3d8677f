//===- LayoutTest.cpp - From a coordinate to a box ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Layout/Layout.h"

#include <gtest/gtest.h>
#include <map>

using namespace llmc::rt;

/// Global index -> number of devices that store it, counted by boxes.
static std::map<int64_t, int> countElements(const Layout &layout,
                                            const Mesh &mesh) {
  std::map<int64_t, int> count;
  std::vector<int64_t> shape = layout.globalShape();
  for (int64_t d = 0; d < mesh.numDevices(); ++d) {
    auto boxes = layout.boxes(mesh, mesh.coordinatesOf(d));
    EXPECT_TRUE(boxes.ok());
    for (const Box &box : *boxes) {
      std::vector<int64_t> at(shape.size());
      bool more = true;
      while (more) {
        int64_t index = 0;
        for (size_t i = 0; i < shape.size(); ++i) {
          index = index * shape[i] + box.global[i] + at[i];
        }
        ++count[index];
        more = false;
        for (size_t i = shape.size(); i-- > 0 && !more;) {
          more = ++at[i] < box.size[i];
          at[i] = more ? at[i] : 0;
        }
      }
    }
  }
  return count;
}

static void expectEachOnce(const Layout &layout, const Mesh &mesh,
                           int64_t copies) {
  ASSERT_TRUE(layout.check(mesh).ok());
  auto count = countElements(layout, mesh);
  int64_t elements = 1;
  for (int64_t size : layout.globalShape()) {
    elements *= size;
  }
  EXPECT_EQ(static_cast<int64_t>(count.size()), elements);
  for (auto [index, times] : count) {
    EXPECT_EQ(times, copies) << index;
  }
}

static Mesh tensor4() { return {{{"tensor", 4}}, -1}; }

// Heads that do not divide: 384 = 6 x 64 over 4, stored as 8 x 64.
TEST(Layout, PaddedHeads) {
  Layout layout{{{{0}, {{6, 8}, {64, 64}}}}};
  ASSERT_TRUE(layout.check(tensor4()).ok());
  EXPECT_EQ(layout.localShape(tensor4()), (std::vector<int64_t>{128}));
  for (int64_t t = 0; t < 3; ++t) {
    auto runs = layout.runs(0, tensor4(), {t});
    ASSERT_EQ(runs->size(), 1u);
    EXPECT_EQ((*runs)[0].global, 128 * t);
    EXPECT_EQ((*runs)[0].length, 128);
  }
  EXPECT_TRUE(layout.runs(0, tensor4(), {3})->empty());
  EXPECT_TRUE(layout.boxes(tensor4(), {3})->empty());
  expectEachOnce(layout, tensor4(), 1);
  EXPECT_EQ(layout.describe(tensor4()), "[{\"tensor\"}:6:8x64]");
}

// A bias of three parts over data 5 and tensor 2: two boxes of 192.
TEST(Layout, OddSharesOfABias) {
  Mesh mesh{{{"data", 5}, {"tensor", 2}}, -1};
  Layout layout{{{{1, 0}, {{2, 2}, {192, 195}}}}};
  EXPECT_EQ(layout.localShape(mesh), (std::vector<int64_t>{39}));
  auto last = layout.runs(0, mesh, {4, 1});
  ASSERT_EQ(last->size(), 1u);
  EXPECT_EQ((*last)[0].global, 192 + 156);
  EXPECT_EQ((*last)[0].length, 36);
  expectEachOnce(layout, mesh, 1);
}

// Padding inside: one device stores several runs.
TEST(Layout, MinorFactorPadded) {
  Mesh mesh{{{"x", 2}}, -1};
  Layout layout{{{{0}, {{4, 4}, {3, 5}}}}};
  auto runs = layout.runs(0, mesh, {1});
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].local, 0);
  EXPECT_EQ((*runs)[0].global, 6);
  EXPECT_EQ((*runs)[1].local, 5);
  EXPECT_EQ((*runs)[1].global, 9);
  EXPECT_EQ((*runs)[1].length, 3);
  expectEachOnce(layout, mesh, 1);
}

TEST(Layout, VocabularyOverTwoAxes) {
  Mesh mesh{{{"tensor", 4}, {"data", 2}}, -1};
  Layout layout = Layout::split({50257, 3}, {{0, 1}, {}}, mesh);
  EXPECT_EQ(layout.dims[0].extent(), 50264);
  EXPECT_EQ(layout.localShape(mesh), (std::vector<int64_t>{6283, 3}));
  auto boxes = layout.boxes(mesh, {3, 1});
  ASSERT_EQ(boxes->size(), 1u);
  EXPECT_EQ((*boxes)[0].size, (std::vector<int64_t>{6276, 3}));
}

TEST(Layout, ReplicasAndScalars) {
  Mesh mesh{{{"data", 2}, {"tensor", 3}}, -1};
  expectEachOnce(Layout::split({7, 5}, {{1}, {}}, mesh), mesh, 2);
  expectEachOnce(Layout::split({7, 5}, {{1}, {0}}, mesh), mesh, 1);
  Layout scalar;
  EXPECT_EQ(scalar.localElements(mesh), 1);
  EXPECT_EQ(scalar.boxes(mesh, {0, 0})->size(), 1u);
}

// Three factors, two padded, in all splits of 12 positions.
TEST(Layout, ManyFactors) {
  for (int64_t n : {1, 2, 3, 4, 6}) {
    Mesh mesh{{{"x", n}}, -1};
    Layout layout{{{{0}, {{2, 3}, {2, 2}, {3, 4}}}, {{}, {{2, 2}}}}};
    expectEachOnce(layout, mesh, 1);
  }
}

TEST(Layout, Refusals) {
  Mesh mesh{{{"x", 2}, {"y", 2}}, -1};
  auto message = [&](Layout layout) { return layout.check(mesh).message(); };
  EXPECT_EQ(message({{{{0}, {{3, 3}}}}}),
            "dim 0 of a layout: expected the extent 3 to be divisible by 2 "
            "shards");
  EXPECT_EQ(message({{{{0}, {{2, 2}}}, {{0}, {{2, 2}}}}}),
            "dim 1 of a layout: axis \"x\" occurs twice");
  EXPECT_EQ(message({{{{5}, {{2, 2}}}}}),
            "dim 0 of a layout: expected an axis below 2, got 5");
  EXPECT_EQ(message({{{{}, {{4, 3}}}}}),
            "dim 0 of a layout: expected an extent of at least 4, got 3");
  EXPECT_EQ(message({{{{}, {}}}}),
            "dim 0 of a layout: expected at least one factor");
  int64_t big = int64_t(1) << 40;
  EXPECT_EQ(message({{{{}, {{big, big}, {big, big}}}}}),
            "dim 0 of a layout: the extent overflows");
  EXPECT_EQ(message({{{{}, {{0, 0}}}, {{}, {{big, big}}}, {{}, {{big, big}}}}}),
            "the number of elements of a layout overflows");
  Layout many{{{{}, {{100, 100}, {1, 2}}}}};
  EXPECT_EQ(many.runs(0, mesh, {0, 0}, 99).kind(), ErrorKind::unsupported);
  EXPECT_EQ(many.runs(0, mesh, {0, 0}, 100)->size(), 100u);
}

TEST(Layout, SplitPadsToTheLeastMultiple) {
  Mesh mesh{{{"x", 4}, {"y", 3}}, -1};
  for (auto [size, extent] : {std::pair<int64_t, int64_t>{0, 0},
                              {1, 12},
                              {11, 12},
                              {12, 12},
                              {13, 24}}) {
    Layout layout = Layout::split({size, 5}, {{0, 1}}, mesh);
    EXPECT_EQ(layout.dims[0].extent(), extent) << size;
    EXPECT_EQ(layout.dims[0].size(), size);
    EXPECT_TRUE(layout.dims[1].axes.empty());
    EXPECT_EQ(layout.globalShape(), (std::vector<int64_t>{size, 5}));
    EXPECT_EQ(layout.localElements(mesh), extent / 12 * 5);
    EXPECT_TRUE(layout.check(mesh).ok());
  }
}

// Neighbouring runs of a device are one; runs beside a hole are not.
TEST(Layout, RunsAreMerged) {
  Mesh mesh{{{"x", 2}}, -1};
  Layout whole{{{{0}, {{4, 4}, {3, 3}, {2, 2}}}}};
  auto runs = whole.runs(0, mesh, {1}, 1);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ((*runs)[0].local, 0);
  EXPECT_EQ((*runs)[0].global, 12);
  EXPECT_EQ((*runs)[0].length, 12);
  Layout holes{{{{}, {{2, 2}, {3, 4}}}}};
  auto two = holes.runs(0, mesh, {0}, 2);
  ASSERT_TRUE(two.ok());
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ((*two)[0].length, 3);
  EXPECT_EQ((*two)[1].local, 4);
  EXPECT_EQ((*two)[1].global, 3);
  Status status = holes.runs(0, mesh, {0}, 1).status();
  EXPECT_EQ(status.message(), "dim 0 of a layout has more than 1 runs");
}

TEST(Layout, BoxesAreCounted) {
  Mesh mesh{{{"x", 2}}, -1};
  Layout layout{{{{}, {{2, 2}, {3, 4}}}, {{}, {{3, 3}, {1, 2}}}}};
  EXPECT_EQ(layout.boxes(mesh, {0}, 6)->size(), 6u);
  EXPECT_EQ(layout.boxes(mesh, {0}, 5).status().message(),
            "a layout has more than 5 boxes");
  auto boxes = layout.boxes(mesh, {0});
  EXPECT_EQ((*boxes)[4].local, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ((*boxes)[4].global, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ((*boxes)[4].size, (std::vector<int64_t>{3, 1}));
  // A tensor without elements has none.
  EXPECT_TRUE(Layout::whole({0, 4}).boxes(mesh, {0})->empty());
  EXPECT_TRUE((Layout{{{{}, {{2, 2}, {0, 0}}}}}).runs(0, mesh, {0})->empty());
  // However many parts without elements there are.
  constexpr int64_t many = int64_t(1) << 40;
  EXPECT_TRUE(
      (Layout{{{{}, {{many, many}, {0, 4}}}}}).runs(0, mesh, {0})->empty());
}

TEST(Layout, CheckEnds) {
  Mesh mesh{{{"x", 2}, {"y", 2}}, -1};
  auto message = [&](Layout layout) { return layout.check(mesh).message(); };
  EXPECT_EQ(message({{{{1}, {{2, 2}}}}}), "");
  EXPECT_EQ(message({{{{2}, {{2, 2}}}}}),
            "dim 0 of a layout: expected an axis below 2, got 2");
  EXPECT_EQ(message({{{{-1}, {{2, 2}}}}}),
            "dim 0 of a layout: expected an axis below 2, got -1");
  EXPECT_EQ(message({{{{}, {{0, 0}}}}}), "");
  EXPECT_EQ(message({{{{}, {{-1, 0}}}}}),
            "dim 0 of a layout: expected an extent of at least -1, got 0");
  EXPECT_EQ(message({{{{}, {{3, 3}}}, {{0, 1}, {{2, 2}}}}}),
            "dim 1 of a layout: expected the extent 2 to be divisible by 4 "
            "shards");
  EXPECT_EQ(message({{{{}, {{0, INT64_MAX}, {0, 2}}}}}),
            "dim 0 of a layout: the extent overflows");
  EXPECT_EQ(message({{{{}, {{1, INT64_MAX / 16}}}}}), "");
  EXPECT_EQ(message({{{{}, {{1, INT64_MAX / 16 + 1}}}}}),
            "the number of elements of a layout overflows");
}

TEST(Layout, Describes) {
  Mesh mesh{{{"x", 2}, {"y", 2}}, -1};
  Layout layout{{{{0, 1}, {{7, 8}}}, {{}, {{3, 3}}}}};
  EXPECT_EQ(layout.describe(mesh), "[{\"x\", \"y\"}:7:8, {}:3]");
  EXPECT_EQ(Layout().describe(mesh), "[]");
}
