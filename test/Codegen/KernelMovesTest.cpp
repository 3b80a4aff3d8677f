//===- KernelMovesTest.cpp - Chains of moves by their kernels -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes, transposes, slices, reversals, pads and concatenations of shapes
// that are, or are nearly, multiples of a vector, and sums or greatest elements
// of rows of these: kernels of processors and of GPUs move whole vectors where
// they can (LoopWidening.cpp), and give the interpreter's elements, bit by bit;
// sums, which the interpreter adds up in another order, are the same on both.
// LLMC_TEST_SEED and LLMC_TEST_CASES choose other chains.
//
//===----------------------------------------------------------------------===//

#include "LanePrograms.h"
#include "RandomPrograms.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace llmc;
using namespace llmc::test;

namespace {

/// Writes the text of one chain.
class Chain {
public:
  explicit Chain(uint64_t seed) : random(seed) {}

  std::string write() {
    bool isLong = draw(0, 5) == 0;
    shape = {draw(2, isLong ? 2 : 5), draw(2, isLong ? 2 : 4),
             16 * (isLong ? draw(16, 48) : draw(1, 6))};
    if (draw(0, 4) == 0)
      shape.back() += draw(-2, 2);
    std::string from = type();
    for (int64_t i = 0, count = isLong ? draw(1, 4) : draw(3, 7); i < count;
         ++i)
      addMove();
    addLine("sum", "add %v" + text(left) + ", %v" + text(right), type());
    std::string result = "sum";
    bool isReduced = draw(0, isLong ? 1 : 4) == 0;
    const char *types[] = {"f32", "f32", "f64", "bf16", "f16", "i32", "i8"};
    std::string element = types[draw(0, 6)];
    bool isInteger = element[0] == 'i', isNarrow = element.back() == '6';
    if (isReduced)
      result = reduceRows(isNarrow ? "maximum" : "add");
    tolerance = !isReduced || isInteger || isNarrow ? 0 : 1e-4;
    return withType("func.func @f(%v0: " + from + ", %v1: " + from + ") -> " +
                        type() + " {\n" +
                        constant("half", isInteger ? "1" : "0.5") +
                        constant("zero", isInteger ? "0" : "0.0") + body +
                        "  return %" + result + " : " + type() + "\n}\n",
                    element);
  }

  /// Of the processor's results, as KernelRunner::getError has it.
  double getTolerance() const { return tolerance; }

private:
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  std::string type() const {
    return "tensor<" + llvm::join(llvm::map_range(shape, text), "x") + "xT>";
  }
  static std::string text(int64_t number) { return std::to_string(number); }
  static std::string list(const SmallVector<int64_t> &numbers) {
    return "[" + llvm::join(llvm::map_range(numbers, text), ", ") + "]";
  }
  static std::string constant(const std::string &name,
                              const std::string &value) {
    return "  %" + name + " = stablehlo.constant dense<" + value +
           "> : tensor<T>\n";
  }
  void addLine(const std::string &name, const std::string &op,
               const std::string &types) {
    body += "  %" + name + " = stablehlo." + op + " : " + types + "\n";
  }
  /// Mostly a multiple of a vector.
  int64_t drawLength(int64_t most) {
    return draw(0, 3) ? most / 16 * draw(0, 1) * 16 + 16 * draw(0, 2)
                      : draw(0, 5);
  }
  /// The same op for both values, which have one type.
  void addTo(const std::string &op, const std::string &arguments,
             const std::string &operands, const std::string &to) {
    for (int *value : {&left, &right}) {
      body += "  %v" + text(++last) + " = stablehlo." + op + " %v" +
              text(*value) + arguments + " : " + operands +
              (operands == to ? "" : " -> " + to) + "\n";
      *value = last;
    }
  }

  std::string reduceRows(const std::string &combine) {
    std::string operands = "(" + type() + ", tensor<T>) -> ";
    std::string dims = "[" + text(shape.size() - 1) + "]";
    shape.pop_back();
    addLine("rows",
            "reduce(%sum init: %zero) applies stablehlo." + combine +
                " across "
                "dimensions = " +
                dims,
            operands + type());
    return "rows";
  }

  void addMove() {
    switch (draw(0, 5)) {
    case 0:
      return reshape();
    case 1:
      return transpose();
    case 2:
      return slice();
    case 3:
      return pad();
    case 4:
      return reverse();
    default:
      return concatenate();
    }
  }

  /// Two dims become one, or one becomes two.
  void reshape() {
    std::string from = type();
    size_t at = draw(0, shape.size() - 2);
    int64_t part = draw(0, 1) ? 16 : draw(2, 3);
    if (shape.size() > 3 || shape[at] % part || shape[at] == part) {
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + at + 1);
    } else {
      shape[at] /= part;
      shape.insert(shape.begin() + at + 1, part);
    }
    if (shape.size() > 1)
      return addTo("reshape", "", "(" + from + ")", type());
    shape = {1, shape[0]};
    addTo("reshape", "", "(" + from + ")", type());
  }

  /// The last dim often stays.
  void transpose() {
    std::string from = type();
    SmallVector<int64_t> order(shape.size()), sizes;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end() - (draw(0, 3) ? 1 : 0), random);
    for (int64_t dim : order)
      sizes.push_back(shape[dim]);
    shape = sizes;
    addTo("transpose", ", dims = " + list(order), "(" + from + ")", type());
  }

  void slice() {
    std::string from = type(), ranges;
    for (int64_t &size : shape) {
      int64_t low = std::min(drawLength(size / 2), size - 1),
              high = std::max(low + 1, size - drawLength(size / 4));
      int64_t stride = draw(0, 5) ? 1 : 2;
      ranges += (ranges.empty() ? "" : ", ") + text(low) + ":" + text(high) +
                (stride == 1 ? "" : ":" + text(stride));
      size = (high - low + stride - 1) / stride;
    }
    addTo("slice", " [" + ranges + "]", "(" + from + ")", type());
  }

  void reverse() {
    std::string dim = text(draw(0, shape.size() - 1));
    addTo("reverse", ", dims = [" + dim + "]", type(), type());
  }

  void pad() {
    std::string from = type();
    SmallVector<int64_t> low(shape.size()), high(shape.size()),
        interior(shape.size());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      bool isLast = dim + 1 == shape.size();
      low[dim] = isLast ? drawLength(16) : draw(0, 1);
      high[dim] = isLast ? drawLength(16) : draw(0, 1);
      interior[dim] = draw(0, 7) == 0 ? 1 : 0;
      size += low[dim] + high[dim] + (size - 1) * interior[dim];
    }
    addTo("pad",
          ", %half, low = " + list(low) + ", high = " + list(high) +
              ", interior = " + list(interior),
          "(" + from + ", tensor<T>)", type());
  }

  /// The one after the other, and the other after the one.
  void concatenate() {
    std::string from = type();
    size_t at = draw(0, 2) ? shape.size() - 1 : draw(0, shape.size() - 1);
    shape[at] *= 2;
    std::string operands = "(" + from + ", " + from + ")";
    int a = left, b = right;
    for (int *value : {&left, &right}) {
      body += "  %v" + text(++last) + " = stablehlo.concatenate %v" + text(a) +
              ", %v" + text(b) + ", dim = " + text(at) + " : " + operands +
              " -> " + type() + "\n";
      *value = last;
      std::swap(a, b);
    }
  }

  std::mt19937_64 random;
  SmallVector<int64_t> shape;
  std::string body;
  int left = 0, right = 1, last = 1;
  double tolerance = 0;
};

TEST(KernelMoves, AgreeBitByBit) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  for (uint64_t number = 0, count = readSetting("LLMC_TEST_CASES", 30);
       number < count; ++number) {
    Chain chain(base * 1000 + number);
    std::string text = chain.write();
    KernelRunner processor(text, number);
    ASSERT_TRUE(processor.isReady()) << processor.takeMessages() << text;
    ASSERT_TRUE(processor.run(3)) << text;
    EXPECT_LE(processor.getError(), chain.getTolerance()) << text;
    expectSameBits(processor, text, number, text);
  }
}

} // namespace
