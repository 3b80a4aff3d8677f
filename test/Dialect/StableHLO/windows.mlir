// The file is written exactly as it is printed, so the text itself is the check;
// then through the generic form and back.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  // Without a window's keys, with each of them, and with all.
  func.func @convolutions(%arg0: tensor<2x8x9x6xf32>, %arg1: tensor<3x2x6x4xf32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
    %1 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x3x3x4xf32>
    %2 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, -1], [0, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x10x4xf32>
    %3 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x13x8x4xf32>
    %4 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x4x5x4xf32>
    %5 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x6x8x4xf32>
    %6 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, note = "kept", precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<2x8x9x6xf32>, tensor<3x2x6x4xf32>) -> tensor<2x2x8x4xf32>
    return
  }

  // Any order of dimensions, as the derivatives of a convolution have them.
  func.func @orders(%arg0: tensor<2x6x8x9xf32>, %arg1: tensor<4x6x3x2xf32>, %arg2: tensor<2x8x9x6xf32>, %arg3: tensor<2x6x8x4xf32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x8x9xf32>, tensor<4x6x3x2xf32>) -> tensor<2x4x6x8xf32>
    %1 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 1, 0]x[o, i, 1, 0]->[f, 1, b, 0], window = {pad = [[0, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x8x9xf32>, tensor<4x6x3x2xf32>) -> tensor<4x6x2x9xf32>
    %2 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x6xf32>, tensor<2x6x8x4xf32>) -> tensor<3x2x6x4xf32>
    return
  }

  // Groups; no, one and three spatial dimensions; a wider result; integers; no elements.
  func.func @kinds(%arg0: tensor<4x9x6xbf16>, %arg1: tensor<3x2x12xbf16>, %arg2: tensor<3x6x12xbf16>, %arg3: tensor<5x6xi8>, %arg4: tensor<6x7xi8>, %arg5: tensor<0x4x4x4x3xf64>, %arg6: tensor<2x2x2x3x5xf64>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<4x9x6xbf16>, tensor<3x2x12xbf16>) -> tensor<4x7x12xf32>
    %1 = stablehlo.convolution(%arg0, %arg2) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x9x6xbf16>, tensor<3x6x12xbf16>) -> tensor<2x7x12xbf16>
    %2 = stablehlo.convolution(%arg3, %arg4) dim_numbers = [b, f]x[i, o]->[f, b], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = []} : (tensor<5x6xi8>, tensor<6x7xi8>) -> tensor<7x5xi32>
    %3 = stablehlo.convolution(%arg3, %arg4) dim_numbers = [b, f]x[i, o]->[b, f], window = {stride = [], pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x6xi8>, tensor<6x7xi8>) -> tensor<5x7xi8>
    %4 = stablehlo.convolution(%arg5, %arg6) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {pad = [[0, 0], [-3, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<0x4x4x4x3xf64>, tensor<2x2x2x3x5xf64>) -> tensor<0x3x0x5x5xf64>
    return
  }

  // Windows: all attributes, few of them, several inputs, any body, no place.
  func.func @windows(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<bf16>, %arg5: tensor<bf16>) {
    %0 = "stablehlo.reduce_window"(%arg0, %arg2) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 8>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %5 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %1 = "stablehlo.reduce_window"(%arg0, %arg2) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %5 = stablehlo.maximum %arg6, %arg7 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    %2:2 = "stablehlo.reduce_window"(%arg0, %arg1, %arg2, %arg3) <{base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 2>, window_dimensions = array<i64: 2, 3>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<i32>, %arg8: tensor<f32>, %arg9: tensor<i32>):
      %5 = stablehlo.subtract %arg6, %arg8 : tensor<f32>
      %6 = stablehlo.or %arg7, %arg9 : tensor<i32>
      stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
    }) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x4xf32>, tensor<4x4xi32>)
    %3 = "stablehlo.reduce_window"(%arg0, %arg2) <{padding = dense<[[-5, -5], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      stablehlo.return %arg6 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<0x8xf32>
    %4 = "stablehlo.reduce_window"(%arg4, %arg5) <{window_dimensions = array<i64>}> ({
    ^bb0(%arg6: tensor<bf16>, %arg7: tensor<bf16>):
      %5 = stablehlo.multiply %arg6, %arg7 : tensor<bf16>
      stablehlo.return %5 : tensor<bf16>
    }) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    return
  }
}
