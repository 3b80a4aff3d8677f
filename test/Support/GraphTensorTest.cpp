//===- GraphTensorTest.cpp - Which types are tensors of a graph -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each predicate on one list of types, so that each says yes and no.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/GraphTensor.h"
#include "GraphContext.h"
#include "mlir/AsmParser/AsmParser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::ElementsAre;

namespace {
class GraphTensor : public testing::Test {
protected:
  Type parse(const std::string &text) {
    Type type = mlir::parseType(text, context.get());
    EXPECT_TRUE(type) << text;
    return type;
  }

  /// Those of `texts` of which the predicate holds.
  std::vector<std::string> select(bool (*holds)(Type),
                                  const std::vector<std::string> &texts) {
    std::vector<std::string> selected;
    for (const std::string &text : texts)
      if (holds(parse(text)))
        selected.push_back(text);
    return selected;
  }

  GraphContext context;
};

TEST_F(GraphTensor, Elements) {
  EXPECT_THAT(
      select(isGraphElement,
             {"i1",   "ui1",  "si1",  "i2",     "i3",    "i4",          "ui4",
              "si4",  "i8",   "ui8",  "si8",    "i24",   "i32",         "i64",
              "ui64", "si64", "i128", "bf16",   "f16",   "f32",         "f64",
              "tf32", "f80",  "f128", "f8E5M2", "index", "complex<f32>"}),
      ElementsAre("i1", "i2", "i4", "ui4", "i8", "ui8", "i32", "i64", "ui64",
                  "bf16", "f16", "f32", "f64", "f8E5M2"));
}

TEST_F(GraphTensor, Sizes) {
  // 8 bytes for each element, whatever its type.
  EXPECT_THAT(select(isGraphTensor,
                     {"tensor<f32>", "tensor<0xf32>", "tensor<?xf32>",
                      "tensor<*xf32>", "vector<4xf32>", "f32",
                      "tensor<4xindex>", "tensor<1152921504606846975xi8>",
                      "tensor<1152921504606846976xi8>",
                      "tensor<1073741824x1073741824xi8>",
                      "tensor<1073741823x1073741823xi8>"}),
              ElementsAre("tensor<f32>", "tensor<0xf32>",
                          "tensor<1152921504606846975xi8>",
                          "tensor<1073741823x1073741823xi8>"));
}

TEST_F(GraphTensor, Kinds) {
  std::vector<std::string> all = {
      "tensor<i1>",    "tensor<3xi1>",  "tensor<i32>", "tensor<3xi32>",
      "tensor<ui8>",   "tensor<3xui8>", "tensor<f32>", "tensor<3xf32>",
      "tensor<index>", "tensor<?xi32>", "i32"};
  EXPECT_THAT(select(isBoolTensor, all),
              ElementsAre("tensor<i1>", "tensor<3xi1>"));
  EXPECT_THAT(select(isBoolOrIntTensor, all),
              ElementsAre("tensor<i1>", "tensor<3xi1>", "tensor<i32>",
                          "tensor<3xi32>", "tensor<ui8>", "tensor<3xui8>"));
  EXPECT_THAT(select(isIntTensor, all),
              ElementsAre("tensor<i32>", "tensor<3xi32>", "tensor<ui8>",
                          "tensor<3xui8>"));
  EXPECT_THAT(select(isFloatTensor, all),
              ElementsAre("tensor<f32>", "tensor<3xf32>"));
  EXPECT_THAT(select(isNumberTensor, all),
              ElementsAre("tensor<i32>", "tensor<3xi32>", "tensor<ui8>",
                          "tensor<3xui8>", "tensor<f32>", "tensor<3xf32>"));
  EXPECT_THAT(select(isSignedTensor, all),
              ElementsAre("tensor<i32>", "tensor<3xi32>", "tensor<f32>",
                          "tensor<3xf32>"));
  EXPECT_THAT(
      select(isScalarTensor, all),
      ElementsAre("tensor<i1>", "tensor<i32>", "tensor<ui8>", "tensor<f32>"));
  EXPECT_THAT(select(isIndexScalar, all),
              ElementsAre("tensor<i32>", "tensor<ui8>"));
}

TEST_F(GraphTensor, Comparisons) {
  Type one = parse("tensor<3xf32>"), encoded = parse("tensor<3xi8, 1 : i32>"),
       longer = parse("tensor<4xf32>"), scalar = parse("f32");
  EXPECT_TRUE(haveSameShape(one, encoded));
  EXPECT_FALSE(haveSameShape(one, longer));
  EXPECT_FALSE(haveSameShape(one, scalar));
  EXPECT_FALSE(haveSameShape(scalar, one));
  EXPECT_TRUE(haveSameElement(one, longer));
  EXPECT_FALSE(haveSameElement(one, encoded));
  EXPECT_FALSE(haveSameElement(one, scalar));
  EXPECT_FALSE(haveSameElement(scalar, one));
  EXPECT_EQ(withoutEncoding(encoded), parse("tensor<3xi8>"));
}
} // namespace
