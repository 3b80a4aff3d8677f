//===- ContractGroupsCallsTest.cpp - What groups ask of a library ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
using Kind = rt::ContractionIndexKind;

/// Calls `look` with the only call of a module.
template <typename Look> void withCall(StringRef text, Look look) {
  GraphContext context;
  auto module = context.parse(text);
  ASSERT_TRUE(static_cast<bool>(module)) << context.takeMessages();
  int count = 0;
  module->walk([&](graph::LibraryCallOpInterface call) {
    ++count;
    look(call);
  });
  EXPECT_EQ(count, 1);
}

rt::GroupedContractionShape describeGroups(graph::LibraryCallOpInterface call) {
  FailureOr<rt::LibraryDescriptor> found = call.getDescriptor();
  EXPECT_TRUE(succeeded(found));
  return std::get<rt::GroupedContractionShape>(*found);
}

// The right side's matrices, of which each batch has its own list.
TEST(ContractGroupsCalls, RowsAreAnIndexOfTheLeftSide) {
  withCall(R"(
  func.func @f(%x: tensor<2x3x5x4xbf16>, %w: tensor<7x4x2x6xbf16>, %s: tensor<2x9xi64>, %f: tensor<2xi64>) {
    %y = dist.contract_groups %x, %w, %s first %f batch [0] x [2] contracting [3] x [1] rows 2 groups 0
        : (tensor<2x3x5x4xbf16>, tensor<7x4x2x6xbf16>, tensor<2x9xi64>, tensor<2xi64>) -> tensor<2x3x5x6xbf16>
    return
  })",
           [](graph::LibraryCallOpInterface call) {
             rt::GroupedContractionShape shape;
             shape.product.a = shape.product.b = shape.product.c =
                 rt::DType::bf16;
             shape.product.indices = {{Kind::batch, 2, 60, 6, 90},
                                      {Kind::m, 3, 20, 0, 30},
                                      {Kind::m, 5, 4, 0, 6},
                                      {Kind::n, 6, 0, 1, 1},
                                      {Kind::k, 4, 1, 12, 0}};
             shape.rows = 2;
             shape.sizes = rt::DType::i64;
             shape.numSizes = 9;
             shape.groups = 7;
             shape.stride = 48;
             shape.hasOwnSizes = shape.hasFirst = true;
             EXPECT_TRUE(describeGroups(call) == shape);
             EXPECT_EQ(call.getBuffers().size(), 5u);
             EXPECT_EQ(call.getBuffers().back(), call->getResult(0));
             EXPECT_TRUE(call.getTiedPairs().empty());
             // Two free dims stay where they are.
             EXPECT_FALSE(call.readPermuted(0, {1, 0, 2, 3}));
             EXPECT_FALSE(call.readPermuted(2, {1, 0}));
           });
}

// The result has the matrices, behind the batch; it is added to.
TEST(ContractGroupsCalls, RowsAreContracted) {
  withCall(R"(
  func.func @f(%x: tensor<5x3xf64>, %y: tensor<5x6xf64>, %s: tensor<2xi32>, %a: tensor<2x3x6xf64>, %t: tensor<3x5xf64>, %u: tensor<6x5xf64>) {
    %g = dist.contract_groups %x, %y, %s batch [] x [] contracting [0] x [0] rows 0
        : (tensor<5x3xf64>, tensor<5x6xf64>, tensor<2xi32>) -> tensor<2x3x6xf64>
    return
  })",
           [](graph::LibraryCallOpInterface call) {
             rt::GroupedContractionShape shape;
             shape.product.a = shape.product.b = shape.product.c =
                 shape.product.accumulate = rt::DType::f64;
             shape.product.indices = {{Kind::m, 3, 1, 0, 6},
                                      {Kind::n, 6, 0, 1, 1},
                                      {Kind::k, 5, 3, 6, 0}};
             shape.rows = 2;
             shape.numSizes = shape.groups = 2;
             shape.stride = 18;
             EXPECT_TRUE(describeGroups(call) == shape);
             mlir::Block &block = *call->getBlock();
             EXPECT_FALSE(call.addTo(block.getArgument(0)));
             EXPECT_TRUE(call.addTo(block.getArgument(3)));
             EXPECT_FALSE(call.addTo(block.getArgument(3)));
             EXPECT_EQ(describeGroups(call).product.beta, 1);
             EXPECT_EQ(call.getTiedPairs().size(), 1u);
             EXPECT_EQ(call->getOperand(call.getTiedPairs()[0].second),
                       block.getArgument(3));
             // Both sides as permutations of others.
             EXPECT_TRUE(call.readPermuted(0, {1, 0}));
             call->setOperand(0, block.getArgument(4));
             EXPECT_TRUE(call.readPermuted(1, {1, 0}));
             call->setOperand(1, block.getArgument(5));
             EXPECT_TRUE(succeeded(mlir::verify(call)));
             shape.product.beta = 1;
             shape.product.indices = {{Kind::m, 3, 5, 0, 6},
                                      {Kind::n, 6, 0, 5, 1},
                                      {Kind::k, 5, 1, 1, 0}};
             EXPECT_TRUE(describeGroups(call) == shape);
           });
}
} // namespace
