// RUN: not llmc-opt %s --llmc-form-library-calls -o /dev/null 2>&1 | FileCheck %s

// What a target has neither a kernel nor a library for is refused where it
// stands in the source.
// CHECK: gpu-library.mlir:[[# @LINE + 6]]:8: error: 'stablehlo.convolution' op expected a kernel or a library of target 'cuda' for a convolution, got none; compile for 'cpu'
module {
dist.execution seed(1) threads(1) target("cuda:sm_90")
func.func @f(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x8xf32>, %a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<1x2x2x8xf32>) {
  // A contraction has a library.
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<1x2x2x8xf32>
}
}
