//===- ReshardPlannerTest.cpp - Plans between layouts ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans by hand; then all pairs of layouts of small meshes, each against
// an exhaustive search with its own moves, against the greedy ladder, and
// performed on devices with integers.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reshard/MachineModel.h"

#include "ReshardExhaustive.h"
#include "ReshardSimulator.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>

using namespace llmc;

namespace {

/// Axes of one letter; the pipeline is called p. "x2 y3"
rt::Mesh meshOf(const std::string &text) {
  rt::Mesh mesh;
  for (size_t i = 0; i < text.size(); i += 3) {
    if (text[i] == 'p')
      mesh.pipelineAxis = int32_t(mesh.axes.size());
    mesh.axes.push_back({text.substr(i, 1), text[i + 1] - '0'});
  }
  return mesh;
}

/// "[{x,y},{}] P{t} @[0,1]"; without dims, `rank` unsplit ones.
ReshardLayout layoutOf(const std::string &text, const rt::Mesh &mesh,
                       size_t rank) {
  ReshardLayout layout;
  std::vector<int32_t> *list = nullptr;
  bool isPin = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '@') {
      isPin = true;
      layout.stages = 0;
    } else if (c == 'P') {
      list = &layout.partial;
      ++i;
    } else if (c == '{') {
      layout.dims.emplace_back();
      list = &layout.dims.back();
    } else if (isPin && c >= '0' && c <= '9') {
      layout.stages |= uint64_t(1) << (c - '0');
    } else if (c >= 'a' && c <= 'z') {
      list->push_back(mesh.axisNamed(std::string(1, c)));
    }
  }
  if (layout.dims.empty())
    layout.dims.resize(rank);
  if (mesh.pipelineAxis >= 0 &&
      layout.stages == (uint64_t(1) << mesh.numStages()) - 1)
    layout.stages = ReshardLayout::everywhere;
  std::sort(layout.partial.begin(), layout.partial.end());
  return layout;
}

struct Row {
  int number;
  const char *mesh;
  std::vector<double> slowness;
  std::vector<int64_t> sizes, extents;
  const char *from, *to, *path;
  int64_t bytes;
};

static std::vector<Row> listPlansByHand() {
  const std::vector<int64_t> s = {64, 64}, b = {12, 12}, c = {8, 4};
  const std::vector<double> u = {1, 1, 1}, a = {8, 1};
  const char *A = "x2 y2", *B = "a2 b3", *C = "p2 d2 t2";
  const char *full = "[{},{}]";
  return {
      {1, A, u, s, s, "[{x},{}]", full, "all-gather x from 0", 8192},
      {2, A, u, s, s, "[{x},{}]", "[{},{x}]", "all-to-all x from 0 to 1", 4096},
      {3, A, u, s, s, "[{x,y},{}]", "[{y,x},{}]", "permute x,y", 4096},
      {4, A, u, s, s, "[{},{x,y}]", "[{y,x},{}]",
       "all-to-all y from 1 to 0, all-to-all x from 1 to 0", 4096},
      {5, A, u, s, s, "[{x},{y}]", "[{y},{x}]", "permute x,y", 4096},
      {6, A, u, s, s, "[{x,y},{}]", "[{y},{}]",
       "permute x,y, all-gather x from 0", 8192},
      {7, A, u, s, s, "P{x,y}", "[{x,y},{}]", "reduce-scatter x,y to 0", 12288},
      {8, A, u, s, s, "P{x,y}", "[{x},{}]",
       "reduce-scatter x to 0, all-reduce y", 16384},
      {9, A, u, s, s, "[{x},{}] P{y}", "[{},{y}]",
       "reduce-scatter y to 1, all-gather x from 0", 8192},
      {10, A, u, s, s, "[{y},{}] P{x}", "[{x},{}]",
       "reduce-scatter x to 0, permute x,y, all-gather y from 0", 12288},
      {11, A, u, s, s, "[{x},{}]", "P{x}", "lift x from 0", 0},
      {12, A, a, s, s, "[{x},{}]", full,
       "slice y to 1, all-gather x from 0, all-gather y from 1", 12288},
      {13, A, a, s, s, "P{x,y}", full,
       "reduce-scatter y to 0, all-reduce x, all-gather y from 0", 24576},
      {14, A, a, s, s, "[{x,y},{}]", full,
       "all-to-all y from 0 to 1, all-gather x from 0, all-gather y from 1",
       14336},
      {15, B, u, b, b, "[{a},{}]", "[{b},{}]",
       "slice b to 0, permute a,b, all-gather a from 0", 192},
      {16,
       "d3",
       u,
       {8, 256},
       {9, 256},
       "P{d}",
       "[{d},{}]",
       "reduce-scatter d to 0",
       6144},
      {17,
       "d2 t4",
       u,
       {50257, 384},
       {50264, 384},
       "[{t},{}] P{d}",
       "[{t,d},{}]",
       "reduce-scatter d to 0",
       9650688},
      {18,
       "d5 t2",
       u,
       {384},
       {390},
       "[{t,d}]",
       "[{t}]",
       "all-gather d from 0",
       624},
      {19, C, u, c, c, "[{d},{}] P{t} @[0]", "[{d},{}] @[1]",
       "reduce-scatter t to 0, send p, all-gather t from 0", 96},
      {20,
       C,
       u,
       {10, 4},
       {10, 4},
       "[{t},{}] P{p,d} @[0,1]",
       "[{t},{}] @[0,1]",
       "all-reduce p,d",
       120},
      {21, "p3 t2", u, c, c, "P{p}", "[{},{}] @[0,1]",
       "slice t to 0, all-reduce p, drop p, all-gather t from 0", 150},
      {22, "p3 t2", u, c, c, "[{t},{}] @[0]", "[{},{t}] @[1,2]",
       "all-to-all t from 0 to 1, broadcast p", 96},
      {23, "p3 t2", u, c, c, "P{p} @[0,1]", "[{},{}] @[2]",
       "slice t to 0, all-reduce p, send p, all-gather t from 0", 192}};
}

TEST(ReshardPlanner, PlansByHand) {
  for (const Row &row : listPlansByHand()) {
    rt::Mesh mesh = meshOf(row.mesh);
    ReshardPlanner planner(mesh, row.slowness);
    ReshardTensor tensor{row.sizes, row.extents, 4};
    size_t rank = row.sizes.size();
    ReshardLayout from = layoutOf(row.from, mesh, rank);
    ReshardLayout to = layoutOf(row.to, mesh, rank);
    EXPECT_EQ(planner.check(tensor, from), "");
    EXPECT_EQ(planner.check(tensor, to), "");
    ReshardPlan plan = planner.plan(tensor, from, to);
    EXPECT_EQ(plan.bytes, row.bytes) << "row " << row.number;
    EXPECT_EQ(plan.describe(mesh), row.path) << "row " << row.number;
  }
}

TEST(ReshardPlanner, LayoutsNameTheirStages) {
  rt::Mesh mesh = meshOf("d2 t2");
  ReshardLayout layout = layoutOf("[{d},{}] P{t}", mesh, 2);
  EXPECT_EQ(layout.describe(mesh), "[{d}, {}] P{t}");
  layout.stages = 1 << 2 | 1 << 5;
  EXPECT_EQ(layout.describe(mesh), "[{d}, {}] P{t} @[2,5]");
}

/// As multiples of the bytes of the whole tensor.
TEST(ReshardPlanner, CostsByHand) {
  ReshardPlanner slow(meshOf("x2 y2"), {8, 1});
  auto price = [&](const char *from) {
    auto plan =
        slow.plan({{64, 64}, {64, 64}, 4}, layoutOf(from, slow.getMesh(), 2),
                  layoutOf("[{},{}]", slow.getMesh(), 2));
    return double(plan.cost) / ReshardPlanner::costUnits / 16384;
  };
  EXPECT_DOUBLE_EQ(price("[{x},{}]"), 2.52);
  EXPECT_DOUBLE_EQ(price("P{x,y}"), 5.03);
  EXPECT_DOUBLE_EQ(price("[{x,y},{}]"), 2.655);
}

//===----------------------------------------------------------------------===//
// All pairs
//===----------------------------------------------------------------------===//

struct Sweep {
  int64_t pairs = 0, dearer = 0;
};

/// Every ordered pair of the layouts; `stride` > 1 takes a sample of them.
Sweep sweep(const rt::Mesh &mesh, const std::vector<double> &slowness,
            const ReshardTensor &tensor, AllLayouts &all, size_t stride = 1) {
  Sweep result;
  ReshardPlanner planner(mesh, slowness);
  std::map<std::string, std::vector<std::vector<int64_t>>> tables;
  size_t n = all.layouts.size(), number = 0;
  for (size_t b = 0; b < n; ++b) {
    const ReshardLayout &to = all.layouts[b];
    std::string key;
    for (int32_t axis : to.partial)
      key += mesh.axes[axis].name;
    if (!to.partial.empty())
      key += std::to_string(to.stages);
    auto [table, isNew] = tables.try_emplace(key);
    if (isNew)
      table->second = all.distances(to);
    for (size_t a = 0; a < n; ++a) {
      if (a == b || number++ % stride)
        continue;
      const ReshardLayout &from = all.layouts[a];
      std::string what = from.describe(mesh) + " -> " + to.describe(mesh);
      ReshardPlan plan = planner.plan(tensor, from, to);
      ReshardPlan greedy = planner.greedyPlan(tensor, from, to);
      what += ": " + plan.describe(mesh) + " or " + greedy.describe(mesh);
      EXPECT_EQ(plan.cost, table->second[a][b]) << what;
      EXPECT_LE(plan.cost, greedy.cost) << what;
      for (const ReshardPlan *one : {&plan, &greedy}) {
        ReshardSimulator devices(mesh, tensor.extents, from);
        for (const ReshardMove &move : one->moves)
          EXPECT_EQ(devices.perform(move), "") << what;
        EXPECT_EQ(devices.holds(to), "") << what;
      }
      ++result.pairs;
      result.dearer += greedy.cost > plan.cost;
      if (::testing::Test::HasFailure())
        return result;
    }
  }
  std::printf("%lld pairs, greedy dearer in %.1f %%\n", (long long)result.pairs,
              100.0 * result.dearer / result.pairs);
  return result;
}

Sweep sweepFull(const char *axes, std::vector<double> slowness,
                std::vector<int64_t> shape, size_t stride = 1) {
  rt::Mesh mesh = meshOf(axes);
  ReshardTensor tensor{shape, shape, 4};
  AllLayouts all(mesh, slowness, tensor);
  all.enumerate({}, ReshardLayout::everywhere);
  return sweep(mesh, slowness, tensor, all, stride);
}

TEST(ReshardPlanner, AllPairsOfFullLayouts) {
  EXPECT_EQ(sweepFull("x2 y2", {1, 1}, {4, 4}).pairs, 110);
  EXPECT_EQ(sweepFull("x2 y2 z2", {1, 1, 1}, {8, 8}).pairs, 2352);
  EXPECT_EQ(sweepFull("x2 y2 z2", {8, 1, 1}, {8, 8}).pairs, 2352);
}

/// Whether every list of `fine` begins with that of `coarse`.
bool refines(const ReshardLayout &fine, const ReshardLayout &coarse) {
  for (size_t dim = 0; dim < fine.dims.size(); ++dim) {
    auto &a = coarse.dims[dim], &b = fine.dims[dim];
    if (a.size() > b.size() || !std::equal(a.begin(), a.end(), b.begin()))
      return false;
  }
  return true;
}

/// The longest common beginning of each pair of lists.
ReshardLayout meet(const ReshardLayout &a, const ReshardLayout &b) {
  ReshardLayout common = a;
  for (size_t dim = 0; dim < a.dims.size(); ++dim) {
    auto &list = common.dims[dim];
    auto ends = std::mismatch(list.begin(), list.end(), b.dims[dim].begin(),
                              b.dims[dim].end());
    list.erase(ends.first, list.end());
  }
  return common;
}

/// The laws of section 5 of docs/layout-algebra.md: nothing is free but what
/// refines, and no way over a third layout is cheaper.
void expectDistance(const char *axes, std::vector<double> slowness,
                    std::vector<int64_t> shape) {
  rt::Mesh mesh = meshOf(axes);
  ReshardTensor tensor{shape, shape, 4};
  AllLayouts all(mesh, slowness, tensor);
  all.enumerate({}, ReshardLayout::everywhere);
  ReshardPlanner planner(mesh, slowness);
  size_t n = all.layouts.size();
  std::vector<std::vector<int64_t>> cost(n, std::vector<int64_t>(n));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b) {
      const ReshardLayout &from = all.layouts[a], &to = all.layouts[b];
      std::string what = from.describe(mesh) + " -> " + to.describe(mesh);
      cost[a][b] = planner.plan(tensor, from, to).cost;
      EXPECT_EQ(cost[a][b] == 0, refines(to, from)) << what;
      EXPECT_LE(cost[a][b], planner.plan(tensor, from, meet(from, to)).cost)
          << what;
    }
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b)
      for (size_t c = 0; c < n; ++c)
        ASSERT_LE(cost[a][c], cost[a][b] + cost[b][c])
            << all.layouts[a].describe(mesh) << " -> "
            << all.layouts[c].describe(mesh) << " over "
            << all.layouts[b].describe(mesh);
}

TEST(ReshardPlanner, CostsOfFullLayoutsAreADistance) {
  expectDistance("x2 y2 z2", {1, 1, 1}, {8, 8});
  expectDistance("x2 y2 z2", {8, 1, 1}, {8, 8});
  expectDistance("a2 b3", {1, 4}, {12, 6});
  expectDistance("a2 b3", {1, 1}, {9, 10});
}

TEST(ReshardPlanner, AllPairsOfRankThree) {
  EXPECT_EQ(sweepFull("x2 y2 z2", {1, 1, 1}, {8, 8, 8}).pairs, 11130);
}

TEST(ReshardPlanner, ASampleOfRankThreeWithASlowAxis) {
  EXPECT_EQ(sweepFull("x2 y2 z2", {8, 1, 1}, {8, 8, 8}, 6).pairs, 1855);
}

TEST(ReshardPlanner, AllPairsOnTwoTimesThree) {
  EXPECT_EQ(sweepFull("a2 b3", {1, 1}, {6, 6}).pairs, 110);
  EXPECT_EQ(sweepFull("a2 b3", {1, 4}, {12, 6}).pairs, 110);
  // Extents that not every list divides: 9 takes b alone, 10 takes a alone.
  EXPECT_EQ(sweepFull("a2 b3", {1, 1}, {9, 10}).pairs, 12);
}

Sweep sweepPartial(const char *axes, std::vector<double> slowness,
                   ReshardTensor tensor, ReductionKind kind,
                   std::vector<uint64_t> stages = {ReshardLayout::everywhere},
                   size_t stride = 1) {
  rt::Mesh mesh = meshOf(axes);
  AllLayouts all(mesh, slowness, tensor);
  std::vector<int32_t> every;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
    every.push_back(int32_t(axis));
  for (uint64_t one : stages)
    all.enumerate(every, one);
  for (ReshardLayout &layout : all.layouts)
    if (!layout.partial.empty())
      layout.kind = kind;
  return sweep(mesh, slowness, tensor, all, stride);
}

TEST(ReshardPlanner, AllPairsWithPartialAxes) {
  // 11 full layouts, 2 x 3 with one partial axis, 1 with two
  auto sum = ReductionKind::sum, max = ReductionKind::max;
  EXPECT_EQ(sweepPartial("x2 y2", {1, 1}, {{4, 4}, {4, 4}}, sum).pairs, 306);
  EXPECT_EQ(sweepPartial("x2 y2", {8, 1}, {{4, 4}, {4, 4}}, max).pairs, 306);
  // 5 rows over 2 x 3 devices: padded to 6
  EXPECT_EQ(sweepPartial("a2 b3", {1, 1}, {{5, 6}, {6, 6}}, sum).pairs, 306);
  EXPECT_EQ(sweepPartial("a2 b3", {1, 3}, {{5, 6}, {6, 6}}, max).pairs, 306);
  sweepPartial("a2 b3", {1, 1}, {{8, 10}, {9, 10}}, sum);
  sweepPartial("x2 y2 z2", {1, 4, 1}, {{8, 8}, {8, 8}}, sum, {~uint64_t(0)}, 7);
}

TEST(ReshardPlanner, AllPairsBetweenStages) {
  auto sum = ReductionKind::sum;
  uint64_t both = ReshardLayout::everywhere;
  sweepPartial("p2 t2", {4, 1}, {{4, 4}, {4, 4}}, sum, {1, 2, both});
  sweepPartial("p2 t3", {1, 1}, {{5, 6}, {6, 6}}, sum, {1, 2, both});
  // Some of the stages, more sets of them than the planner tries.
  sweepPartial("p3 t2", {1, 1}, {{6, 4}, {6, 4}}, sum,
               {1, 2, 4, 3, 5, 6, both});
}

TEST(ReshardPlanner, OtherKindsAndChangesOfKind) {
  rt::Mesh mesh = meshOf("x2 y3");
  ReshardTensor tensor{{6, 6}, {6, 6}, 4};
  ReshardPlanner planner(mesh, {1, 1});
  for (const ReductionTraits &a : reductionTraits)
    for (const ReductionTraits &b : reductionTraits)
      for (const char *source : {"P{x,y}", "[{y},{}] P{x}"})
        for (const char *target : {"P{y}", "[{},{x}] P{y}", "P{x,y}"}) {
          ReshardLayout from = layoutOf(source, mesh, 2);
          ReshardLayout to = layoutOf(target, mesh, 2);
          from.kind = a.kind;
          to.kind = b.kind;
          for (const ReshardPlan &plan :
               {planner.plan(tensor, from, to),
                planner.greedyPlan(tensor, from, to)}) {
            ReshardSimulator devices(mesh, tensor.extents, from);
            for (const ReshardMove &move : plan.moves)
              EXPECT_EQ(devices.perform(move), "");
            EXPECT_EQ(devices.holds(to), "") << plan.describe(mesh);
          }
        }
}

TEST(ReshardPlanner, RefusesWhatIsNoLayout) {
  rt::Mesh mesh = meshOf("p2 t2");
  ReshardPlanner planner(mesh, {1, 1});
  ReshardTensor tensor{{6, 5}, {6, 5}, 4};
  auto fault = [&](const char *text) {
    return planner.check(tensor, layoutOf(text, mesh, 2));
  };
  EXPECT_EQ(fault("[{t},{}] @[0]"), "");
  EXPECT_EQ(fault("[{t},{t}]"),
            "expected an extent of dim 1 of at least its size 5 and divisible "
            "by 2, got 5");
  EXPECT_EQ(fault("[{t},{}] P{t}"), "expected axis 't' once");
  EXPECT_EQ(fault("[{p},{}] @[0]"),
            "expected a value that 'p' splits to live at all stages");
  EXPECT_EQ(fault("[{t}]"), "expected sizes, extents and layout of one rank");

  auto check = [&](auto change) {
    ReshardLayout layout = layoutOf("[{},{}]", mesh, 2);
    ReshardTensor changed = tensor;
    change(layout, changed);
    return planner.check(changed, layout);
  };
  using L = ReshardLayout;
  using T = ReshardTensor;
  EXPECT_EQ(check([](L &, T &) {}), "");
  EXPECT_EQ(check([](L &l, T &) { l.partial = {0, 1}; }), "");
  EXPECT_EQ(check([](L &l, T &) { l.partial = {1, 0}; }),
            "expected partial axes in ascending order");
  for (int32_t axis : {-1, 2}) {
    std::string error =
        "expected a mesh axis, got index " + std::to_string(axis);
    EXPECT_EQ(check([&](L &l, T &) { l.dims[0] = {axis}; }), error);
    EXPECT_EQ(check([&](L &l, T &) { l.partial = {axis}; }), error);
  }
  EXPECT_EQ(check([](L &l, T &) { l.stages = 0; }),
            "expected at least one stage");
  EXPECT_EQ(check([](L &, T &t) { t.extents = {6}; }),
            "expected sizes, extents and layout of one rank");
  EXPECT_EQ(check([](L &, T &t) { t.extents[1] = 8; }), "");
  EXPECT_NE(check([](L &, T &t) { t.extents[1] = 4; }), "");
  EXPECT_NE(check([](L &, T &t) { t.sizes[1] = 0; }), "");
}

TEST(ReshardPlanner, RefusesMeshesOfMoreAxesThanBits) {
  ReshardTensor tensor{{4}, {4}, 4};
  auto check = [&](size_t axes, int64_t stages) {
    rt::Mesh mesh{{{"p", stages}}, 0};
    while (mesh.axes.size() < axes)
      mesh.axes.push_back({"a" + std::to_string(mesh.axes.size()), 1});
    return ReshardPlanner(mesh, {}).check(tensor, layoutOf("[{}]", mesh, 1));
  };
  EXPECT_EQ(check(32, 64), "");
  EXPECT_EQ(check(33, 64), "expected at most 32 mesh axes and 64 stages");
  EXPECT_EQ(check(32, 65), "expected at most 32 mesh axes and 64 stages");
}

TEST(MachineModel, SlownessIsRelativeToTheFastestLink) {
  MachineModel model;
  model.links = {{"nvlink", 1e-6, 450e9}, {"network", 5e-6, 50e9}};
  model.axisLinks = {1, 0};
  EXPECT_EQ(model.check(2), "");
  EXPECT_EQ(model.slowness(), (std::vector<double>{9, 1}));
  EXPECT_EQ(model.check(3),
            "expected a link class for each of 3 mesh axes, got 2");
  // In 5e-6 s the fastest link carries 2.25 MB.
  EXPECT_EQ(std::llround(model.latencyBytes()[0]), 2250000);
  EXPECT_EQ(std::llround(model.latencyBytes()[1]), 450000);
}

TEST(MachineModel, FindsFaults) {
  auto check = [](auto change) {
    MachineModel model = MachineModel::uniform(2);
    change(model);
    return model.check(2);
  };
  using M = MachineModel;
  EXPECT_EQ(check([](M &) {}), "");
  for (int32_t link : {-1, 1})
    EXPECT_EQ(check([&](M &m) { m.axisLinks[1] = link; }),
              "expected an index below 1 as link class of an axis, got " +
                  std::to_string(link));
  for (double bandwidth : {0.0, -1.0, std::nan(""), 1e300})
    EXPECT_EQ(check([&](M &m) { m.links[0].bandwidth = bandwidth; }),
              "expected a positive bandwidth of link class 'link', got " +
                  std::to_string(bandwidth));
  for (double latency : {-1.0, std::nan("")})
    EXPECT_EQ(check([&](M &m) { m.links[0].latency = latency; }),
              "expected a latency of at least 0 of link class 'link', got " +
                  std::to_string(latency));
}

TEST(MachineModel, AllAxesOfOneClassCostTheSame) {
  MachineModel model = MachineModel::uniform(3);
  EXPECT_EQ(model.slowness(), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(model.latencyBytes(), (std::vector<double>{0, 0, 0}));
}

} // namespace
