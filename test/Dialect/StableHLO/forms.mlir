// Ops that the import replaces by others, printed as they are read.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  // Products of vectors and matrices, repetition, a function of scalars.
  func.func @older(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>, %arg2: tensor<6x3xf32>, %arg3: tensor<i32>, %arg4: tensor<6x4xf32>) {
    %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
    %1 = stablehlo.dot %arg1, %arg1 : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
    %2 = stablehlo.dot %arg1, %arg4, precision = [HIGH, DEFAULT] {note = "kept"} : (tensor<6xf32>, tensor<6x4xf32>) -> tensor<4xf32>
    %3 = stablehlo.dot %arg0, %arg2 : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %4 = stablehlo.broadcast %arg1, sizes = [2, 0] : (tensor<6xf32>) -> tensor<2x0x6xf32>
    %5 = stablehlo.broadcast %arg3, sizes = [] : (tensor<i32>) -> tensor<i32>
    %6 = "stablehlo.map"(%arg0, %arg0) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %7 = stablehlo.compare LT, %arg5, %arg6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    return
  }

  // Sizes as operands, and as results.
  func.func @dynamic(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>, %arg2: tensor<2xi32>, %arg3: tensor<f32>, %arg4: tensor<1x8x8x2xf32>, %arg5: tensor<3x2x3x4xf32>, %arg6: tensor<2x2xi32>, %arg7: tensor<i32>) {
    %0 = stablehlo.dynamic_reshape %arg0, %arg2 : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
    %1 = stablehlo.dynamic_broadcast_in_dim %arg1, %arg2, dims = [0] {known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
    %2 = stablehlo.dynamic_iota %arg2, dim = 1 : (tensor<2xi32>) -> tensor<6x4xi32>
    %3 = stablehlo.dynamic_pad %arg0, %arg3, %arg2, %arg2, %arg2 : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<9x6xf32>
    %4 = stablehlo.real_dynamic_slice %arg0, %arg2, %arg2, %arg2 : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x1xf32>
    %5 = "stablehlo.dynamic_gather"(%arg0, %arg2, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0, 1]>, indices_are_sorted = false}> : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xf32>
    %6 = "stablehlo.dynamic_conv"(%arg4, %arg5, %arg6) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, i, 1, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x2xf32>, tensor<3x2x3x4xf32>, tensor<2x2xi32>) -> tensor<1x6x6x4xf32>
    %7 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
    %8 = stablehlo.set_dimension_size %arg0, %arg7, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
    return
  }

  // Batch normalization.
  func.func @norms(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) {
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    return
  }

  // Tuples, nested and empty.
  func.func @tuples(%arg0: tensor<4x6xf32>, %arg1: tensor<i1>) -> tuple<tensor<4x6xf32>, tuple<tensor<4x6xf32>, tensor<i1>>> {
    %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<4x6xf32>, tensor<i1>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x6xf32>, tensor<i1>>) -> tensor<i1>
    %2 = stablehlo.tuple %arg0, %0 : tuple<tensor<4x6xf32>, tuple<tensor<4x6xf32>, tensor<i1>>>
    %3 = stablehlo.tuple  : tuple<>
    return %2 : tuple<tensor<4x6xf32>, tuple<tensor<4x6xf32>, tensor<i1>>>
  }

  // Windows that select.
  func.func @selections(%arg0: tensor<4x8xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<f32>, %arg3: tensor<4x9xf32>) {
    %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %2 = stablehlo.compare GE, %arg4, %arg5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }, {
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %2 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
    %1 = "stablehlo.select_and_scatter"(%arg0, %arg3, %arg2) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %2 = stablehlo.compare LT, %arg5, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }, {
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<4x9xf32>, tensor<f32>) -> tensor<4x8xf32>
    return
  }
}
