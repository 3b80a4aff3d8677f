//===- RandomBitsTest.cpp - What rng_bit_generator becomes ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions have known answers, published with the Random123 library; how
// elements are numbered is held against JAX by test/EndToEnd/random-bits.test.
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"
#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
using Bits = std::vector<uint64_t>;

/// A function that returns the new state and the bits.
std::string generate(const std::string &algorithm, const std::string &state,
                     size_t size, const std::string &output) {
  std::string type = "tensor<" + std::to_string(size) + "xui64>";
  return "func.func @f() -> (" + type + ", tensor<" + output +
         ">) {\n%c = stablehlo.constant dense<[" + state + "]> : " + type +
         "\n%s, %o = stablehlo.rng_bit_generator %c, algorithm = " + algorithm +
         " : (" + type + ") -> (" + type + ", tensor<" + output +
         ">)\nreturn %s, %o : " + type + ", tensor<" + output + ">\n}";
}

/// Replaces the op that is written with others; false where it is refused.
bool expand(mlir::func::FuncOp function) {
  graph::ExpansionOpInterface op;
  function.walk([&](graph::ExpansionOpInterface found) { op = found; });
  SmallVector<Value> results;
  OpBuilder builder(op);
  if (failed(op.expand(builder, results)))
    return false;
  op->replaceAllUsesWith(results);
  op->erase();
  return true;
}

/// The new state, then the bits; or nothing.
std::vector<Bits> run(const std::string &text) {
  GraphContext context;
  auto module = context.parse(text);
  SmallVector<HostTensor> results;
  Interpreter interpreter;
  if (!module || !expand(getFunction(*module)) ||
      failed(interpreter.interpret(getFunction(*module), {}, results))) {
    ADD_FAILURE() << context.takeMessages();
    return {{}, {}};
  }
  std::string expanded;
  llvm::raw_string_ostream(expanded) << *module;
  EXPECT_TRUE(checkElements(expanded));
  std::vector<Bits> bits;
  for (const HostTensor &result : results) {
    bits.emplace_back();
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      bits.back().push_back(static_cast<uint64_t>(result.getInt(i)));
  }
  return bits;
}

/// How an expansion is refused.
std::string refuse(const std::string &text) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module || expand(getFunction(*module)))
    return "was not refused";
  return context.takeMessages();
}

/// Decimal, as text has it.
std::string list(Bits values) {
  std::string text;
  for (uint64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

constexpr uint64_t kOnes = ~uint64_t(0);

TEST(Philox, KnownAnswers) {
  auto zeros = run(generate("PHILOX", "0, 0, 0", 3, "4xui32"));
  EXPECT_THAT(zeros[0], ElementsAre(0, 1, 0));
  EXPECT_THAT(zeros[1],
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  auto ones = run(generate("PHILOX", list({kOnes, kOnes, kOnes}), 3, "4xui32"));
  // The counter of 128 bits comes round.
  EXPECT_THAT(ones[0], ElementsAre(kOnes, 0, 0));
  EXPECT_THAT(ones[1],
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  std::string digits =
      list({0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e});
  auto pi = run(generate("PHILOX", digits, 3, "4xui32"));
  EXPECT_THAT(pi[1],
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Threefry, KnownAnswers) {
  auto zeros = run(generate("THREE_FRY", "0, 0", 2, "2xui32"));
  EXPECT_THAT(zeros[0], ElementsAre(0, 1));
  EXPECT_THAT(zeros[1], ElementsAre(0x6b200159, 0x99ba4efe));
  auto ones = run(generate("THREE_FRY", list({kOnes, kOnes}), 2, "2xui32"));
  EXPECT_THAT(ones[0], ElementsAre(kOnes, 0));
  EXPECT_THAT(ones[1], ElementsAre(0x1cb996fc, 0xbb002be7));
  std::string digits = list({0x0370734413198a2e, 0x85a308d3243f6a88});
  auto pi = run(generate("THREE_FRY", digits, 2, "2xui32"));
  EXPECT_THAT(pi[1], ElementsAre(0xc4923a9c, 0x483df7a0));
}

TEST(Philox, ADefaultStateOfTwoHasTheKeyAsHighCounter) {
  for (const char *output : {"3x3xui32", "5xui64", "7xui8"}) {
    auto two = run(generate("DEFAULT", list({9, kOnes - 1}), 2, output));
    auto three = run(generate("PHILOX", list({9, kOnes - 1, 9}), 3, output));
    EXPECT_EQ(two[1], three[1]) << output;
    three[0].pop_back();
    EXPECT_EQ(two[0], three[0]) << output;
  }
}

TEST(RandomBits, NarrowElementsAreLowBits) {
  for (const char *algorithm : {"PHILOX", "THREE_FRY"}) {
    Bits wide = run(generate(algorithm, "3, 4", 2, "3x5xui32"))[1];
    Bits half = run(generate(algorithm, "3, 4", 2, "3x5xui16"))[1];
    Bits byte = run(generate(algorithm, "3, 4", 2, "3x5xui8"))[1];
    ASSERT_EQ(wide.size(), 15u);
    for (size_t i = 0; i < wide.size(); ++i) {
      EXPECT_EQ(half[i], wide[i] & 0xffff);
      EXPECT_EQ(byte[i], wide[i] & 0xff);
    }
  }
}

TEST(RandomBits, ElementsOf64BitsAreTwoWords) {
  Bits words = run(generate("PHILOX", "3, 4", 2, "6xui32"))[1];
  Bits longs = run(generate("PHILOX", "3, 4", 2, "3xui64"))[1];
  for (size_t i = 0; i < longs.size(); ++i)
    EXPECT_EQ(longs[i], words[2 * i] | words[2 * i + 1] << 32);
}

TEST(RandomBits, SignedElementsHaveTheSameBits) {
  Bits bits = run(generate("THREE_FRY", "3, 4", 2, "5xui8"))[1];
  Bits numbers = run(generate("THREE_FRY", "3, 4", 2, "5xi8"))[1];
  for (size_t i = 0; i < bits.size(); ++i)
    EXPECT_EQ(numbers[i] & 0xff, bits[i]);
}

TEST(RandomBits, ShapesWithoutElementsOrDimensions) {
  EXPECT_THAT(run(generate("THREE_FRY", "3, 4", 2, "0x3xui32"))[0],
              ElementsAre(3, 4));
  EXPECT_THAT(run(generate("PHILOX", "3, 4", 2, "3x0xui32"))[0],
              ElementsAre(3, 4));
  auto scalar = run(generate("THREE_FRY", "0, 0", 2, "ui32"));
  EXPECT_THAT(scalar[0], ElementsAre(0, 1));
  EXPECT_THAT(scalar[1], ElementsAre(0x6b200159));
  EXPECT_THAT(run(generate("PHILOX", "0, 0", 2, "ui32"))[1],
              ElementsAre(0x6627e8d5));
}

TEST(RandomBits, RefusesWhatHasNoMeaning) {
  EXPECT_THAT(refuse(generate("THREE_FRY", "3, 4", 2, "4xui4")),
              HasSubstr("expected random bits of 8, 16, 32 or 64 for each "
                        "element, got 'ui4'"));
  EXPECT_THAT(refuse(generate("DEFAULT", "3, 4, 5, 6", 4, "4xui32")),
              HasSubstr("expected a state of 2 or 3 elements for DEFAULT, "
                        "which is PHILOX, got 4"));
}
} // namespace
