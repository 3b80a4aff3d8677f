//===- OpOrderTest.cpp - Tests of Analysis/OpOrder ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/OpOrder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace llmc;

using Order = std::vector<int32_t>;

TEST(OpOrder, RunsWhatFreesFirst) {
  // A, B of 4 bytes; C = f(A), D = f(B) of 1.
  OpOrderProblem problem{{{{}, {0}}, {{}, {1}}, {{0}, {0, 2}}, {{1}, {1, 3}}},
                         {4, 4, 1, 1}};
  EXPECT_EQ(problem.getPeak({0, 1, 2, 3}), 9);
  EXPECT_EQ(orderOps(problem), (Order{0, 2, 1, 3}));
  EXPECT_EQ(problem.getPeak({0, 2, 1, 3}), 5);
}

TEST(OpOrder, KeepsAnOrderThatIsNoWorse) {
  OpOrderProblem problem{{{{}, {0}}, {{}, {1}}, {{}, {2}}}, {8, 4, 2}};
  EXPECT_EQ(orderOps(problem), (Order{0, 1, 2}));
}

/// Layers of which each uses a gathered weight and what the one before it made.
/// All gathers come first; those that `casts` read what an op makes for them.
static OpOrderProblem makeLayers(int32_t layers, int64_t weight, bool casts) {
  OpOrderProblem problem;
  auto add = [&](Order after, Order touches, bool runsBeside) {
    problem.ops.push_back({std::move(after), std::move(touches), runsBeside});
    return static_cast<int32_t>(problem.ops.size()) - 1;
  };
  auto makeBuffer = [&](int64_t bytes) {
    problem.bytes.push_back(bytes);
    return static_cast<int32_t>(problem.bytes.size()) - 1;
  };
  Order gathers, weights;
  for (int32_t layer = 0; layer < layers; ++layer) {
    Order after, touches;
    if (casts) {
      touches.push_back(makeBuffer(1));
      after.push_back(add({}, touches, false));
    }
    weights.push_back(makeBuffer(weight));
    touches.push_back(weights.back());
    gathers.push_back(add(after, touches, true));
  }
  int32_t last = -1, made = makeBuffer(1);
  for (int32_t layer = 0; layer < layers; ++layer) {
    Order after = {gathers[layer]};
    if (last >= 0)
      after.push_back(last);
    int32_t next = makeBuffer(1);
    last = add(after, {weights[layer], made, next}, false);
    made = next;
  }
  return problem;
}

TEST(OpOrder, GathersStandShortlyBeforeTheirUse) {
  for (bool casts : {false, true})
    for (int32_t layers : {3, 8, 40}) {
      OpOrderProblem problem = makeLayers(layers, 16, casts);
      ASSERT_EQ(problem.check(), "");
      Order order = orderOps(problem);
      EXPECT_EQ(problem.verify(order), "");
      // One that is used, and two ahead of their use.
      EXPECT_LE(problem.getPeak(order), 3 * 16 + 8) << layers;
      // Each but the first begins before the use of the one before it.
      std::vector<size_t> position(order.size());
      for (size_t i = 0; i < order.size(); ++i)
        position[order[i]] = i;
      Order gathers;
      for (size_t op = 0; op < problem.ops.size(); ++op)
        if (problem.ops[op].runsBeside)
          gathers.push_back(static_cast<int32_t>(op));
      for (int32_t layer = 1; layer < layers; ++layer)
        EXPECT_LT(position[gathers[layer]],
                  position[problem.ops.size() - layers + layer - 1]);
    }
}

TEST(OpOrder, FindsFaults) {
  OpOrderProblem cycle{{{{1}, {}}, {{0}, {}}}, {}};
  EXPECT_EQ(cycle.check(), "dependencies have a cycle");
  OpOrderProblem chain{{{{}, {}}, {{0}, {}}}, {}};
  EXPECT_EQ(chain.check(), "");
  EXPECT_EQ(chain.verify({1, 0}), "op 1 stands before op 0, which it needs");
  EXPECT_EQ(chain.verify({0, 0}), "expected each op once");
  EXPECT_EQ(chain.verify({0}), "expected each op once");
  EXPECT_EQ(chain.verify({0, 1, 2}), "expected each op once");
  EXPECT_EQ(chain.verify({-1, 0}), "expected each op once");
  EXPECT_EQ(chain.verify({0, 1}), "");
  auto check = [](int32_t before, int32_t buffer, int64_t bytes) {
    return OpOrderProblem{{{{}, {}}, {{before}, {buffer}}}, {4, bytes}}.check();
  };
  EXPECT_EQ(check(0, 0, 0), "");
  EXPECT_EQ(check(0, 1, 8), "");
  EXPECT_EQ(check(0, -1, 8), "op 1 touches a buffer that is not there");
  EXPECT_EQ(check(0, 2, 8), "op 1 touches a buffer that is not there");
  EXPECT_EQ(check(-1, 0, 8), "op 1 follows an op that is not there");
  EXPECT_EQ(check(2, 0, 8), "op 1 follows an op that is not there");
  EXPECT_EQ(check(1, 0, 8), "dependencies have a cycle");
  EXPECT_EQ(check(0, 0, -1), "a buffer has a negative size");
}

/// The least peak of all orders.
static int64_t getLeastPeak(const OpOrderProblem &problem) {
  Order order(problem.ops.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t least = INT64_MAX;
  do {
    if (problem.verify(order).empty())
      least = std::min(least, problem.getPeak(order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(OpOrder, IsLegalAndNearTheBest) {
  double sum = 0;
  int count = 200;
  for (int seed = 0; seed < count; ++seed) {
    std::mt19937_64 random(seed);
    OpOrderProblem problem;
    for (int32_t op = 0; op < 7; ++op) {
      OpOrderProblem::Op node;
      node.touches.push_back(op);
      problem.bytes.push_back(1 + random() % 16);
      for (int32_t before = 0; before < op; ++before)
        if (random() % 3 == 0) {
          node.after.push_back(before);
          node.touches.push_back(before);
        }
      problem.ops.push_back(node);
    }
    ASSERT_EQ(problem.check(), "");
    Order order = orderOps(problem);
    ASSERT_EQ(problem.verify(order), "") << "seed " << seed;
    Order original(problem.ops.size());
    std::iota(original.begin(), original.end(), 0);
    EXPECT_LE(problem.getPeak(order), problem.getPeak(original));
    sum += double(problem.getPeak(order)) / getLeastPeak(problem);
  }
  EXPECT_LE(sum / count, 1.05);
}

/// What the header says, without anything kept between steps: the ready op of
/// the least cost, of equal ones the first.
static Order runByDefinition(const OpOrderProblem &problem, bool isFreeFirst) {
  Order order;
  std::vector<bool> isDone(problem.ops.size());
  auto has = [&](int32_t op, int32_t buffer) {
    auto &touches = problem.ops[op].touches;
    return std::count(touches.begin(), touches.end(), buffer) > 0;
  };
  auto getCost = [&](int32_t op) {
    int64_t cost = 0;
    for (int32_t buffer = 0; buffer < int32_t(problem.bytes.size()); ++buffer) {
      if (!has(op, buffer))
        continue;
      bool isFirst = true, isLast = true;
      for (int32_t other = 0; other < int32_t(isDone.size()); ++other)
        if (other != op && has(other, buffer))
          (isDone[other] ? isFirst : isLast) = false;
      cost += (isFirst - isLast) * problem.bytes[buffer];
    }
    return isFreeFirst ? std::min<int64_t>(cost, 0) : cost;
  };
  while (order.size() < problem.ops.size()) {
    std::pair<int64_t, int32_t> best{INT64_MAX, -1};
    for (int32_t op = 0; op < int32_t(isDone.size()); ++op) {
      auto &after = problem.ops[op].after;
      if (!isDone[op] &&
          std::all_of(after.begin(), after.end(),
                      [&](int32_t each) { return isDone[each]; }))
        best = std::min(best, {getCost(op), op});
    }
    isDone[best.second] = true;
    order.push_back(best.second);
  }
  return order;
}

TEST(OpOrder, IsThatOfTheDefinition) {
  for (int seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    OpOrderProblem problem;
    int32_t numOps = 2 + int32_t(random() % 14);
    for (int32_t op = 0; op < numOps; ++op) {
      problem.bytes.push_back(int64_t(random() % 9));
      OpOrderProblem::Op node{{}, {op, op}};
      for (int32_t other = 0; other < numOps; ++other) {
        if (random() % 4 == 0)
          node.touches.push_back(other);
        // Sources last, so that the original order need not be legal.
        if (seed % 2 ? other < op && random() % 4 == 0
                     : other > op && random() % 4 == 0)
          node.after.push_back(other);
      }
      problem.ops.push_back(node);
    }
    ASSERT_EQ(problem.check(), "");
    Order original(numOps);
    std::iota(original.begin(), original.end(), 0);
    std::vector<Order> candidates;
    if (problem.verify(original).empty())
      candidates.push_back(original);
    candidates.push_back(runByDefinition(problem, true));
    candidates.push_back(runByDefinition(problem, false));
    auto best =
        std::min_element(candidates.begin(), candidates.end(),
                         [&](const Order &a, const Order &b) {
                           return problem.getPeak(a) < problem.getPeak(b);
                         });
    EXPECT_EQ(orderOps(problem), *best) << "seed " << seed;
  }
}
