//===- LayoutPropagationTest.cpp - Axes spread from values to values ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small graphs by hand, then random ones: where no list met another one, every
// rule sees its factors split alike.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/LayoutPropagation.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace llmc;
using namespace llmc::graph;

namespace {

enum : int8_t { data, tensor };

class Spread : public ::testing::Test {
protected:
  int value(ArrayRef<int64_t> shape) { return add(shape, {}, Seed::None); }
  int add(ArrayRef<int64_t> shape, std::vector<AxisList> dims, Seed seed,
          SmallVector<int64_t, 2> priorities = {}) {
    LayoutVariable variable;
    variable.priorities = priorities;
    variable.shape.assign(shape.begin(), shape.end());
    variable.bytes = 4;
    for (int64_t size : shape)
      variable.bytes *= size;
    variable.dims.assign(dims.begin(), dims.end());
    variable.seed = seed;
    if (seed != Seed::None)
      variable.closed = ~uint64_t(0);
    return engine.addVariable(std::move(variable));
  }
  int dot(int a, int b) {
    int64_t m = shape(a)[0], k = shape(a)[1], n = shape(b)[1];
    LayoutRelation relation;
    int fm = relation.rule.addFactor(m), fn = relation.rule.addFactor(n);
    int fk = relation.rule.addFactor(k, FactorKind::Reduced);
    relation.rule.operands = {{{fm}, {fk}}, {{fk}, {fn}}};
    relation.rule.results = {{{fm}, {fn}}};
    return relate(std::move(relation), {a, b}, {m, n});
  }
  int sum(int a, int b) {
    LayoutRelation relation;
    TensorFactors factors;
    for (int64_t size : shape(a))
      factors.push_back({relation.rule.addFactor(size)});
    relation.rule.operands = {factors, factors};
    relation.rule.results = {factors};
    SmallVector<int64_t> size(shape(a));
    return relate(std::move(relation), {a, b}, size);
  }
  /// [b, 384] -> [b, 6, 64]
  int split(int a, int64_t major) {
    int64_t b = shape(a)[0], n = shape(a)[1];
    LayoutRelation relation;
    int fb = relation.rule.addFactor(b), fm = relation.rule.addFactor(major);
    int fn = relation.rule.addFactor(n / major);
    relation.rule.operands = {{{fb}, {fm, fn}}};
    relation.rule.results = {{{fb}, {fm}, {fn}}};
    return relate(std::move(relation), {a}, {b, major, n / major});
  }
  int relate(LayoutRelation relation, ArrayRef<int> operands,
             ArrayRef<int64_t> result) {
    relation.operands.assign(operands.begin(), operands.end());
    relation.phase = phase;
    int made = value(result);
    relation.results = {made};
    relations.push_back(relation);
    engine.addRelation(std::move(relation));
    return made;
  }
  ArrayRef<int64_t> shape(int v) { return engine.getVariable(v).shape; }
  /// "{0} {1}"
  std::string show(int v) {
    std::string text;
    for (const AxisList &list : engine.getVariable(v).dims) {
      text += text.empty() ? "{" : " {";
      for (int8_t axis : list)
        text += std::to_string(axis);
      text += "}";
    }
    return text;
  }

  /// [b, 6, 64] -> [b, 384]
  int merge(int a) {
    int64_t b = shape(a)[0], m = shape(a)[1], n = shape(a)[2];
    LayoutRelation relation;
    int fb = relation.rule.addFactor(b), fm = relation.rule.addFactor(m);
    int fn = relation.rule.addFactor(n);
    relation.rule.operands = {{{fb}, {fm}, {fn}}};
    relation.rule.results = {{{fb}, {fm, fn}}};
    return relate(std::move(relation), {a}, {b, m * n});
  }

  LayoutPropagation engine{{2, 4}};
  uint8_t phase = 0;
  std::vector<LayoutRelation> relations;
};

TEST_F(Spread, ColumnsThenRows) {
  int x = add({8, 16}, {{data}, {}}, Seed::Input);
  int w1 = add({16, 64}, {{}, {tensor}}, Seed::State);
  int w2 = add({64, 16}, {{tensor}, {}}, Seed::State);
  int h = dot(x, w1), u = sum(h, h), y = dot(u, w2);
  int open = value({16, 16}), z = dot(y, open);
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(h), "{0} {1}");
  EXPECT_EQ(show(u), "{0} {1}");
  EXPECT_EQ(show(y), "{0} {}");
  EXPECT_EQ(show(z), "{0} {}");
  EXPECT_EQ(show(open), "{} {}");
  EXPECT_TRUE(engine.findConflicts().empty());
}

TEST_F(Spread, WhatIsNoVariableHasNoPart) {
  for (bool isFirst : {true, false}) {
    int a = add({8, 16}, {{data}, {}}, Seed::Input), b = value({8, 16});
    LayoutRelation relation;
    int f = relation.rule.addFactor(8), g = relation.rule.addFactor(16);
    TensorFactors factors = {{f}, {g}};
    relation.rule.operands = relation.rule.results = {factors, factors};
    relation.operands = {-1, a};
    relation.results = {-1, b};
    if (!isFirst) {
      std::swap(relation.operands[0], relation.operands[1]);
      std::swap(relation.results[0], relation.results[1]);
    }
    engine.addRelation(std::move(relation));
    ASSERT_FALSE(engine.solve());
    EXPECT_EQ(show(b), "{0} {}");
    EXPECT_TRUE(engine.findConflicts().empty());
    engine = LayoutPropagation({2, 4});
  }
}

TEST_F(Spread, ReducedFactorsComeLast) {
  int x = value({8, 64});
  int w = add({64, 16}, {{tensor}, {}}, Seed::State);
  dot(x, w);
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(x), "{} {1}");
}

TEST_F(Spread, StatesPrevailOverConstraintsInContractions) {
  // Sequence parallel: rows of x by tensor, columns of w by tensor.
  int x = add({8, 16}, {{tensor}, {}}, Seed::Constraint);
  int w = add({16, 64}, {{}, {tensor}}, Seed::State);
  int n = sum(x, x), y = dot(n, w);
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(n), "{1} {}");
  EXPECT_EQ(show(y), "{} {1}");
}

TEST_F(Spread, TheLargerTensorWins) {
  int a = add({8, 16}, {{data}, {}}, Seed::Input);
  int b = add({8, 16}, {{tensor}, {}}, Seed::Input);
  int big = add({8, 64}, {{tensor}, {}}, Seed::Input);
  int y = sum(a, b);
  LayoutRelation relation;
  int fb = relation.rule.addFactor(8), f1 = relation.rule.addFactor(16);
  int f2 = relation.rule.addFactor(64);
  relation.rule.operands = {{{fb}, {f1}}, {{fb}, {f2}}};
  relation.rule.results = {{{fb}, {f1}, {f2}}};
  int z = relate(std::move(relation), {a, big}, {8, 16, 64});
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(y), "{0} {}");
  EXPECT_EQ(show(z), "{1} {} {}");
  ASSERT_EQ(engine.findConflicts().size(), 2u);
  const LayoutConflict first = engine.findConflicts()[0];
  EXPECT_EQ(first.kept, AxisList{data});
  EXPECT_EQ(first.other, AxisList{tensor});
  EXPECT_EQ(first.otherOrigin, -1);
}

TEST_F(Spread, HeadsArePaddedThroughReshapes) {
  int x = value({8, 16});
  int w = add({16, 384}, {{}, {tensor}}, Seed::State);
  int q = dot(x, w), heads = split(q, 6);
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(heads), "{} {1} {}");
  EXPECT_EQ(engine.getStored(heads, 1), (Atoms{{6, 8}}));
  EXPECT_EQ(engine.getStored(w, 1), (Atoms{{384, 512}}));
}

TEST_F(Spread, WhatCannotBeStoredIsRefused) {
  int x = value({8, 16});
  int w = add({16, 128}, {{}, {tensor}}, Seed::State);
  int q = dot(x, w);
  split(q, 2);
  auto fault = engine.solve();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->variable, w);
  EXPECT_EQ(fault->reason, "pads 2 to 4");
}

/// Three thirds for two and for three devices would be six. Of several that ask
/// for it, the first that is given is named.
TEST_F(Spread, WhatCannotBeStoredTogetherIsRefused) {
  engine = LayoutPropagation({2, 3});
  int x = value({3, 4});
  int u = add({3, 4}, {{0}, {}}, Seed::State);
  int v = add({3, 4}, {{0}, {}}, Seed::State);
  int w = add({3, 4}, {{1}, {}}, Seed::State);
  sum(x, u);
  sum(u, v);
  sum(v, w);
  auto fault = engine.solve();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->variable, u);
  EXPECT_EQ(fault->dim, 0);
  EXPECT_EQ(fault->reason, "pads 3 to 6");
}

/// Equal rules are kept once; what is whole in one relation passes in another.
TEST_F(Spread, AFactorIsOpaqueInOneRelationAlone) {
  int a = value({4, 384}), b = value({4, 384});
  split(a, 6);
  split(a, 8);
  split(b, 8);
  ASSERT_FALSE(engine.solve());
  ASSERT_FALSE(engine.getOpaque().empty());
  for (auto [relation, factor] : engine.getOpaque()) {
    EXPECT_EQ(relation, 1);
    EXPECT_EQ(engine.getRule(1).factors[factor].kind, FactorKind::Whole);
    EXPECT_EQ(engine.getRule(2).factors[factor].kind, FactorKind::Pass);
  }
  EXPECT_EQ(engine.getRule(2), relations[2].rule);
}

TEST_F(Spread, UpdatesFollowOptimizerStatesAndChangeNothingBefore) {
  int p = add({64, 16}, {{tensor}, {}}, Seed::State);
  int used = sum(p, p);
  phase = 1;
  int m = add({64, 16}, {{tensor, data}, {}}, Seed::State);
  int moved = sum(m, used), next = sum(p, moved);
  // No prefix of one another: the optimizer state's holds.
  int other = add({64, 16}, {{data}, {}}, Seed::State);
  int body = sum(used, other), end = sum(p, body);
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(used), "{1} {}");
  EXPECT_EQ(show(moved), "{10} {}");
  EXPECT_EQ(show(next), "{10} {}");
  EXPECT_EQ(show(body), "{0} {}");
  EXPECT_EQ(show(end), "{0} {}");
}

/// A factor's lists are equal, but where one may not grow: its dim is given, or
/// the next axis already splits the tensor.
TEST_F(Spread, PrioritiesAreRounds) {
  int w = add({8, 8}, {{data}, {}}, Seed::State, {1, 0});
  int x = add({8, 8}, {{}, {data}}, Seed::Input);
  int y = sum(w, x), late = sum(w, w);
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(w), "{0} {}");
  EXPECT_EQ(show(y), "{} {0}");
  EXPECT_EQ(show(late), "{0} {}");
}

// Rows of optimizer states have rounds of their own in the update.
TEST_F(Spread, PrioritiesOrderEachPhase) {
  int g = add({8, 8}, {{}, {tensor}}, Seed::Input, {0, 1});
  int forward = sum(g, g);
  phase = 1;
  int m = add({8, 8}, {{data}, {}}, Seed::State, {2, 0});
  int n = add({8, 8}, {{}, {data}}, Seed::State, {0, 1});
  int update = sum(m, n);
  ASSERT_FALSE(engine.solve());
  EXPECT_EQ(show(forward), "{} {1}");
  EXPECT_EQ(show(m), "{0} {}");
  EXPECT_EQ(show(update), "{} {0}");
}

bool isCompatible(ArrayRef<int8_t> a, ArrayRef<int8_t> b) {
  size_t common = std::min(a.size(), b.size());
  return a.take_front(common) == b.take_front(common);
}

// In every second graph some dims wait for their rounds.
TEST_F(Spread, RandomGraphsComeToRest) {
  std::mt19937 random(5);
  size_t equal = 0, held = 0;
  for (int round = 0; round < 400; ++round) {
    engine = LayoutPropagation({2, 4});
    std::vector<int> values;
    std::vector<std::vector<std::pair<int, int>>> factors;
    std::vector<SmallVector<AxisList, 2>> given;
    for (int i = 0; i < 4; ++i) {
      std::vector<AxisList> dims(2);
      if (random() % 2)
        dims[random() % 2] = {int8_t(random() % 2)};
      SmallVector<int64_t, 2> priorities;
      if (round % 2)
        priorities = {int64_t(random() % 3), int64_t(random() % 3)};
      values.push_back(random() % 2
                           ? add({32, 32}, dims, Seed::State, priorities)
                           : value({32, 32}));
      given.push_back(engine.getVariable(values.back()).dims);
    }
    for (int i = 0; i < 10; ++i) {
      int a = values[random() % values.size()];
      int b = values[random() % values.size()];
      bool isDot = random() % 2;
      int c = isDot ? dot(a, b) : sum(a, b);
      values.push_back(c);
      if (isDot)
        factors.insert(factors.end(),
                       {{{a, 0}, {c, 0}}, {{b, 1}, {c, 1}}, {{a, 1}, {b, 0}}});
      else
        for (int d = 0; d < 2; ++d)
          factors.push_back({{a, d}, {b, d}, {c, d}});
    }
    ASSERT_FALSE(engine.solve());
    for (size_t v = 0; v < given.size(); ++v)
      if (engine.getVariable(values[v]).closed)
        EXPECT_EQ(engine.getVariable(values[v]).dims, given[v]);
    // Every axis has a way back to where it was given.
    for (int v : values)
      for (int8_t axis : {0, 1})
        if (engine.getVariable(v).axes >> axis & 1)
          EXPECT_NE(engine.getVariable(engine.findGiver(v, axis)).seed,
                    Seed::None);
    auto listOf = [&](std::pair<int, int> place) -> const AxisList & {
      return engine.getVariable(place.first).dims[place.second];
    };
    for (auto &places : factors)
      for (auto &from : places)
        for (auto &to : places) {
          const AxisList &longer = listOf(from), &shorter = listOf(to);
          bool isPrefix = ArrayRef<int8_t>(longer).take_front(shorter.size()) ==
                          ArrayRef<int8_t>(shorter);
          if (longer.size() <= shorter.size() || !isPrefix) {
            equal += longer == shorter && !longer.empty();
            continue;
          }
          const LayoutVariable &variable = engine.getVariable(to.first);
          bool mayNot = variable.closed != 0;
          for (const AxisList &list : variable.dims)
            mayNot |= llvm::is_contained(list, longer[shorter.size()]);
          // What is admitted late may find that the list which the op prefers
          // is another one.
          for (auto &other : places)
            mayNot |= round % 2 && !isCompatible(listOf(other), longer);
          EXPECT_TRUE(mayNot);
          ++held;
        }
  }
  EXPECT_GT(equal, 1000u);
  EXPECT_GT(held, 100u);
}

/// Random graphs on a mesh of 2 x 4 x 3, and the storage of their values.
class Storage : public Spread {
protected:
  Storage() {
    context.loadDialect<dist::DistDialect>();
    for (const char *name : {"a", "b", "c"})
      names.push_back(mlir::StringAttr::get(&context, name));
    mesh = dist::MeshAxesAttr::get(&context, names, sizes);
  }

  void addInputs();
  void addOp();
  dist::DimAttr dimOf(int v, int d);
  void compareFactors(const LayoutRelation &relation);

  const int64_t sizes[3] = {2, 4, 3};
  mlir::MLIRContext context;
  SmallVector<mlir::StringAttr> names;
  dist::MeshAxesAttr mesh;
  std::mt19937 random{23};
  std::vector<int> flat, cube;
  size_t padded = 0, alike = 0;
};

void Storage::addInputs() {
  for (int i = 0; i < 3; ++i) {
    std::vector<AxisList> dims(2);
    for (int8_t axis = 0; axis < 3; ++axis)
      if (random() % 3 == 0)
        dims[random() % 2].push_back(axis);
    flat.push_back(random() % 2 ? add({18, 18}, dims, Seed::State)
                                : value({18, 18}));
  }
}

void Storage::addOp() {
  auto pick = [&](std::vector<int> &from) {
    return from[random() % from.size()];
  };
  switch (random() % 5) {
  case 0:
    flat.push_back(dot(pick(flat), pick(flat)));
    break;
  case 1:
    cube.push_back(split(pick(flat), 6));
    break;
  case 2:
    if (!cube.empty())
      flat.push_back(merge(pick(cube)));
    break;
  case 3:
    if (!cube.empty())
      cube.push_back(sum(pick(cube), pick(cube)));
    break;
  default:
    flat.push_back(sum(pick(flat), pick(flat)));
  }
}

dist::DimAttr Storage::dimOf(int v, int d) {
  FactorSplit split;
  for (int8_t axis : engine.getVariable(v).dims[d])
    split.axes.push_back(dist::AxisAttr::get(&context, names[axis].getValue()));
  split.atoms = engine.getStored(v, d);
  padded += split.isPadded();
  return assembleDim(&context, {split}, {shape(v)[d]}, mesh);
}

/// Each factor has one list and one extent in all tensors that split it alike.
void Storage::compareFactors(const LayoutRelation &relation) {
  FactorSplits known(relation.rule.factors.size());
  auto visit = [&](ArrayRef<int> numbers, ArrayRef<TensorFactors> tensors) {
    for (auto [v, tensor] : llvm::zip(numbers, tensors))
      for (auto [d, factors] : llvm::enumerate(tensor)) {
        SmallVector<int64_t> parts;
        for (int factor : factors)
          parts.push_back(relation.rule.factors[factor].size);
        SmallVector<FactorSplit> splits;
        if (!projectDim(dimOf(v, d), parts, mesh, splits).empty())
          continue;
        for (auto [factor, split] : llvm::zip(factors, splits)) {
          if (known[factor] && known[factor]->axes == split.axes) {
            ASSERT_TRUE(known[factor]->atoms == split.atoms);
            alike += !split.isWhole();
          }
          known[factor] = split;
        }
      }
  };
  visit(relation.operands, relation.rule.operands);
  visit(relation.results, relation.rule.results);
}

/// Where an op's tensors are split alike, they are stored alike (E1 of
/// docs/layout-algebra.md, section 3).
TEST_F(Storage, RandomStorageIsOneForEachFactor) {
  size_t solved = 0;
  for (int round = 0; round < 1500; ++round) {
    engine = LayoutPropagation(sizes);
    relations.clear();
    flat.clear();
    cube.clear();
    phase = 0;
    addInputs();
    for (int i = 0; i < 8; ++i) {
      phase = i >= 6;
      addOp();
    }
    if (engine.solve())
      continue;
    ++solved;
    for (const LayoutRelation &relation : relations)
      compareFactors(relation);
  }
  EXPECT_GT(solved, 500u);
  EXPECT_GT(padded, 500u);
  EXPECT_GT(alike, 1000u);
}

/// An op is visited when a list at it has changed, so that twice the blocks are
/// twice the visits.
TEST_F(Spread, VisitsGrowWithOps) {
  auto count = [&](int blocks) {
    engine = LayoutPropagation({2, 4});
    int x = add({8, 16}, {{data}, {}}, Seed::Input);
    for (int i = 0; i < blocks; ++i) {
      int up = add({16, 64}, {{}, {tensor}}, Seed::State);
      int down = add({64, 16}, {{tensor}, {}}, Seed::State);
      int h = dot(x, up);
      x = sum(x, dot(sum(h, h), down));
    }
    EXPECT_FALSE(engine.solve());
    EXPECT_EQ(show(x), "{0} {}");
    return engine.getNumVisits();
  };
  int64_t few = count(100), many = count(400);
  EXPECT_LT(many, 5 * few);
  EXPECT_LT(many, 400 * 4 * 40);
}

} // namespace
