//===- CostTest.cpp - What ops cost, in closed form -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op of the text says in `test.cost` what it must cost: flops, elements of
// a transcendental function, bytes read and bytes written.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

constexpr const char *kOps = R"mlir(
func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x16xf32>, %h: tensor<4x8xbf16>, %p: tensor<4x8xi1>, %i: tensor<i32>, %t: tensor<4xi32>,
             %bx: tensor<2x4x8xf32>, %by: tensor<2x8x3xf32>, %rows: tensor<5x1xi32>, %s: tensor<4xf32>) {
  %z = stablehlo.constant {test.cost = array<i64: 0, 0, 0, 4>} dense<0.0> : tensor<f32>
  %0 = stablehlo.iota dim = 0 {test.cost = array<i64: 0, 0, 0, 40>} : tensor<10xi32>
  // Element by element: a flop for each, and half the bytes for half the width.
  %1 = stablehlo.add %x, %x {test.cost = array<i64: 32, 0, 256, 128>} : tensor<4x8xf32>
  %2 = stablehlo.multiply %h, %h {test.cost = array<i64: 32, 0, 128, 64>} : tensor<4x8xbf16>
  %3 = stablehlo.tanh %x {test.cost = array<i64: 0, 32, 128, 128>} : tensor<4x8xf32>
  // What chooses or moves elements has traffic alone, and reads what it keeps.
  %4 = stablehlo.select %p, %x, %x {test.cost = array<i64: 0, 0, 288, 128>} : tensor<4x8xi1>, tensor<4x8xf32>
  %5 = stablehlo.transpose %x, dims = [1, 0] {test.cost = array<i64: 0, 0, 128, 128>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %6 = stablehlo.reshape %x {test.cost = array<i64: 0, 0, 0, 0>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %7 = stablehlo.slice %x [0:2, 0:8] {test.cost = array<i64: 0, 0, 64, 64>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %8 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 8] {test.cost = array<i64: 0, 0, 32, 32>} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %9 = "stablehlo.gather"(%x, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> {test.cost = array<i64: 0, 0, 180, 160>} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  // Two flops for each product of a contraction, batch by batch.
  %10 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {test.cost = array<i64: 1024, 0, 640, 256>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %11 = stablehlo.dot_general %bx, %by, batching_dims = [0] x [0], contracting_dims = [2] x [1] {test.cost = array<i64: 384, 0, 448, 96>} : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  // The body's ops for each element.
  %12 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] {test.cost = array<i64: 32, 0, 132, 16>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %13:2 = nn.softmax_cross_entropy %x, %t {test.cost = array<i64: 160, 32, 144, 32>} : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  %14 = nn.softmax_cross_entropy_grad %x, %t, %s, %s {test.cost = array<i64: 96, 32, 176, 128>} : (tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}
)mlir";

TEST(Cost, IsTheClosedForm) {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(kOps);
  ASSERT_TRUE(module) << context.takeMessages();
  int numOps = 0;
  module->walk([&](graph::CostOpInterface op) {
    auto wanted = op->getAttrOfType<mlir::DenseI64ArrayAttr>("test.cost");
    if (!wanted)
      return;
    ++numOps;
    graph::OpCost cost = op.getCost();
    EXPECT_EQ(wanted.asArrayRef(),
              ArrayRef<int64_t>({cost.flops, cost.transcendentals,
                                 cost.bytesRead, cost.bytesWritten}))
        << op->getName().getStringRef().str() << ": " << cost.flops << ", "
        << cost.transcendentals << ", " << cost.bytesRead << ", "
        << cost.bytesWritten;
  });
  EXPECT_EQ(numOps, 16);
}

} // namespace
