//===- CallLanesTest.cpp - Kernels in place of calls, thread by thread ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions, products of groups and of single features, and orders that
// target "cuda" computes by kernels of its own, run thread by thread
// (LaneRunner.h) and compared with the interpreter's plain loops: orders
// exactly, sums within rounding.
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

/// Kernels on lanes, within `tolerance` of the interpreter.
void expectClose(const std::string &text, double tolerance, uint64_t seed = 1) {
  KernelRunner lanes(text, seed, RunOn::Lanes);
  ASSERT_TRUE(lanes.isReady()) << lanes.takeMessages() << text;
  ASSERT_TRUE(lanes.run()) << lanes.getLaneError() << text;
  EXPECT_LE(lanes.getError(), tolerance) << text;
}

std::string tensorOf(const std::vector<int64_t> &shape,
                     const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

std::string numbersOf(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// A convolution as StableHLO has it. Dims are given as letters: b, f, i, o and
/// 0, 1, 2.
struct Convolution {
  std::string left = "b01f", right = "01io", result = "b01f";
  int64_t batch = 2, inputs = 3, outputs = 5, groups = 1, batchGroups = 1;
  std::vector<int64_t> sizes = {6, 7}, kernel = {3, 2}, stride = {1, 1},
                       low = {0, 0}, high = {0, 0}, leftDilation = {1, 1},
                       rightDilation = {1, 1};
  std::vector<bool> reverse = {false, false};
  std::string type = "f32", rightElement, resultElement; ///< "": of the type.

  std::vector<int64_t> places() const;
  std::vector<int64_t> shapeOf(const std::string &dims, int64_t first,
                               int64_t second,
                               const std::vector<int64_t> &spatial) const;
  std::string resultType() const {
    return tensorOf(shapeOf(result, batch / batchGroups, outputs, places()),
                    resultElement.empty() ? type : resultElement);
  }
  std::string leftType() const {
    return tensorOf(shapeOf(left, batch, inputs, sizes), type);
  }
  std::string rightType() const {
    return tensorOf(shapeOf(right, inputs / groups, outputs, kernel),
                    rightElement.empty() ? type : rightElement);
  }
  std::string op(const std::string &name, const std::string &x,
                 const std::string &w) const;
  /// A function of it alone.
  std::string text() const;
};

std::vector<int64_t> Convolution::places() const {
  std::vector<int64_t> places;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t extent = (sizes[d] - 1) * leftDilation[d] + 1 + low[d] + high[d],
            window = (kernel[d] - 1) * rightDilation[d] + 1;
    places.push_back(extent < window ? 0 : (extent - window) / stride[d] + 1);
  }
  return places;
}

std::vector<int64_t>
Convolution::shapeOf(const std::string &dims, int64_t first, int64_t second,
                     const std::vector<int64_t> &spatial) const {
  std::vector<int64_t> shape;
  for (char dim : dims) {
    bool isFirst = dim == 'b' || dim == 'i';
    bool isSecond = dim == 'o' || dim == 'f';
    shape.push_back(isFirst ? first : isSecond ? second : spatial[dim - '0']);
  }
  return shape;
}

std::string Convolution::op(const std::string &name, const std::string &x,
                            const std::string &w) const {
  auto dims = [](const std::string &letters) {
    std::string text;
    for (char letter : letters)
      text += (text.empty() ? "" : ", ") + std::string(1, letter);
    return "[" + text + "]";
  };
  std::string pad, turned;
  for (size_t d = 0; d < sizes.size(); ++d) {
    pad += (d ? ", " : "") + numbersOf({low[d], high[d]});
    turned += std::string(d ? ", " : "") + (reverse[d] ? "true" : "false");
  }
  return "  " + name + " = stablehlo.convolution(" + x + ", " + w +
         ") dim_numbers = " + dims(left) + "x" + dims(right) + "->" +
         dims(result) + ", window = {stride = " + numbersOf(stride) +
         ", pad = [" + pad + "], lhs_dilate = " + numbersOf(leftDilation) +
         ", rhs_dilate = " + numbersOf(rightDilation) + ", reverse = [" +
         turned + "]} {batch_group_count = " + std::to_string(batchGroups) +
         " : i64, feature_group_count = " + std::to_string(groups) +
         " : i64} : (" + leftType() + ", " + rightType() + ") -> " +
         resultType() + "\n";
}

std::string Convolution::text() const {
  return "func.func @f(%x: " + leftType() + ", %w: " + rightType() + ") -> " +
         resultType() + " {\n" + op("%y", "%x", "%w") +
         "  return %y : " + resultType() + "\n}\n";
}

int64_t pick(std::mt19937 &random, std::vector<int64_t> numbers) {
  return numbers[random() % numbers.size()];
}

/// Of one to three spatial dims, in one of the orders that dims have in models
/// and in their gradients.
Convolution drawConvolution(uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  Convolution c;
  size_t rank = 1 + random() % 3;
  std::string spatial = std::string("012").substr(0, rank);
  const std::string orders[][3] = {
      {"b" + spatial + "f", spatial + "io", "b" + spatial + "f"},
      {"bf" + spatial, "oi" + spatial, "bf" + spatial},
      {"f" + spatial + "b", "i" + spatial + "o", spatial + "bf"}};
  const std::string *order = orders[random() % 3];
  c.left = order[0], c.right = order[1], c.result = order[2];
  c.batch = pick(random, {1, 2, 3, 4});
  c.inputs = pick(random, {1, 2, 4, 6, 20});
  c.outputs = pick(random, {1, 2, 4, 6, 36});
  if (random() % 4 == 0 && c.inputs % 2 == 0 && c.outputs % 2 == 0)
    c.groups = 2;
  else if (random() % 4 == 0 && c.batch % 2 == 0 && c.outputs % 2 == 0)
    c.batchGroups = 2;
  c.type = random() % 5 == 0 ? "f64" : "f32";
  auto draw = [&](std::vector<int64_t> &list, std::vector<int64_t> numbers) {
    list.clear();
    for (size_t d = 0; d < rank; ++d)
      list.push_back(pick(random, numbers));
  };
  draw(c.sizes, rank == 3 ? std::vector<int64_t>{3, 4, 5}
                          : std::vector<int64_t>{4, 5, 9, 11});
  draw(c.kernel, {1, 2, 3});
  draw(c.stride, {1, 1, 2, 3});
  draw(c.low, {0, 0, 1, 2});
  draw(c.high, {0, 1, 2});
  draw(c.leftDilation, {1, 1, 2, 3});
  draw(c.rightDilation, {1, 1, 2});
  c.reverse.clear();
  for (size_t d = 0; d < rank; ++d)
    c.reverse.push_back(random() % 3 == 0);
  return c;
}

TEST(CallLanes, RandomConvolutions) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  uint64_t cases = readSetting("LLMC_TEST_CASES", 5);
  uint64_t empty = 0;
  for (uint64_t number = 0; number < cases && !HasFailure(); ++number) {
    Convolution c = drawConvolution(base * 100000 + number);
    std::vector<int64_t> places = c.places();
    if (std::find(places.begin(), places.end(), 0) != places.end())
      ++empty;
    else
      expectClose(c.text(), c.type == "f64" ? 1e-13 : 2e-5, number);
  }
  EXPECT_LE(empty * 3, cases);
}

// Tiles of all threads, with edges and with terms in parts; windows that leave
// nothing out; columns of one element.
TEST(CallLanes, LargeConvolutions) {
  Convolution c;
  c.batch = 1, c.inputs = 10, c.outputs = 70;
  c.sizes = {12, 11}, c.low = {1, 1}, c.high = {1, 0}, c.stride = {2, 1};
  expectClose(c.text(), 2e-5);
  // The gradient of a kernel: few sums of many terms.
  Convolution kernel;
  kernel.left = "f01b", kernel.right = "i01o", kernel.result = "01bf";
  kernel.batch = 3, kernel.inputs = 4, kernel.outputs = 5;
  kernel.sizes = {12, 12}, kernel.kernel = {12, 12};
  kernel.low = {1, 1}, kernel.high = {1, 1};
  expectClose(kernel.text(), 5e-5);
  // One matrix product.
  c.kernel = {1, 1}, c.low = c.high = {0, 0}, c.stride = {1, 1};
  expectClose(c.text(), 2e-5);
  // Depth by depth.
  Convolution depth;
  depth.inputs = depth.outputs = depth.groups = 40;
  depth.low = depth.high = {1, 1};
  expectClose(depth.text(), 2e-5);
}

// Tiles of 128 rows: 4 columns of each thread, and 8 where many cases are asked
// for.
TEST(CallLanes, WideTiles) {
  Convolution c;
  c.batch = c.inputs = 1, c.outputs = 128;
  c.sizes = {64, 128}, c.kernel = {1, 1};
  expectClose(c.text(), 2e-5);
  if (readSetting("LLMC_TEST_CASES", 0) < 100)
    return;
  c.left = "bf01", c.right = "oi01", c.result = "bf01";
  c.sizes = {127, 128}, c.inputs = 1;
  expectClose(c.text(), 2e-5);
}

// Narrow elements are added up in f32, integers as the interpreter has them.
TEST(CallLanes, TypesOfConvolutions) {
  Convolution c;
  c.inputs = 20;
  for (const char *type : {"bf16", "f16"}) {
    c.type = type;
    expectClose(c.text(), std::string(type) == "bf16" ? 1e-2 : 2e-3);
  }
  for (const char *type : {"i8", "ui16", "i64"}) {
    c.type = type;
    expectClose(c.text(), 0);
  }
  c.type = "f8E4M3FN", c.rightElement = "f8E5M2", c.resultElement = "f32";
  expectClose(c.text(), 2e-6);
}

/// What is added to the sums: another call's result, and a bias.
TEST(CallLanes, AddedToConvolutions) {
  for (int64_t sizes : {7, 40}) {
    Convolution c;
    if (sizes == 40) { // In parts.
      c.left = "f01b", c.right = "i01o", c.result = "01bf";
      c.sizes = {sizes, 8}, c.kernel = {sizes, 7};
    }
    std::string type = c.resultType();
    expectClose("func.func @f(%x: " + c.leftType() + ", %w: " + c.rightType() +
                    ", %v: " + c.rightType() + ", %u: " + c.rightType() +
                    ", %b: tensor<5xf32>) -> (" + type + ", " + type + ") {\n" +
                    c.op("%1", "%x", "%w") + c.op("%2", "%x", "%v") +
                    "  %3 = stablehlo.add %1, %2 : " + type + "\n" +
                    c.op("%4", "%x", "%u") +
                    "  %5 = stablehlo.broadcast_in_dim %b, dims = [3] : "
                    "(tensor<5xf32>) -> " +
                    type + "\n  %6 = stablehlo.add %4, %5 : " + type +
                    "\n  return %3, %6 : " + type + ", " + type + "\n}\n",
                5e-5);
  }
}

//===----------------------------------------------------------------------===//
// Contractions that cuBLASLt cannot express
//===----------------------------------------------------------------------===//

// A product of each feature by itself, where features lie side by side: no side
// of a matrix has a stride of 1. Also added to, with terms in parts.
TEST(CallLanes, ProductsOfEachFeature) {
  for (int64_t terms : {20, 700})
    for (const char *type : {"f32", "bf16", "i32"}) {
      std::string left = tensorOf({9, terms, 3}, type),
                  right = tensorOf({7, terms, 3}, type),
                  made = tensorOf({3, 9, 7}, type[0] == 'b' ? "f32" : type);
      std::string text = "func.func @f(%x: " + left + ", %y: " + right +
                         ", %z: " + left + ") -> (" + made + ") {\n";
      for (const char *side : {"x", "z"})
        text += "  %" + std::string(side) + "1 = stablehlo.dot_general %" +
                side +
                ", %y, batching_dims = [2] x [2], contracting_dims = [1] x "
                "[1] : (" +
                left + ", " + right + ") -> " + made + "\n";
      text += "  %s = stablehlo.add %x1, %z1 : " + made +
              "\n  return %s : " + made + "\n}\n";

      expectClose(text, type[0] == 'i' ? 0 : 2e-5);
    }
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

/// An order along dim `dim` of `shape`, the `count` first. Elements are small
/// whole numbers, so that many are equal; floats of them are zeros of either
/// sign, infinite, and not a number, of either sign too.
std::string makeOrder(std::vector<int64_t> shape, int64_t dim, int64_t count,
                      const std::string &type, bool isDescending,
                      const std::string &second = "") {
  std::string drawn = tensorOf(shape, "i32"), keys = tensorOf(shape, type);
  bool isFloat = type[0] == 'f' || type[0] == 'b';
  std::string text = "func.func @f(%x: " + drawn +
                     " {test.low = -9.0, test.high = 9.0}, %z: " + drawn +
                     " {test.low = 0.0, test.high = 6.0}) -> ";
  std::vector<int64_t> made = shape;
  made[dim] = count;
  text += tensorOf(made, "i32") + " {\n  %k0 = stablehlo.convert %x : (" +
          drawn + ") -> " + keys + "\n";
  std::string key = "%k0";
  std::string hasBits = tensorOf(shape, "i1");
  const char *values[] = {"-0.0", "0x7FC00000", "0xFFC00000", "0x7F800000",
                          "0xFF800000"};
  for (int i = 0; isFloat && i < 5; ++i) {
    std::string n = std::to_string(i), at = std::to_string(i < 1 ? 0 : 9 - i);
    text += "  %c" + n + " = stablehlo.constant dense<" + at + "> : " + drawn +
            "\n  %m" + n + " = stablehlo.compare EQ, %x, %c" + n + " : (" +
            drawn + ", " + drawn + ") -> " + hasBits + "\n  %f" + n +
            " = stablehlo.constant dense<" + values[i] +
            "> : " + tensorOf(shape, "f32") + "\n  %v" + n +
            " = stablehlo.convert %f" + n + " : (" + tensorOf(shape, "f32") +
            ") -> " + keys + "\n";
    std::string next = "%k" + std::to_string(i + 1);
    text += "  " + next + " = stablehlo.select %m" + n + ", %v" + n + ", " +
            key + " : " + hasBits + ", " + keys + "\n";
    key = next;
  }
  std::string others = second.empty() ? "" : tensorOf(shape, second);
  if (!second.empty())
    text += "  %s = stablehlo.convert %z : (" + drawn + ") -> " + others + "\n";
  return text + "  %p = nn.argsort " + (second.empty() ? "" : "%s, ") + key +
         " dim " + std::to_string(dim) + " descending [" +
         (second.empty() ? "" : "true, ") + (isDescending ? "true" : "false") +
         "] : (" + (second.empty() ? "" : others + ", ") + keys + ") -> " +
         tensorOf(made, "i32") + "\n  return %p : " + tensorOf(made, "i32") +
         "\n}\n";
}

// Rows that each thread counts, that a block exchanges, and that are merged, at
// and beside powers of two; some of them, and all.
TEST(CallLanes, Orders) {
  for (int64_t size : {9, 64, 65})
    for (bool isDescending : {false, true})
      expectClose(makeOrder({3, size, 2}, 1, std::max<int64_t>(1, size - 1),
                            "f32", isDescending),
                  0);
  expectClose(makeOrder({2, 2049}, 1, 2049, "f32", true), 0);
  expectClose(makeOrder({2, 6500}, 1, 5, "f32", true), 0);
  expectClose(makeOrder({5000, 1}, 0, 3000, "f32", false), 0);
}

TEST(CallLanes, TypesOfOrders) {
  for (const char *type : {"f64", "bf16", "f16", "i8", "ui8", "ui32", "i64"})
    expectClose(makeOrder({2, 20}, 1, 20, type, true), 0);
  for (const char *type : {"f64", "i8"}) {
    expectClose(makeOrder({2, 30}, 1, 30, "f32", true, type), 0);
    expectClose(makeOrder({1, 2500}, 1, 2500, "bf16", false, type), 0);
  }
}

//===----------------------------------------------------------------------===//
// Products of groups
//===----------------------------------------------------------------------===//

std::string sizesOf(const std::vector<int64_t> &sizes) {
  std::string type = "tensor<" + std::to_string(sizes.size()) + "xi32>";
  return "%s: " + type + " {test.values = dense<" + numbersOf(sizes) +
         "> : " + type + "}";
}

/// Rows times the matrix of their group, of which there are `matrices` from the
/// first one on; and the gradient of the matrices, added to another one.
std::string makeGroups(int64_t rows, int64_t depth, int64_t columns,
                       int64_t matrices, int64_t first,
                       const std::vector<int64_t> &sizes,
                       const std::string &type = "f32") {
  std::string x = tensorOf({rows, depth}, type),
              w = tensorOf({matrices, depth, columns}, type),
              y = tensorOf({rows, columns}, type),
              s = "tensor<" + std::to_string(sizes.size()) + "xi32>";
  return "func.func @f(%x: " + x + ", %w: " + w + ", %v: " + x + ", " +
         sizesOf(sizes) + ", %f: tensor<i32> {test.values = dense<" +
         std::to_string(first) + "> : tensor<i32>}) -> (" + y + ", " + w +
         ") {\n" +
         "  %y = nn.grouped_dot %x, %w, %s first %f batch [] x [] contracting "
         "[1] x [1] rows 0 groups 0 : (" +
         x + ", " + w + ", " + s + ", tensor<i32>) -> " + y +
         "\n  %g = nn.grouped_dot %x, %y, %s first %f batch [] x [] "
         "contracting [0] x [0] rows 0 : (" +
         x + ", " + y + ", " + s + ", tensor<i32>) -> " + w +
         "\n  %h = nn.grouped_dot %v, %y, %s first %f batch [] x [] "
         "contracting [0] x [0] rows 0 : (" +
         x + ", " + y + ", " + s + ", tensor<i32>) -> " + w +
         "\n  %a = stablehlo.add %g, %h : " + w + "\n  return %y, %a : " + y +
         ", " + w + "\n}\n";
}

// Groups of no row, of less than a tile and of more; rows of no group, matrices
// of none.
TEST(CallLanes, Groups) {
  expectClose(makeGroups(20, 6, 10, 4, 0, {5, 0, 7, 3}), 2e-5);
  expectClose(makeGroups(200, 33, 70, 3, 0, {100, 63, 37}), 5e-5);
  expectClose(makeGroups(50, 8, 5, 2, 1, {10, 20, 0, 5}), 2e-5);
  expectClose(makeGroups(50, 8, 5, 4, 2, {10, 20, 15, 5}), 2e-5);
  expectClose(makeGroups(40, 8, 5, 2, 0, {0, 0}, "f64"), 1e-13);
  expectClose(makeGroups(40, 8, 5, 2, 0, {25, 10}, "bf16"), 5e-2);
}

// A batch with sizes of its own, and rows that come second.
TEST(CallLanes, BatchesOfGroups) {
  expectClose(R"(
  func.func @f(%x: tensor<3x6x10xf32>, %w: tensor<3x4x6x7xf32>, %s: tensor<3x4xi32> {test.values = dense<[[1, 2, 3, 4], [0, 5, 0, 5], [9, 0, 0, 0]]> : tensor<3x4xi32>}) -> tensor<3x10x7xf32> {
    %y = nn.grouped_dot %x, %w, %s batch [0] x [0] contracting [1] x [2] rows 2 groups 1 : (tensor<3x6x10xf32>, tensor<3x4x6x7xf32>, tensor<3x4xi32>) -> tensor<3x10x7xf32>
    return %y : tensor<3x10x7xf32>
  })",
              2e-5);
}

// Sizes that do not fit leave no number in the result.
TEST(CallLanes, GroupsThatDoNotFit) {
  for (int64_t last : {-1, 16}) {
    KernelRunner lanes(makeGroups(20, 6, 10, 2, 0, {5, 7}), 1, RunOn::Lanes);
    ASSERT_TRUE(lanes.isReady()) << lanes.takeMessages();
    lanes.setArgument(3, 1, static_cast<double>(last));
    ASSERT_TRUE(lanes.run()) << lanes.getLaneError();
    for (const HostTensor &result : lanes.getResults())
      for (int64_t i = 0; i < result.getNumElements(); ++i)
        EXPECT_TRUE(std::isnan(result.getFloat(i))) << i;
  }
}

// One of each kind that the forms make: what call-faults.test is caught by.
TEST(CallLanes, Few) {
  Convolution c, kernel;
  c.low = c.high = {1, 1}, c.leftDilation = {2, 1};
  // In parts.
  kernel.left = "f01b", kernel.right = "i01o", kernel.result = "01bf";
  kernel.batch = 3, kernel.inputs = 4, kernel.outputs = 5;
  kernel.sizes = kernel.kernel = {10, 10}, kernel.low = {1, 1};
  struct Case {
    std::string text;
    double tolerance;
  };
  const Case cases[] = {
      {c.text(), 2e-5},
      {kernel.text(), 5e-5},
      {makeOrder({2, 20}, 1, 20, "f32", false), 0},
      {makeOrder({1, 200}, 1, 200, "f32", true), 0},
      {makeOrder({1, 5000}, 1, 3000, "i32", true), 0},
      {makeGroups(20, 6, 10, 4, 0, {5, 0, 7, 3}), 2e-5},
  };
  for (const auto &[text, tolerance] : cases) {
    expectClose(text, tolerance);
    if (HasFailure()) // A fault is found once.
      return;
  }
}

} // namespace
