// RUN: not llmc-opt %s --llmc-form-library-calls -o /dev/null 2>&1 | FileCheck %s

// What a target has neither a kernel nor a library for is refused where it
// stands in the source: products of groups of integers, which have no way to
// say that sizes do not fit.
// CHECK: gpu-library.mlir:[[# @LINE + 6]]:8: error: 'nn.grouped_dot' op expected a kernel or a library of target 'cuda' for a grouped contraction, got none; compile for 'cpu'
module {
dist.execution seed(1) threads(1) target("cuda:sm_90")
func.func @f(%x: tensor<4x6xi32>, %w: tensor<2x6x3xi32>, %s: tensor<2xi32>, %a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x3xi32>) {
  // A contraction has a library.
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xi32>, tensor<2x6x3xi32>, tensor<2xi32>) -> tensor<4x3xi32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x3xi32>
}
}
