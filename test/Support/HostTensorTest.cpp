//===- HostTensorTest.cpp - Tensors in host memory ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of each type in and out, one by one and in runs; what is no dense
// constant.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Support/HostElements.h"
#include "mlir/AsmParser/AsmParser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::ElementsAre;

namespace {
class HostTensorTest : public testing::Test {
protected:
  Type parse(const std::string &text) {
    Type type = mlir::parseType(text, context.get());
    EXPECT_TRUE(type) << text;
    return type;
  }

  /// `values` written as a run into a tensor of `element`, and read again.
  std::vector<int64_t> pass(const std::string &element,
                            std::vector<int64_t> values) {
    int64_t count = values.size();
    HostTensor tensor(parse(element), {count + 1});
    storeInts(tensor, 1, values);
    EXPECT_EQ(tensor.getInt(0), 0) << element;
    std::vector<int64_t> read(values.size());
    loadInts(tensor, 1, read);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(tensor.getInt(i + 1), read[i]) << element;
      EXPECT_EQ(wrapInt(values[i], parse(element)), read[i]) << element;
    }
    return read;
  }

  GraphContext context;
};

TEST_F(HostTensorTest, IntegersAreModuloTheirWidth) {
  EXPECT_THAT(pass("i1", {0, 1, 2, -1, 256}), ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(pass("i8", {127, 128, 300, -1}), ElementsAre(127, -128, 44, -1));
  EXPECT_THAT(pass("ui8", {127, 128, 300, -1}), ElementsAre(127, 128, 44, 255));
  EXPECT_THAT(pass("i16", {32767, 32768, -1}), ElementsAre(32767, -32768, -1));
  EXPECT_THAT(pass("ui16", {32768, 65536, -1}), ElementsAre(32768, 0, 65535));
  EXPECT_THAT(pass("i32", {1ll << 31, (1ll << 32) + 5}),
              ElementsAre(-(1ll << 31), 5));
  EXPECT_THAT(pass("ui32", {1ll << 31, -1}),
              ElementsAre(1ll << 31, (1ll << 32) - 1));
  for (const char *element : {"i64", "ui64", "index"})
    EXPECT_THAT(pass(element, {INT64_MAX, INT64_MIN, -1}),
                ElementsAre(INT64_MAX, INT64_MIN, -1))
        << element;
}

TEST_F(HostTensorTest, NarrowIntegersWrap) {
  EXPECT_EQ(wrapInt(8, parse("i4")), -8);
  EXPECT_EQ(wrapInt(8, parse("ui4")), 8);
  EXPECT_EQ(wrapInt(16, parse("ui4")), 0);
}

TEST_F(HostTensorTest, FloatsAndIntegersConvert) {
  for (const char *element : {"f64", "f32", "bf16", "f16"}) {
    HostTensor tensor(parse(element), {2});
    tensor.setFloat(0, -2.75);
    tensor.setInt(1, 3);
    EXPECT_EQ(tensor.getFloat(0), -2.75) << element;
    EXPECT_EQ(tensor.getInt(0), -2) << element;
    EXPECT_EQ(tensor.getFloat(1), 3) << element;
    std::vector<double> values(2);
    loadFloats(tensor, 0, values);
    EXPECT_THAT(values, ElementsAre(-2.75, 3)) << element;
    storeFloats(tensor, 1, {0.5});
    EXPECT_EQ(tensor.getFloat(0), -2.75) << element;
    EXPECT_EQ(tensor.getFloat(1), 0.5) << element;
  }
  HostTensor whole(parse("ui64"), {1});
  whole.setInt(0, -1);
  EXPECT_EQ(whole.getFloat(0), 18446744073709551616.0);
}

TEST_F(HostTensorTest, BytesOfElements) {
  EXPECT_EQ(getElementBytes(parse("index")), 8);
  EXPECT_EQ(getElementBytes(parse("i1")), 1);
  EXPECT_EQ(getElementBytes(parse("ui1")), 0);
  EXPECT_EQ(getElementBytes(parse("si1")), 0);
  EXPECT_EQ(getElementBytes(parse("f16")), 2);
  HostTensor none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.bytes(), nullptr);
}

TEST_F(HostTensorTest, Constants) {
  auto read = [&](const char *text) {
    Attribute attribute = mlir::parseAttribute(text, context.get());
    EXPECT_TRUE(attribute) << text;
    return HostTensor::fromAttribute(attribute);
  };
  for (const char *text : {"\"text\"", "3 : i32", "dense<1> : tensor<2xi2>",
                           "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>"})
    EXPECT_TRUE(failed(read(text))) << text;
  for (const char *text :
       {"dense<[true, false]> : tensor<2xi1>", "dense<[-3, 4]> : tensor<2xi8>",
        "dense<[253, 4]> : tensor<2xui8>", "dense<1.5> : tensor<2x2xbf16>",
        "dense<[-8, 7]> : tensor<2xi4>", "dense<[15, 2]> : tensor<2xui4>",
        "dense<[1.5, -448.0]> : tensor<2xf8E4M3FN>",
        "dense<1.5> : tensor<3xf8E5M2>", "dense<[1, 2]> : tensor<2xindex>"}) {
    FailureOr<HostTensor> tensor = read(text);
    ASSERT_TRUE(succeeded(tensor)) << text;
    EXPECT_EQ(tensor->toAttribute(), mlir::parseAttribute(text, context.get()))
        << text;
  }
  EXPECT_EQ(read("dense<[253, 4]> : tensor<2xui8>")->getInt(0), 253);
  EXPECT_EQ(read("dense<[-3, 4]> : tensor<2xi8>")->getInt(0), -3);
}

TEST_F(HostTensorTest, IndicesAndStrides) {
  HostTensor tensor(parse("f32"), {2, 3, 4});
  EXPECT_THAT(tensor.getStrides(), ElementsAre(12, 4, 1));
  SmallVector<int64_t> index = {0, 1, 3};
  EXPECT_TRUE(nextIndex(index, tensor.getShape()));
  EXPECT_THAT(index, ElementsAre(0, 2, 0));
  index = {1, 2, 3};
  EXPECT_FALSE(nextIndex(index, tensor.getShape()));
  EXPECT_THAT(index, ElementsAre(0, 0, 0));
}

TEST_F(HostTensorTest, CopiesAreTheirOwn) {
  HostTensor tensor(parse("i32"), {1});
  HostTensor copy = tensor;
  copy.setInt(0, 7);
  EXPECT_EQ(tensor.getInt(0), 0);
  EXPECT_EQ(copy.getInt(0), 7);
}
} // namespace
