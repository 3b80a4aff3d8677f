//===- AttendLanesTest.cpp - Attention by own kernels, thread by thread ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention and its gradient as kernels of target "cuda", run thread by thread
// (LaneRunner.h) and compared with the interpreter's plain loops.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "RandomPrograms.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace llmc;
using namespace llmc::test;

namespace {

using Dims = std::vector<int64_t>;

std::string listOf(const Dims &dims, const char *between) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : between) + std::to_string(dim);
  return text;
}

/// An attention of [batches, groups, rows or columns, depth or values].
struct Attention {
  Dims batches = {2}, groups = {};
  int64_t rows = 20, columns = 20, depth = 8, values = 8;
  std::string type = "f32", how = "";
  Dims bias = {};            ///< Its dims; none where empty.
  std::string biasType = ""; ///< That of q where empty.
  std::string offset = "", drop = "";
  /// Query, key, value and cotangent lie with the last dim but one first.
  bool isTurned = false;

  Dims dims(bool isQuery, std::initializer_list<int64_t> last) const {
    Dims all = batches;
    if (isQuery)
      all.insert(all.end(), groups.begin(), groups.end());
    all.insert(all.end(), last);
    return all;
  }
  std::string tensor(const Dims &dims, const std::string &element) const {
    return "tensor<" + listOf(dims, "x") + (dims.empty() ? "" : "x") + element +
           ">";
  }
  std::string wideType() const { return type == "f64" ? "f64" : "f32"; }
  std::string query() const { return tensor(dims(true, {rows, depth}), type); }
  std::string key() const {
    return tensor(dims(false, {columns, depth}), type);
  }
  std::string value() const {
    return tensor(dims(false, {columns, values}), type);
  }
  std::string result() const {
    return tensor(dims(true, {rows, values}), type);
  }
  std::string sums() const { return tensor(dims(true, {rows}), wideType()); }
  std::string biasTensor() const {
    return tensor(bias, biasType.empty() ? wideType() : biasType);
  }

  std::string masks() const;
  std::string maskTypes() const;
  std::string argument(const std::string &name, const std::string &type,
                       std::string &body) const;
  std::string maskArguments() const;
  std::string forward() const;
  /// With a log-sum-exp that is about right, or, of rows that see nothing, that
  /// of the forward.
  std::string gradient(bool isOwn) const;
};

std::string Attention::masks() const {
  Dims strides;
  int64_t stride = 3;
  for (size_t i = 0; i < batches.size() + groups.size() + 2; ++i)
    strides.push_back(stride), stride = stride * 29 + 1;
  return (bias.empty() ? "" : " bias %b") +
         std::string(offset.empty() ? "" : " offset %o") +
         (drop.empty() ? ""
                       : " dropout %s strides [" + listOf(strides, ", ") +
                             "] <" + drop + " factor 1.5>") +
         " scale 0.3 " + how;
}

std::string Attention::maskTypes() const {
  return (bias.empty() ? "" : ", " + biasTensor()) +
         std::string(offset.empty() ? "" : ", tensor<i32>") +
         (drop.empty() ? "" : ", tensor<2xui64>");
}

std::string Attention::maskArguments() const {
  std::string text;
  if (!bias.empty())
    text += ", %b: " + biasTensor();
  if (!offset.empty())
    text +=
        ", %o: tensor<i32> {test.values = dense<" + offset + "> : tensor<i32>}";
  if (!drop.empty())
    text += ", %s: tensor<2xui64> {test.values = dense<[4886718345, "
            "4294967290]> : tensor<2xui64>}";
  return text;
}

/// An argument of an operand: turned, a transpose in `body` makes it.
std::string Attention::argument(const std::string &name,
                                const std::string &type,
                                std::string &body) const {
  if (!isTurned)
    return "%" + name + ": " + type;
  size_t begin = type.find('<') + 1, end = type.rfind('x');
  Dims dims, order;
  for (size_t at = begin; at < end; at = type.find('x', at) + 1)
    dims.push_back(std::stoll(type.substr(at)));
  int64_t rank = dims.size();
  order.push_back(1);
  for (int64_t dim = 2; dim < rank - 1; ++dim)
    order.push_back(dim);
  order.push_back(0);
  order.push_back(rank - 1);
  // The rows lie first.
  Dims turned = {dims[rank - 2]};
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    turned.push_back(dims[dim]);
  turned.push_back(dims[rank - 1]);
  std::string from =
      tensor(turned, type.substr(end + 1, type.size() - end - 2));
  body += "  %" + name + " = stablehlo.transpose %" + name + "t, dims = [" +
          listOf(order, ", ") + "] : (" + from + ") -> " + type + "\n";
  return "%" + name + "t: " + from;
}

std::string Attention::forward() const {
  std::string body, results = result() + ", " + sums();
  std::string text = "func.func @f(" + argument("q", query(), body) + ", " +
                     argument("k", key(), body) + ", " +
                     argument("v", value(), body) + maskArguments() + ") -> (" +
                     results + ") {\n" + body;
  return text + "  %y, %l = nn.attention %q, %k, %v" + masks() + " : (" +
         query() + ", " + key() + ", " + value() + maskTypes() + ") -> (" +
         results + ")\n  return %y, %l : " + results + "\n}\n";
}

std::string Attention::gradient(bool isOwn) const {
  std::string body, inputs = query() + ", " + key() + ", " + value();
  std::string text =
      "func.func @f(" + argument("q", query(), body) + ", " +
      argument("k", key(), body) + ", " + argument("v", value(), body) +
      maskArguments() + ", " + argument("g", result(), body) +
      ", %d: " + sums() +
      (isOwn ? "" : ", %l: " + sums() + " {test.low = 1.0, test.high = 2.0}") +
      ") -> (" + inputs + ") {\n" + body;
  if (isOwn)
    text += "  %y, %l = nn.attention %q, %k, %v" + masks() + " : (" + inputs +
            maskTypes() + ") -> (" + result() + ", " + sums() + ")\n";
  return text + "  %x:3 = nn.attention_grad %q, %k, %v, %l, %d, %g" + masks() +
         " : (" + inputs + ", " + sums() + ", " + sums() + ", " + result() +
         maskTypes() + ") -> (" + inputs +
         ")\n  return %x#0, %x#1, %x#2 : " + inputs + "\n}\n";
}

double toleranceOf(const Attention &attention) {
  return attention.type == "f64"    ? 1e-11
         : attention.type == "f32"  ? 2e-5
         : attention.type == "bf16" ? 2e-2
                                    : 3e-3;
}

/// Kernels on lanes, within rounding of the interpreter; not a number alike.
void expectClose(const Attention &attention, const std::string &text,
                 uint64_t seed) {
  KernelRunner lanes(text, seed, RunOn::Lanes);
  ASSERT_TRUE(lanes.isReady()) << lanes.takeMessages() << text;
  ASSERT_TRUE(lanes.run()) << lanes.getLaneError() << text;
  EXPECT_LE(lanes.getError(), toleranceOf(attention)) << text;
}

void expectBoth(const Attention &attention, uint64_t seed = 1) {
  expectClose(attention, attention.forward(), seed);
  expectClose(attention, attention.gradient(/*isOwn=*/true), seed);
}

int64_t drawOne(std::mt19937 &random, std::vector<int64_t> numbers) {
  return numbers[random() % numbers.size()];
}

Attention drawAttention(uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  Attention a;
  a.batches = random() % 3 == 0 ? Dims{1, 2} : Dims{drawOne(random, {1, 2})};
  if (random() % 2 == 0)
    a.groups = random() % 3 == 0 ? Dims{2, 1} : Dims{drawOne(random, {2, 3})};
  a.rows = drawOne(random, {1, 3, 16, 21, 40, 70});
  a.columns = random() % 2 == 0 ? a.rows : drawOne(random, {1, 5, 18, 33, 67});
  a.depth = drawOne(random, {1, 4, 7, 16, 20});
  a.values = random() % 2 == 0 ? a.depth : drawOne(random, {1, 5, 24});
  a.type = std::vector<std::string>{"f32", "f32", "f64", "bf16",
                                    "f16"}[random() % 5];
  if (random() % 2 == 0)
    a.how = "causal " + std::to_string(drawOne(random, {0, 0, 1, -2, 30}));
  if (!a.how.empty() && random() % 3 == 0)
    a.offset = std::to_string(drawOne(random, {0, 3, -1}));
  if (random() % 3 == 0)
    a.how += " safe";
  if (random() % 3 == 0) {
    a.bias = a.dims(true, {a.rows, a.columns});
    for (int64_t &dim : a.bias)
      dim = random() % 2 == 0 ? 1 : dim;
  }
  if (random() % 4 == 0)
    a.drop = std::vector<std::string>{
        "jax32 below 3000000000", "threefry from 5000000000000000000",
        "jax64 below 9000000000000000000"}[random() % 3];
  // Whether what sees nothing is none where all of it is dropped, nobody says.
  if (!a.drop.empty() && a.how.find("safe") == std::string::npos)
    a.how += " safe";
  a.isTurned = random() % 3 == 0;
  return a;
}

TEST(AttendLanes, Random) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  uint64_t cases = readSetting("LLMC_TEST_CASES", 3);
  for (uint64_t number = 0; number < cases && !HasFailure(); ++number)
    expectBoth(drawAttention(base * 100000 + number), number);
}

// Parts of the depth and of the values.
TEST(AttendLanes, Parts) {
  Attention a;
  a.batches = {1}, a.rows = a.columns = 5, a.depth = 70, a.values = 130;
  expectBoth(a);
}

// Rows that see nothing are not a number in result and gradients, or 0 where
// that is safe; so are the keys that such rows count.
TEST(AttendLanes, RowsThatSeeNothing) {
  for (const char *how : {"causal -3", "causal -3 safe"}) {
    Attention a;
    a.batches = {1}, a.groups = {2}, a.rows = 6, a.columns = 9, a.how = how;
    a.depth = a.values = 4;
    KernelRunner forward(a.forward(), 1, RunOn::Lanes),
        gradient(a.gradient(true), 1, RunOn::Lanes);
    ASSERT_TRUE(forward.run() && gradient.run());
    bool isSafe = a.how.back() == 'e';
    for (int64_t i = 0; i < 2 * 6 * 4; ++i) {
      bool sees = i / 4 % 6 >= 3;
      for (double each : {forward.getResults()[0].getFloat(i),
                          gradient.getResults()[0].getFloat(i)}) {
        EXPECT_EQ(std::isnan(each), !sees && !isSafe) << i;
        EXPECT_EQ(each == 0, !sees && isSafe) << i;
      }
    }
    for (int64_t i = 0; i < 9 * 4; ++i)
      for (int result : {1, 2})
        EXPECT_EQ(std::isnan(gradient.getResults()[result].getFloat(i)),
                  !isSafe)
            << i;
  }
}

// A log-sum-exp that is not the scores', as where a device has a part of the
// columns; the same bits from any order of threads.
TEST(AttendLanes, OtherSums) {
  Attention a;
  a.groups = {2}, a.drop = "jax32 below 3000000000";
  expectClose(a, a.gradient(/*isOwn=*/false), 1);
}

// Tiles of all threads with edges, several of rows and columns: what
// call-faults.test is caught by.
TEST(AttendLanes, Few) {
  Attention a;
  a.batches = {1}, a.rows = 100, a.columns = 95, a.how = "causal 0";
  expectBoth(a);
  // By tensor cores.
  a.type = "bf16", a.depth = 24;
  expectBoth(a);
}

// By tensor cores: what is loaded one by one, two by two and eight by eight,
// where terms or lines are neighbours; parts of the gradient; both types.
TEST(AttendLanes, Pairs) {
  Attention a;
  a.batches = {1}, a.rows = 37, a.columns = 66, a.depth = 7, a.values = 6;
  a.type = "f16", a.drop = "jax32 below 3000000000";
  expectBoth(a);
  a.groups = {2}, a.rows = 18, a.columns = 16, a.depth = 128, a.values = 80;
  a.type = "bf16", a.drop = "", a.how = "causal -1 safe", a.isTurned = true;
  expectBoth(a);
}

} // namespace
