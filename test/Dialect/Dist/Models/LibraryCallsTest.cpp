//===- LibraryCallsTest.cpp - What contractions ask of a library ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "mlir/IR/Verifier.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::ElementsAre;
using Kind = rt::ContractionIndexKind;

namespace {
/// A module whose only contraction is asked.
struct Contraction {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  dist::ContractOp op;
  graph::LibraryCallOpInterface call;

  explicit Contraction(StringRef text) : module(context.parse(text)) {
    if (!module)
      return;
    module->walk([&](dist::ContractOp found) { op = found; });
    call = llvm::cast<graph::LibraryCallOpInterface>(op.getOperation());
  }

  /// Its shape; one without indices where it has none.
  rt::ContractionShape shape() {
    FailureOr<rt::LibraryDescriptor> found = call.getDescriptor();
    rt::ContractionShape none;
    return succeeded(found) ? std::get<rt::ContractionShape>(*found) : none;
  }
};

constexpr const char *kProduct = R"(
  func.func @f(%x: tensor<5x2x3xf32>, %y: tensor<5x3x7xf32>, %a: tensor<5x2x7xf32>, %b: tensor<5x7x2xf32>) {
    %z = dist.contract %x, %y batch [0] x [0] contracting [2] x [1] : (tensor<5x2x3xf32>, tensor<5x3x7xf32>) -> tensor<5x2x7xf32>
    return
  })";

TEST(LibraryCalls, IndicesHaveStridesOfTheirOperands) {
  Contraction product(kProduct);
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  rt::ContractionShape shape = product.shape();
  std::vector<rt::ContractionIndex> wanted = {{Kind::batch, 5, 6, 21, 14},
                                              {Kind::m, 2, 3, 0, 7},
                                              {Kind::n, 7, 0, 1, 1},
                                              {Kind::k, 3, 1, 7, 0}};
  EXPECT_TRUE(shape.indices == wanted);
  EXPECT_EQ(shape.accumulate, rt::DType::f32);
  EXPECT_EQ(shape.beta, 0);
  EXPECT_TRUE(product.call.getTiedPairs().empty());
}

TEST(LibraryCalls, NumbersHaveOneIndex) {
  Contraction product(R"(
    func.func @f(%x: tensor<f32>) {
      %z = dist.contract %x, %x batch [] x [] contracting [] x [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return
    })");
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  std::vector<rt::ContractionIndex> wanted = {{Kind::m, 1, 0, 0, 0}};
  EXPECT_TRUE(product.shape().indices == wanted);
}

TEST(LibraryCalls, SumsAreKeptInTheWiderType) {
  auto accumulate = [](const std::string &side, const std::string &result) {
    Contraction product(
        "func.func @f(%x: tensor<4x" + side + ">) {\n" +
        "  %z = dist.contract %x, %x batch [] x [] contracting [0] x [0] : "
        "(tensor<4x" +
        side + ">, tensor<4x" + side + ">) -> tensor<" + result +
        ">\n  return\n}");
    EXPECT_TRUE(product.op) << product.context.takeMessages();
    rt::ContractionShape shape = product.shape();
    EXPECT_EQ(shape.indices.size(), 1u);
    EXPECT_EQ(shape.a, rt::parseDType(side));
    EXPECT_EQ(shape.b, rt::parseDType(side));
    EXPECT_EQ(shape.c, rt::parseDType(result));
    return shape.accumulate;
  };
  EXPECT_EQ(accumulate("f32", "f32"), rt::DType::f32);
  EXPECT_EQ(accumulate("bf16", "bf16"), rt::DType::f32);
  EXPECT_EQ(accumulate("f32", "f64"), rt::DType::f64);
  EXPECT_EQ(accumulate("f64", "f32"), rt::DType::f64);
  EXPECT_EQ(accumulate("i8", "i32"), rt::DType::i32);
}

TEST(LibraryCalls, ElementsAreThoseThatTheRuntimeStores) {
  auto refusal = [](StringRef sides, StringRef result) {
    Contraction product(
        ("func.func @f(%x: tensor<4x" + sides + ">) {\n" +
         "  %z = dist.contract %x, %x batch [] x [] contracting [0] x [0] : "
         "(tensor<4x" +
         sides + ">, tensor<4x" + sides + ">) -> tensor<" + result +
         ">\n  return\n}")
            .str());
    EXPECT_TRUE(product.op) << product.context.takeMessages();
    EXPECT_TRUE(failed(product.call.getDescriptor()));
    return product.context.takeMessages();
  };
  EXPECT_NE(refusal("i7", "f32")
                .find("expected elements that the runtime stores, got "
                      "'tensor<4xi7>' and 'tensor<f32>'"),
            std::string::npos);
  EXPECT_NE(refusal("f32", "i7")
                .find("expected elements that the runtime stores, got "
                      "'tensor<4xf32>' and 'tensor<i7>'"),
            std::string::npos);
}

TEST(LibraryCalls, AnAccumulatorIsTakenOnceAndOfTheResultsType) {
  Contraction product(kProduct);
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  mlir::func::FuncOp function = getFunction(*product.module);
  EXPECT_FALSE(product.call.addTo(function.getArgument(3)));
  EXPECT_FALSE(product.op.getAccumulator());
  EXPECT_TRUE(product.call.addTo(function.getArgument(2)));
  EXPECT_EQ(product.op.getAccumulator(), function.getArgument(2));
  EXPECT_EQ(product.shape().beta, 1);
  ASSERT_EQ(product.call.getTiedPairs().size(), 1u);
  EXPECT_EQ(product.call.getTiedPairs()[0],
            (std::pair<int64_t, int64_t>(0, 2)));
  // It has one, and that one is not read in another order.
  EXPECT_FALSE(product.call.addTo(function.getArgument(2)));
  EXPECT_FALSE(product.call.readPermuted(2, {0, 1, 2}));
}

TEST(LibraryCalls, SidesAreReadInTheOrderInWhichTheyLie) {
  Contraction product(kProduct);
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  EXPECT_TRUE(product.call.readPermuted(0, {1, 0, 2}));
  EXPECT_EQ(product.op.getLhsBatch(), llvm::ArrayRef<int64_t>({1}));
  EXPECT_EQ(product.op.getLhsContracting(), llvm::ArrayRef<int64_t>({2}));
  EXPECT_EQ(product.op.getRhsBatch(), llvm::ArrayRef<int64_t>({0}));
  EXPECT_TRUE(product.call.readPermuted(1, {0, 2, 1}));
  EXPECT_EQ(product.op.getRhsBatch(), llvm::ArrayRef<int64_t>({0}));
  EXPECT_EQ(product.op.getRhsContracting(), llvm::ArrayRef<int64_t>({2}));
  EXPECT_EQ(product.op.getLhsBatch(), llvm::ArrayRef<int64_t>({1}));
}

TEST(LibraryCalls, SeveralFreeDimsStayWhereTheyAre) {
  Contraction product(R"(
    func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<3x4xf32>) {
      %z = dist.contract %x, %y batch [] x [] contracting [2] x [0] : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
      return
    })");
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  EXPECT_FALSE(product.call.readPermuted(0, {2, 1, 0}));
  EXPECT_EQ(product.op.getLhsContracting(), llvm::ArrayRef<int64_t>({2}));
  EXPECT_TRUE(product.call.readPermuted(1, {1, 0}));
  EXPECT_EQ(product.op.getRhsContracting(), llvm::ArrayRef<int64_t>({1}));
}

// Any two floats of eight bits.
TEST(LibraryCalls, SidesOfEightBitsHaveTypesOfTheirOwn) {
  Contraction product(R"(
    func.func @f(%x: tensor<4x8xf8E4M3FN>, %y: tensor<8x6xf8E5M2>) {
      %z = dist.contract %x, %y batch [] x [] contracting [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x6xf8E5M2>) -> tensor<4x6xf32>
      return
    })");
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  EXPECT_EQ(product.shape().a, rt::DType::f8E4M3FN);
  EXPECT_EQ(product.shape().b, rt::DType::f8E5M2);
  EXPECT_EQ(product.shape().accumulate, rt::DType::f32);
}

// Batch, what the result has, what is added up in the order of its pairs.
TEST(LibraryCalls, FactorsAreReadFromCopiesInInnerOrder) {
  Contraction product(R"(
    func.func @f(%x: tensor<3x2x5x7x4xf32>, %y: tensor<7x6x3x5xf32>, %u: tensor<5x2x4x7x3xf32>, %v: tensor<5x6x7x3xf32>) {
      %z = dist.contract %x, %y batch [2] x [3] contracting [3, 0] x [0, 2] : (tensor<3x2x5x7x4xf32>, tensor<7x6x3x5xf32>) -> tensor<5x2x4x6xf32>
      return
    })");
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  EXPECT_THAT(product.call.getInnerOrder(0), ElementsAre(2, 1, 4, 3, 0));
  EXPECT_THAT(product.call.getInnerOrder(1), ElementsAre(3, 1, 0, 2));
  EXPECT_TRUE(product.call.getInnerOrder(2).empty());
  mlir::func::FuncOp function = getFunction(*product.module);
  product.call.readInnerOrder(0, function.getArgument(2));
  product.call.readInnerOrder(1, function.getArgument(3));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(product.op)));
  using Index = rt::ContractionIndex;
  EXPECT_THAT(
      product.shape().indices,
      ElementsAre(Index{Kind::batch, 5, 168, 126, 48},
                  Index{Kind::m, 2, 84, 0, 24}, Index{Kind::m, 4, 21, 0, 6},
                  Index{Kind::n, 6, 0, 21, 1}, Index{Kind::k, 7, 3, 3, 0},
                  Index{Kind::k, 3, 1, 1, 0}));
}

// Right dims [3, 1, 7]: the bias is walked as a tensor of 3 x 7.
TEST(LibraryBias, BiasHasStridesOfTheRightSide) {
  Contraction product(R"(
    func.func @f(%a: tensor<2x4x5xf32>, %b: tensor<2x5x3x1x7xf32>, %c: tensor<3x7xf32>) {
      %r = dist.contract %a, %b bias %c batch [0] x [0] contracting [2] x [1] : (tensor<2x4x5xf32>, tensor<2x5x3x1x7xf32>, tensor<3x7xf32>) -> tensor<2x4x3x1x7xf32>
      return
    })");
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  auto [call, op] = std::pair(product.call, product.op);
  rt::ContractionShape shape = product.shape();
  EXPECT_TRUE(shape.hasBias);
  EXPECT_EQ(shape.bias, rt::DType::f32);
  EXPECT_EQ(shape.beta, 0);
  using Index = rt::ContractionIndex;
  EXPECT_THAT(shape.indices, ElementsAre(Index{Kind::batch, 2, 20, 105, 84, 0},
                                         Index{Kind::m, 4, 5, 0, 21, 0},
                                         Index{Kind::n, 3, 0, 7, 7, 7},
                                         Index{Kind::n, 1, 0, 7, 7, 7},
                                         Index{Kind::n, 7, 0, 1, 1, 1},
                                         Index{Kind::k, 5, 1, 21, 0, 0}));
  EXPECT_THAT(call.getBuffers(), ElementsAre(op.getLhs(), op.getRhs(),
                                             op.getBias(), op.getResult()));
  EXPECT_TRUE(call.getTiedPairs().empty());
  EXPECT_FALSE(call.addTo(op.getResult()));
  EXPECT_FALSE(call.addBias(op.getBias(), {2, 4}));
}

TEST(LibraryBias, AccumulatorIsTheResult) {
  Contraction product(R"(
    func.func @f(%a: tensor<4x5xf64>, %b: tensor<5x6xf64>, %c: tensor<4x6xf64>, %d: tensor<6xf64>) {
      %r = dist.contract %a, %b plus %c batch [] x [] contracting [1] x [0] : (tensor<4x5xf64>, tensor<5x6xf64>, tensor<4x6xf64>) -> tensor<4x6xf64>
      return
    })");
  ASSERT_TRUE(product.op) << product.context.takeMessages();
  auto [call, op] = std::pair(product.call, product.op);
  rt::ContractionShape shape = product.shape();
  EXPECT_FALSE(shape.hasBias);
  EXPECT_EQ(shape.beta, 1);
  EXPECT_EQ(shape.accumulate, rt::DType::f64);
  EXPECT_THAT(call.getBuffers(),
              ElementsAre(op.getLhs(), op.getRhs(), op.getResult()));
  EXPECT_THAT(call.getTiedPairs(),
              ElementsAre(std::pair<int64_t, int64_t>(0, 2)));
  Value bias = op->getBlock()->getArgument(3);
  EXPECT_FALSE(call.addBias(bias, {1}));
  op.getAccumulatorMutable().clear();
  EXPECT_FALSE(call.addBias(bias, {0}));
  EXPECT_FALSE(call.addBias(op.getLhs(), {0, 1}));
  EXPECT_TRUE(call.addBias(bias, {1}));
  EXPECT_EQ(op.getBias(), bias);
  EXPECT_FALSE(call.addTo(op->getBlock()->getArgument(2)));
}
} // namespace
