//===- ReductionPlacementTest.cpp - Where partial values are reduced ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of up to 11 values against every choice of partial values,
// then the programs of docs/layout-algebra.md, section 6, and of the
// walkthrough.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Reshard/ReductionPlacement.h"

#include "gtest/gtest.h"

#include <map>
#include <random>
#include <set>
#include <string>

using namespace llmc;

namespace {

//===----------------------------------------------------------------------===//
// All choices
//===----------------------------------------------------------------------===//

/// What is moved for the ops that carry partial operands into `chosen`.
int64_t costOfMoves(const PlacementProblem &problem, const PlacementFlow &flow,
                    uint32_t chosen) {
  std::set<int32_t> moved;
  for (size_t i = 0; i < problem.ops.size(); ++i)
    if (const PlacementProblem::Op &op = problem.ops[i];
        flow.groups[i] >= 0 && (chosen >> op.results.front() & 1)) {
      const std::vector<int32_t> &moves = op.moves[flow.groups[i]];
      moved.insert(moves.begin(), moves.end());
    }
  int64_t cost = 0;
  for (int32_t move : moved)
    cost += problem.moves[move];
  return cost;
}

/// What it costs that exactly the values of `chosen` are partial, or -1 where
/// that is not possible.
int64_t costOf(const PlacementProblem &problem, const PlacementFlow &flow,
               uint32_t chosen) {
  std::map<std::pair<int32_t, int32_t>, int64_t> cuts;
  int64_t cost = costOfMoves(problem, flow, chosen);
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    const PlacementProblem::Op &op = problem.ops[i];
    uint32_t results = 0;
    for (int32_t result : op.results)
      results |= 1u << result;
    if ((chosen & results) != 0 && (chosen & results) != results)
      return -1;
    if (op.isSource && (chosen & results) != results) {
      if (op.whole < 0)
        return -1;
      cost += op.whole;
    }
    for (size_t use = 0; use < op.uses.size(); ++use) {
      auto [value, layout] = op.uses[use];
      if (value < 0 || !(chosen >> value & 1))
        continue;
      bool reads = isCarried(problem, flow, i, use) && (chosen & results);
      if (!reads)
        cuts[{value, layout}] = problem.values[value].prices[layout];
    }
  }
  for (auto &[key, price] : cuts)
    cost += price;
  return cost;
}

/// The least cost where ops carry the groups of `flow`, and the smallest set of
/// partial values that has it.
std::pair<int64_t, uint32_t> findBest(const PlacementProblem &problem,
                                      const PlacementFlow &flow) {
  int64_t best = -1;
  uint32_t bestSet = 0;
  for (uint32_t chosen = 0; chosen < 1u << problem.values.size(); ++chosen) {
    bool inMay = true;
    for (size_t v = 0; v < problem.values.size(); ++v)
      inMay &= !(chosen >> v & 1) || flow.mayBePartial[v];
    int64_t cost = inMay ? costOf(problem, flow, chosen) : -1;
    if (cost < 0)
      continue;
    if (best < 0 || cost < best ||
        (cost == best &&
         __builtin_popcount(chosen) < __builtin_popcount(bestSet))) {
      best = cost;
      bestSet = chosen;
    }
  }
  return {best, bestSet};
}

void expectBest(const PlacementProblem &problem) {
  PlacementFlow flow = findPartialFlow(problem);
  ReductionPlacement placement = placeReductions(problem);
  EXPECT_LE(placement.cost, findBest(problem, flow).first);
  flow.groups = placement.groups;
  auto [best, bestSet] = findBest(problem, flow);
  uint32_t found = 0;
  for (size_t v = 0; v < problem.values.size(); ++v)
    found |= uint32_t(placement.isPartial[v]) << v;
  EXPECT_EQ(placement.cost, best);
  EXPECT_EQ(found, bestSet);
  int64_t cutCost = costOfMoves(problem, flow, bestSet);
  for (int32_t op : placement.wholes)
    cutCost += problem.ops[op].whole;
  for (auto [value, layout] : placement.cuts)
    cutCost += problem.values[value].prices[layout];
  EXPECT_EQ(cutCost, best);
}

PlacementProblem randomProblem(std::mt19937 &random) {
  auto below = [&](int n) { return int(random() % n); };
  PlacementProblem problem;
  int numValues = 2 + below(10);
  for (int m = below(3); m > 0; --m)
    problem.moves.push_back(below(5));
  while (int(problem.values.size()) < numValues) {
    int32_t defined = int32_t(problem.values.size());
    PlacementProblem::Op op;
    int numUses = defined ? below(4) : 0;
    for (int i = 0; i < numUses; ++i) {
      int32_t value = below(6) ? below(defined) : -1;
      op.uses.push_back(
          {value,
           value < 0 ? 0 : below(int(problem.values[value].prices.size()))});
    }
    for (int g = below(3); g > 0 && numUses; --g) {
      std::vector<int32_t> group;
      for (int i = 0; i < numUses; ++i)
        if (below(2))
          group.push_back(i);
      op.groups.push_back(group);
      op.moves.emplace_back();
      for (int32_t m = 0; m < int32_t(problem.moves.size()); ++m)
        if (below(3) == 0)
          op.moves.back().push_back(m);
    }
    op.isSource = below(3) == 0;
    if (below(3) == 0)
      op.whole = below(7);
    for (int r = below(8) ? 1 : 2; r > 0 && defined < numValues; --r) {
      op.results.push_back(defined++);
      PlacementProblem::Value value;
      for (int l = 1 + below(2); l > 0; --l)
        value.prices.push_back(below(7));
      problem.values.push_back(value);
    }
    problem.ops.push_back(op);
  }
  // Some values leave the program.
  for (int32_t v = 0; v < int32_t(problem.values.size()); ++v)
    if (below(3) == 0)
      problem.ops.push_back({{{v, 0}}, {}, {}});
  return problem;
}

TEST(ReductionPlacement, EqualsTheBestOfAllChoices) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000 && !::testing::Test::HasFailure(); ++i)
    expectBest(randomProblem(random));
}

//===----------------------------------------------------------------------===//
// Programs by name
//===----------------------------------------------------------------------===//

/// Values by name; every use of a value wants one layout unless told otherwise.
class Program {
public:
  using Groups = std::vector<std::vector<int32_t>>;

  /// An op with one result. `operands`: names, `name/1` wants the second
  /// layout, unknown names are full values.
  void add(const std::string &name, std::vector<int64_t> prices,
           const std::vector<std::string> &operands, Groups groups,
           bool isSource = false) {
    PlacementProblem::Op op{usesOf(operands), std::move(groups), {}, isSource};
    auto value = int32_t(problem.values.size());
    op.results = {value};
    problem.values.push_back({std::move(prices)});
    problem.ops.push_back(std::move(op));
    numbers[name] = value;
    names.push_back(name);
  }
  void source(const std::string &name, int64_t price,
              const std::vector<std::string> &operands = {}) {
    add(name, {price}, operands, {}, true);
  }
  /// Linear in one operand, in all together, or in none.
  void linear(const std::string &name, int64_t price,
              const std::vector<std::string> &operands) {
    Groups groups(1);
    for (size_t i = 0; i < operands.size(); ++i)
      groups[0].push_back(int32_t(i));
    add(name, {price}, operands, groups);
  }
  void product(const std::string &name, int64_t price,
               const std::vector<std::string> &operands) {
    add(name, {price}, operands, {{0}, {1}});
  }
  void other(const std::string &name, int64_t price,
             const std::vector<std::string> &operands) {
    add(name, {price}, operands, {});
  }
  void leave(const std::string &operand) {
    problem.ops.push_back({usesOf({operand}), {}, {}, false});
  }

  /// "cost: a b c": the values that are reduced.
  std::string place() {
    ReductionPlacement placement = placeReductions(problem);
    std::string text = std::to_string(placement.cost) + ":";
    for (auto [value, layout] : placement.cuts)
      text += " " + names[value] + (layout ? "/" + std::to_string(layout) : "");
    return text;
  }

  PlacementProblem problem;

private:
  std::vector<PlacementProblem::Use>
  usesOf(const std::vector<std::string> &operands) {
    std::vector<PlacementProblem::Use> uses;
    for (const std::string &operand : operands) {
      size_t slash = operand.find('/');
      auto found = numbers.find(operand.substr(0, slash));
      if (found == numbers.end())
        uses.push_back({});
      else
        uses.push_back({found->second, slash != std::string::npos});
    }
    return uses;
  }

  std::map<std::string, int32_t> numbers;
  std::vector<std::string> names;
};

//===----------------------------------------------------------------------===//
// A transformer block over tensor = 2
//===----------------------------------------------------------------------===//

/// Bytes of b, s, h = 8, 256, 384 in f32, and what 1 % more of them costs.
constexpr int64_t tokens = 8 * 256 * 4, hidden = tokens * 384;
int64_t reduced(int64_t bytes) { return bytes + bytes / 100; }
/// An all-reduce over two devices; half of it where the tokens get split.
int64_t full(int64_t bytes) { return reduced(bytes); }
int64_t half(int64_t bytes) { return bytes / 2 + bytes / 100; }

/// A norm's forward: `x` to `n`, which a split weight reads.
void addNorm(Program &p, const std::string &x, const std::string &i,
             int64_t price) {
  p.linear("mean" + i, reduced(tokens), {x});
  p.linear("xc" + i, price, {x, "mean" + i});
  p.product("sq" + i, price, {"xc" + i, "xc" + i});
  p.linear("var" + i, reduced(tokens), {"sq" + i});
  p.other("rstd" + i, reduced(tokens), {"var" + i});
  p.product("xh" + i, price, {"xc" + i, "rstd" + i});
  p.product("xg" + i, price, {"xh" + i, "g" + i});
  p.linear("n" + i, price, {"xg" + i, "e" + i});
}

/// A norm's backward: `dn` to `dx`, with de and dg that leave (after the
/// accumulation they are reduced once in a step).
void addNormGrad(Program &p, const std::string &dn, const std::string &i,
                 int64_t price, int64_t m) {
  auto leave = [&](const std::string &name) {
    p.linear("acc." + name, reduced(1536), {name});
    p.other("use." + name, 0, {"acc." + name});
  };
  p.linear("de" + i, reduced(1536) * m, {dn});
  p.product("dnxh" + i, price, {dn, "xh" + i});
  p.linear("dg" + i, reduced(1536) * m, {"dnxh" + i});
  leave("de" + i);
  leave("dg" + i);
  p.product("dxh" + i, price, {dn, "g" + i});
  p.product("dxhxh" + i, price, {"dxh" + i, "xh" + i});
  p.linear("s1" + i, reduced(tokens) * m, {"dxh" + i});
  p.linear("s2" + i, reduced(tokens) * m, {"dxhxh" + i});
  p.product("xhs" + i, price, {"xh" + i, "s2" + i});
  p.linear("d1" + i, price, {"dxh" + i, "s1" + i});
  p.linear("d2" + i, price, {"d1" + i, "xhs" + i});
  p.product("dx" + i, price, {"d2" + i, "rstd" + i});
}

/// Blocks one after the other, then their backwards; m microbatches.
Program transformer(int numBlocks, int64_t m) {
  Program p;
  int64_t price = full(hidden) * m;
  std::string x = "x0";
  for (int b = 0; b < numBlocks; ++b) {
    std::string i = std::to_string(b);
    addNorm(p, x, i + ".1", price);
    // Split by heads; a bias that is whole is kept on one coordinate.
    p.other("o" + i, 0, {"n" + i + ".1"});
    p.source("a" + i, price, {"o" + i, "Wp"});
    p.linear("ab" + i, price, {"a" + i, "bp"});
    p.linear("x1." + i, price, {x, "ab" + i});
    addNorm(p, "x1." + i, i + ".2", price);
    p.other("u" + i, 0, {"n" + i + ".2"});
    p.source("m" + i, price, {"u" + i, "W2"});
    p.linear("mb" + i, price, {"m" + i, "b2"});
    p.linear("x2." + i, price, {"x1." + i, "mb" + i});
    x = "x2." + i;
  }
  p.other("loss", 0, {x});
  std::string g = "G";
  for (int b = numBlocks; b-- > 0;) {
    std::string i = std::to_string(b);
    p.linear("db2" + i, reduced(1536), {g});
    p.other("df" + i, 0, {g});
    p.source("dn" + i + ".2", price, {"df" + i, "W1"});
    addNormGrad(p, "dn" + i + ".2", i + ".2", price, m);
    p.linear("G1." + i, price, {g, "dx" + i + ".2"});
    p.other("do" + i, 0, {"G1." + i});
    p.other("dWp" + i, 0, {"G1." + i});
    for (std::string part : {"q", "k", "v"})
      p.source("dn" + part + i, price, {"do" + i, "W" + part});
    p.linear("dnqk" + i, price, {"dnq" + i, "dnk" + i});
    p.linear("dn" + i + ".1", price, {"dnqk" + i, "dnv" + i});
    addNormGrad(p, "dn" + i + ".1", i + ".1", price, m);
    p.linear("G0." + i, price, {"G1." + i, "dx" + i + ".1"});
    g = "G0." + i;
  }
  p.other("demb", 0, {g});
  return p;
}

TEST(ReductionPlacement, ReducesFourTimesInABlock) {
  EXPECT_EQ(full(hidden), 3177185);
  EXPECT_EQ(transformer(1, 1).place(), "12708740: a0 m0 dn0.2 dn0.1");
  EXPECT_EQ(transformer(1, 4).place(), "50834960: a0 m0 dn0.2 dn0.1");
}

TEST(ReductionPlacement, NodesGrowWithTheBlocks) {
  auto nodes = [](int blocks) {
    ReductionPlacement p = placeReductions(transformer(blocks, 1).problem);
    EXPECT_EQ(p.cost, blocks * 4 * full(hidden));
    EXPECT_EQ(p.cuts.size(), size_t(blocks) * 4);
    return p.numNodes;
  };
  int64_t one = nodes(2) - nodes(1);
  for (int blocks = 3; blocks <= 24; ++blocks)
    EXPECT_EQ(nodes(blocks), nodes(1) + (blocks - 1) * one);
}

/// The residual's tokens split over the same axis: norms work on split tokens,
/// weights of the dots want whole ones.
TEST(ReductionPlacement, ScattersInsteadUnderSequenceParallelism) {
  Program p;
  p.source("a", half(hidden), {"o", "Wp"});
  // A split axis cannot pass through the add that joins the split residual.
  p.other("x1", 0, {"a", "x0"});
  p.source("m", half(hidden), {"u", "W2"});
  p.other("x2", 0, {"m", "x1"});
  for (std::string part : {"q", "k", "v"})
    p.source("dn" + part, half(hidden), {"d" + part});
  p.linear("dnqk", half(hidden), {"dnq", "dnk"});
  p.linear("dn1", half(hidden), {"dnqk", "dnv"});
  p.source("de1", 4 * reduced(1536), {"dn1"});
  p.linear("acc.de1", reduced(1536), {"de1"});
  p.other("update", 0, {"acc.de1"});
  p.other("dxh1", 0, {"dn1", "xh1"});
  EXPECT_EQ(p.place(), std::to_string(3 * half(hidden) + reduced(1536)) +
                           ": a m dn1 acc.de1");
}

TEST(ReductionPlacement, MakesTheEarlierFactorFull) {
  Program p;
  p.source("xh", 10);
  p.source("dn", 10);
  p.product("dnxh", 10, {"dn", "xh"});
  p.linear("dg", 1, {"dnxh"});
  p.leave("dg");
  EXPECT_EQ(p.place(), "11: xh dg");
}

/// Where the later factor is read full by another op as well, the earlier one
/// stays partial and is reduced when less is left of it.
TEST(ReductionPlacement, CarriesTheEarlierFactorWhereThatCostsLess) {
  Program p;
  p.source("made", 10);
  p.source("slope", 10);
  p.product("weighted", 10, {"made", "share"});
  p.linear("sum", 5, {"weighted"});
  p.leave("sum");
  p.product("products", 10, {"slope", "made"});
  p.linear("dshare", 1, {"products"});
  p.leave("dshare");
  p.other("rows", 0, {"slope"});
  p.leave("rows");
  EXPECT_EQ(p.place(), "16: slope sum dshare");
}

TEST(ReductionPlacement, ASquareNeedsAFullValue) {
  Program p;
  p.source("x", 5);
  p.product("y", 1, {"x", "x"});
  p.leave("y");
  EXPECT_EQ(p.place(), "5: x");
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// A gradient of one contribution or two, m microbatches; `split`: the row
/// splits it, so that it may not cross.
Program gradient(int64_t m, bool split, int contributions) {
  Program p;
  p.source("dW", 100 * m);
  std::string sum = "dW";
  if (contributions == 2) {
    p.source("dW'", 100 * m);
    p.linear("sum", 100 * m, {"dW", "dW'"});
    sum = "sum";
  }
  if (split)
    p.other("arg", 100, {sum});
  else
    p.linear("arg", 100, {sum});
  p.product("mean", 100, {"arg", "1/count"});
  p.other("square", 0, {"mean"});
  p.leave("mean");
  return p;
}

TEST(ReductionPlacement, ReducesAfterTheAccumulation) {
  EXPECT_EQ(gradient(4, false, 1).place(), "100: arg");
  EXPECT_EQ(gradient(1, false, 1).place(), "100: dW");
  EXPECT_EQ(gradient(4, true, 1).place(), "400: dW");
}

TEST(ReductionPlacement, ReducesATiedEmbeddingOnce) {
  EXPECT_EQ(gradient(4, false, 2).place(), "100: arg");
  EXPECT_EQ(gradient(1, false, 2).place(), "100: sum");
  EXPECT_EQ(gradient(4, true, 2).place(), "400: sum");
}

/// The walkthrough's x1: x0 is full for the dots of its block and partial into
/// the add. Where x1 is sent, scattering before costs less than reducing u.
TEST(ReductionPlacement, KeepsTheSummandOfAResidualPartial) {
  Program p;
  p.source("x0", 64);
  for (std::string part : {"a", "b", "c"})
    p.other(part, 0, {"x0"});
  p.source("u", 64);
  p.linear("x1", 34, {"x0", "u"});
  p.other("lg", 0, {"x1"});
  p.other("gEh", 0, {"x1"});
  EXPECT_EQ(p.place(), "98: x0 x1");
}

/// The walkthrough's gE over the pipeline, where each term is already partial
/// over data: beyond one collective over both axes the joined sum costs little
/// in the update, and much more in each of two microbatches.
TEST(ReductionPlacement, JoinsATiedGradientUntilTheUpdate) {
  Program p;
  p.source("gE", 2 * 40, {"gEh", "gEe"});
  p.linear("arg", 40, {"gE"});
  p.product("mean", 40, {"arg", "1/count"});
  p.product("square", 40, {"mean", "mean"});
  p.linear("nE", 2, {"square"});
  EXPECT_EQ(p.place(), "40: arg");
}

/// The walkthrough's n2: sums of squares of split, replicated (kept on one
/// coordinate) and pinned gradients; over each axis one scalar is reduced.
TEST(ReductionPlacement, ReducesTheGlobalNormOnce) {
  for (int split = 0; split < 8; ++split) {
    Program p;
    std::vector<std::string> terms;
    for (int i = 0; i < 3; ++i) {
      std::string name = "n" + std::to_string(i);
      if (split >> i & 1)
        p.source(name, 4);
      else
        p.other(name, 4, {});
      terms.push_back(name);
    }
    p.linear("n01", 4, {terms[0], terms[1]});
    p.linear("n012", 4, {"n01", terms[2]});
    p.other("k", 4, {"n012"});
    p.leave("k");
    // One term alone is reduced where it is made, a sum after it.
    const char *expected[] = {"0:",    "4: n0",   "4: n1",   "4: n01",
                              "4: n2", "4: n012", "4: n012", "4: n012"};
    EXPECT_EQ(p.place(), expected[split]) << split;
  }
}

} // namespace
