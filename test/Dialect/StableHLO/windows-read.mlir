// What is read and printed in another way: keys in any order, numbers for
// booleans, blanks, a trailing comma, plain attributes, named dimensions.
// RUN: llmc-opt %s | FileCheck %s

// CHECK-LABEL: func.func @keys
func.func @keys(%x: tensor<2x8x9x6xf32>, %w: tensor<3x2x6x4xf32>) {
  // CHECK: window = {stride = [1, 1], pad = {{\[\[}}0, 0], [0, 0]], rhs_dilate = [1, 1], reverse = [false, true]} {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b,0,1,f] x [0,1,i,o] -> [b,0,1,f], window = {reverse = [0, 1], pad = [[0, 0],[0, 0]], rhs_dilate = [1, 1], stride = [1, 1],} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1]], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  %1 = "stablehlo.convolution"(%x, %w) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw output_spatial_dimensions = [1, 2], input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>, window_reversal = array<i1: false, true>} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x8x10x4xf32>
  return
}

// Dimension numbers on their own; those that are no lists have names.
// CHECK-LABEL: func.func private @numbers
// CHECK-SAME: lists = #stablehlo.conv<[b, 1, 0, f]x[o, 0, i, 1]->[f, 0, 1, b]>
// CHECK-SAME: none = #stablehlo.conv<[b, f]x[i, o]->[b, f]>
// CHECK-SAME: raw = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 0, kernel_input_feature_dimension = -1, kernel_output_feature_dimension = 3, output_batch_dimension = 7, output_feature_dimension = 3, input_spatial_dimensions = [], kernel_spatial_dimensions = [0, 0], output_spatial_dimensions = []>
func.func private @numbers() attributes {
  lists = #stablehlo.conv<[b, 1, 0, f]x[o, 0, i, 1]->[f, 0, 1, b]>,
  none = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 1, kernel_input_feature_dimension = 0, kernel_output_feature_dimension = 1, output_batch_dimension = 0, output_feature_dimension = 1>,
  raw = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 0, kernel_input_feature_dimension = -1, kernel_output_feature_dimension = 3, output_batch_dimension = 7, output_feature_dimension = 3, kernel_spatial_dimensions = [0, 0]>}
