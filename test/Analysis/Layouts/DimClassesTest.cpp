//===- DimClassesTest.cpp - Dims that hang together, as atoms -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/DimClasses.h"
#include "gtest/gtest.h"
#include <random>

using namespace llmc;

namespace {

/// Atoms as "6 | 64" with "|" where phase 1 needs the boundary, else ":".
std::string show(const DimClasses &classes, int dim) {
  std::string text;
  DimClasses::ClassAtoms atoms = classes.getAtoms(dim);
  for (size_t i = 0; i < atoms.size(); ++i) {
    text += std::to_string(atoms[i].size);
    if (i + 1 < atoms.size())
      text += atoms[i].boundary & 1 ? " | " : " : ";
  }
  return text;
}

TEST(DimClasses, AReshapeCutsTheWholeClass) {
  DimClasses classes;
  int flat = classes.addDim(384), heads = classes.addDim(6);
  int width = classes.addDim(64), weight = classes.addDim(384);
  int other = classes.addDim(384);
  EXPECT_TRUE(classes.tie({{flat, 384, 1}, {weight, 384, 1}}, 1));
  EXPECT_TRUE(classes.tie({{flat, 6, 64}, {heads, 6, 1}}, 1));
  EXPECT_TRUE(classes.tie({{flat, 64, 1}, {width, 64, 1}}, 1));
  EXPECT_EQ(show(classes, flat), "6 | 64");
  EXPECT_EQ(show(classes, weight), "6 | 64");
  EXPECT_EQ(show(classes, other), "384");
  EXPECT_EQ(classes.getAtoms(weight)[0].id, classes.getAtoms(heads)[0].id);
  EXPECT_EQ(classes.getAtoms(weight)[1].id, classes.getAtoms(width)[0].id);
  // Tied later, and in another phase: phase 1 needs the boundary none the less.
  EXPECT_TRUE(classes.tie({{other, 384, 1}, {flat, 384, 1}}, 2));
  EXPECT_EQ(show(classes, other), "6 | 64");
}

TEST(DimClasses, BoundariesMustBeAChainOfDivisors) {
  DimClasses classes;
  int flat = classes.addDim(384), six = classes.addDim(6);
  int eight = classes.addDim(8), two = classes.addDim(2);
  EXPECT_TRUE(classes.tie({{flat, 6, 64}, {six, 6, 1}}, 1));
  EXPECT_FALSE(classes.tie({{flat, 8, 48}, {eight, 8, 1}}, 1));
  // 96 elements are one and a half of 64.
  int four = classes.addDim(4);
  EXPECT_FALSE(classes.tie({{flat, 4, 96}, {four, 4, 1}}, 1));
  EXPECT_TRUE(classes.tie({{flat, 2, 192}, {two, 2, 1}}, 2));
  EXPECT_EQ(show(classes, flat), "2 : 3 | 64");
  EXPECT_EQ(show(classes, six), "2 : 3");
}

TEST(DimClasses, DimsThatAreCutOtherwiseAreNotTied) {
  DimClasses classes;
  int a = classes.addDim(6), b = classes.addDim(6);
  int two = classes.addDim(2), three = classes.addDim(3);
  EXPECT_TRUE(classes.tie({{a, 2, 1}, {two, 2, 1}}, 1));
  EXPECT_TRUE(classes.tie({{b, 3, 1}, {three, 3, 1}}, 1));
  EXPECT_EQ(show(classes, a), "3 | 2");
  EXPECT_EQ(show(classes, b), "2 | 3");
  EXPECT_FALSE(classes.tie({{a, 6, 1}, {b, 6, 1}}, 1));
  EXPECT_FALSE(classes.tie({{b, 6, 1}, {a, 6, 1}}, 1));
  // Of parts of several sizes, either way.
  int twelve = classes.addDim(12), four = classes.addDim(4);
  EXPECT_FALSE(classes.tie({{twelve, 12, 1}, {four, 4, 1}}, 1));
  EXPECT_FALSE(classes.tie({{four, 4, 1}, {twelve, 12, 1}}, 1));
  // The major part can be cut where the minor one was.
  int c = classes.addDim(24), d = classes.addDim(24);
  EXPECT_TRUE(classes.tie({{c, 2, 1}, {two, 2, 1}}, 1));
  EXPECT_TRUE(classes.tie({{d, 4, 1}, {four, 4, 1}}, 1));
  EXPECT_TRUE(classes.tie({{c, 24, 1}, {d, 24, 1}}, 1));
  EXPECT_EQ(show(classes, c), "6 | 2 | 2");
  EXPECT_EQ(show(classes, d), "6 | 2 | 2");
  // A boundary in the major part that is none.
  int six = classes.addDim(6), e = classes.addDim(24);
  EXPECT_TRUE(classes.tie({{e, 6, 1}, {six, 6, 1}}, 1));
  EXPECT_FALSE(classes.tie({{e, 24, 1}, {c, 24, 1}, {d, 24, 1}}, 1));
}

/// Any chain of cuts of random ties: atoms multiply to the size, and parts that
/// were tied have the same atoms.
TEST(DimClasses, RandomTiesHold) {
  std::mt19937 random(3);
  size_t tied = 0;
  for (int round = 0; round < 300; ++round) {
    DimClasses classes;
    const int64_t sizes[] = {64, 32, 128, 16};
    std::vector<int64_t> dims;
    for (int i = 0; i < 6; ++i) {
      dims.push_back(sizes[random() % 4]);
      classes.addDim(dims.back());
    }
    std::vector<std::pair<DimClasses::Part, DimClasses::Part>> ties;
    for (int i = 0; i < 8; ++i) {
      int a = random() % 6, b = random() % 6;
      int64_t size = int64_t(2) << random() % 4;
      auto minor = [&](int d) {
        int64_t rest = dims[d] / size;
        return rest ? int64_t(1) << random() % (llvm::Log2_64(rest) + 1) : 0;
      };
      DimClasses::Part pa{a, size, minor(a)}, pb{b, size, minor(b)};
      if (a == b || !pa.minor || !pb.minor)
        continue;
      // A class tied to a shifted copy of itself is refused.
      if (classes.tie({pa, pb}, 1))
        ties.push_back({pa, pb});
    }
    auto idsOf = [&](const DimClasses::Part &part) {
      std::vector<int> ids;
      int64_t minor = 1;
      auto atoms = classes.getAtoms(part.dim);
      for (auto &atom : llvm::reverse(atoms)) {
        if (minor >= part.minor && minor < part.minor * part.size)
          ids.push_back(atom.id);
        minor *= atom.size;
      }
      EXPECT_EQ(minor, dims[part.dim]);
      return ids;
    };
    for (auto &[a, b] : ties)
      ASSERT_EQ(idsOf(a), idsOf(b));
    tied += ties.size();
  }
  EXPECT_GT(tied, 1000u);
}

} // namespace
