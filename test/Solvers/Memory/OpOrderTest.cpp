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
