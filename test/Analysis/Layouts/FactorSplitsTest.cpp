//===- FactorSplitsTest.cpp - Layouts seen through a rule -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Examples of docs/layout-algebra.md, section 2, and a property over random
// dims: what a factor split says of storage is what the dim says, position for
// position and device for device.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "StoredElements.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using llmc::test::elementsOf;

namespace {

class FactorSplitsOn : public ::testing::Test {
protected:
  FactorSplitsOn() { context.loadDialect<dist::DistDialect>(); }

  dist::LayoutAttr layout(StringRef text) {
    return dyn_cast_or_null<dist::LayoutAttr>(
        parseAttribute("#dist.layout<@mesh, " + text.str() + ">", &context));
  }
  dist::DimAttr dim(StringRef text) {
    return layout("[" + text.str() + "]").getDims().front();
  }
  dist::MeshAxesAttr mesh(ArrayRef<std::pair<StringRef, int64_t>> axes) {
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (auto [name, size] : axes) {
      names.push_back(StringAttr::get(&context, name));
      sizes.push_back(size);
    }
    return dist::MeshAxesAttr::get(&context, names, sizes);
  }
  /// Each factor as `{axes}extent`, or the reason.
  std::string project(StringRef text, ArrayRef<int64_t> sizes,
                      dist::MeshAxesAttr axes) {
    SmallVector<FactorSplit> splits;
    std::string reason = projectDim(dim(text), sizes, axes, splits);
    if (!reason.empty())
      return reason;
    for (auto [split, size] : llvm::zip(splits, sizes))
      reason += (reason.empty() ? "" : " ") + showAxes(split.axes) +
                std::to_string(split.getExtent(size));
    return reason;
  }

  MLIRContext context;
};

TEST_F(FactorSplitsOn, HeadsOverFourDevices) {
  dist::MeshAxesAttr four = mesh({{"t", 4}});
  EXPECT_EQ(project("{\"t\"}:[6:8, 64]", {384}, four), "{\"t\"}512");
  EXPECT_EQ(project("{\"t\"}:[6:8, 64]", {6, 64}, four), "{\"t\"}8 {}64");
  EXPECT_EQ(project("{\"t\"}:512", {6, 64}, four), "{\"t\"}8 {}64");
  EXPECT_EQ(project("{\"t\"}:512", {3, 2, 64}, four), "{\"t\"}4 {}2 {}64");
  EXPECT_EQ(project("{\"t\"}:388", {6, 64}, four),
            "padding to 388 does not end at the boundaries of the factors "
            "6 x 64");
  EXPECT_EQ(project("{\"t\"}", {6, 64}, four),
            "axis \"t\" of size 4 does not divide what is left (6)");
  EXPECT_EQ(project("{\"t\"}", {384}, four), "{\"t\"}384");
  EXPECT_EQ(project("{\"t\":(2)2}", {384}, four), "{\"t\":(2)2}384");
  // Factors that the padded dim does not fill.
  EXPECT_EQ(project("{\"t\"}:[6:8, 64]", {12, 64}, four),
            "padding to 8 x 64 does not end at the boundaries of the factors "
            "12 x 64");
}

TEST_F(FactorSplitsOn, AxesMoveOnWhenAFactorIsUsedUp) {
  dist::MeshAxesAttr axes = mesh({{"d", 2}, {"t", 3}, {"one", 1}});
  EXPECT_EQ(project("{\"d\", \"t\"}", {2, 9}, axes), "{\"d\"}2 {\"t\"}9");
  EXPECT_EQ(project("{\"d\", \"t\"}", {6, 9}, axes), "{\"d\", \"t\"}6 {}9");
  EXPECT_EQ(project("{\"one\", \"t\"}", {6, 9}, axes), "{\"t\"}6 {}9");
  EXPECT_EQ(project("{\"one\"}", {}, axes), "");
  EXPECT_EQ(project("{\"d\"}", {}, axes),
            "axis \"d\" of size 2 does not divide what is left (1)");
}

TEST_F(FactorSplitsOn, StorageHasOneForm) {
  dist::MeshAxesAttr axes = mesh({{"t", 4}, {"one", 1}});
  EXPECT_EQ(canonicalDim(dim("{\"t\"}:[6:8, 64]"), 384, axes),
            dim("{\"t\"}:512"));
  EXPECT_EQ(canonicalDim(dim("{\"one\", ?}"), 384, axes), dim("{?}"));
  dist::DimAttr minor = dim("{\"t\"}:[2, 192:194]");
  EXPECT_EQ(canonicalDim(minor, 384, axes), minor);
  // One element that is padded is no atom of nothing.
  EXPECT_EQ(canonicalAtoms({{1, 2}, {3, 3}}), (Atoms{{3, 6}}));
  EXPECT_EQ(canonicalAtoms({{1, 2}}), (Atoms{{1, 2}}));
  EXPECT_EQ(canonicalAtoms({{1, 1}, {3, 4}}), (Atoms{{3, 4}}));
}

TEST_F(FactorSplitsOn, ASplitFactorMayNotFollowALeftOne) {
  dist::MeshAxesAttr axes = mesh({{"t", 2}});
  FactorSplit split;
  split.axes = {dist::AxisAttr::get(&context, "t")};
  EXPECT_EQ(assembleDim(&context, {split, {}}, {6, 64}, axes), dim("{\"t\"}"));
  EXPECT_FALSE(assembleDim(&context, {{}, split}, {6, 64}, axes));
  EXPECT_EQ(assembleDim(&context, {{}, split}, {1, 64}, axes), dim("{\"t\"}"));
}

TEST_F(FactorSplitsOn, TensorsMergeOrConflict) {
  dist::MeshAxesAttr axes = mesh({{"t", 2}});
  SmallVector<graph::Factor> factors = {{8}, {6}};
  FactorSplits splits;
  EXPECT_EQ(projectToFactors(layout("[{\"t\"}, {}]"), {{0}, {1}}, factors, axes,
                             "#0", splits),
            "");
  EXPECT_EQ(
      projectToFactors(layout("[{\"t\"}]"), {{0}}, factors, axes, "#1", splits),
      "");
  EXPECT_EQ(layoutFromFactors({{1}, {0}}, factors, splits, axes,
                              layout("[], at = {\"p\" = [1]}")),
            layout("[{}, {\"t\"}], at = {\"p\" = [1]}"));
  EXPECT_EQ(
      projectToFactors(layout("[{\"t\"}]"), {{1}}, factors, axes, "#2", splits),
      "factor 1 is split by {} elsewhere and by {\"t\"} in #2");
  // Of two conflicts the first one is named, and what cannot be poured before
  // either.
  FactorSplits whole = {FactorSplit(), FactorSplit()};
  dist::MeshAxesAttr two = mesh({{"t", 2}, {"u", 2}});
  EXPECT_EQ(projectToFactors(layout("[{\"t\"}, {\"u\"}]"), {{0}, {1}}, factors,
                             two, "#4", whole),
            "factor 0 is split by {} elsewhere and by {\"t\"} in #4");
  whole = {FactorSplit(), FactorSplit()};
  EXPECT_EQ(projectToFactors(layout("[{\"t\"}, {\"u\"}]"), {{0}, {1}},
                             {{8}, {3}}, two, "#5", whole),
            "axis \"u\" of size 2 does not divide what is left (3) of dim 1 of "
            "#5");
  EXPECT_EQ(projectToFactors(layout("[{\"t\"}]"), {{1, 1}}, {{3}, {3}}, axes,
                             "#3", splits),
            "axis \"t\" of size 2 does not divide what is left (3) of dim 0 of "
            "#3");
}

/// Storage positions of the device whose digits along axes are `digits`.
std::vector<int64_t> positionsOf(ArrayRef<dist::AxisAttr> axes, int64_t extent,
                                 const std::map<std::string, int64_t> &digits,
                                 dist::MeshAxesAttr mesh) {
  int64_t parts = 1, mine = 0;
  for (dist::AxisAttr axis : axes) {
    parts *= axis.getSize(mesh);
    mine = mine * axis.getSize(mesh) + digits.at(axis.getName().str());
  }
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < extent / parts; ++i)
    positions.push_back(mine * (extent / parts) + i);
  return positions;
}

TEST_F(FactorSplitsOn, RandomDimsKeepElementsAndDevices) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  dist::MeshAxesAttr axes = mesh({{"a", 2}, {"b", 3}, {"c", 2}});
  int poured = 0;
  for (int round = 0; round < 4000; ++round) {
    SmallVector<Atom> atoms;
    SmallVector<int64_t> sizes;
    int64_t size = 1;
    for (int64_t i = pick(1, 3); i > 0; --i) {
      int64_t part = pick(1, 6);
      atoms.push_back({part, part + (part > 1 ? pick(0, part - 1) / 2 : 0)});
      size *= part;
    }
    for (int64_t left = size; left > 1;) {
      int64_t factor = pick(2, left);
      if (left % factor)
        continue;
      sizes.push_back(factor);
      left /= factor;
    }
    SmallVector<dist::AxisAttr> list;
    for (StringAttr name : axes.getNames())
      if (pick(0, 1))
        list.push_back(dist::AxisAttr::get(&context, name.getValue()));
    std::shuffle(list.begin(), list.end(), random);
    SmallVector<int64_t> atomSizes, extents;
    if (Atoms canonical = canonicalAtoms(atoms); !canonical.empty())
      for (const Atom &atom : canonical) {
        atomSizes.push_back(atom.size);
        extents.push_back(atom.extent);
      }
    if (atomSizes.size() == 1)
      atomSizes.clear();
    auto dim =
        dist::DimAttr::get(&context, list, false, -1, atomSizes, extents);
    SmallVector<FactorSplit> splits;
    if (!projectDim(dim, sizes, axes, splits).empty())
      continue;
    ++poured;
    // Elements stand where the dim has them.
    SmallVector<Atom> all;
    int64_t extent = 1;
    for (auto [split, factor] : llvm::zip(splits, sizes)) {
      extent *= split.getExtent(factor);
      if (split.isPadded())
        llvm::append_range(all, split.atoms);
      else
        all.push_back({factor, factor});
    }
    ASSERT_EQ(elementsOf(all), elementsOf(atoms));
    // Each device's positions are the product of those of the factors.
    for (int64_t device = 0; device < 12; ++device) {
      std::map<std::string, int64_t> digits = {
          {"a", device / 6}, {"b", device / 2 % 3}, {"c", device % 2}};
      std::vector<int64_t> product = {0};
      for (auto [split, factor] : llvm::zip(splits, sizes)) {
        std::vector<int64_t> next;
        int64_t stored = split.getExtent(factor);
        for (int64_t major : product)
          for (int64_t minor : positionsOf(split.axes, stored, digits, axes))
            next.push_back(major * stored + minor);
        product = std::move(next);
      }
      ASSERT_EQ(product, positionsOf(list, extent, digits, axes));
    }
    EXPECT_EQ(assembleDim(&context, splits, sizes, axes), dim);
  }
  // All that fit: a cutter that refuses more than it must shows here.
  EXPECT_GE(poured, 1300);
}

} // namespace
