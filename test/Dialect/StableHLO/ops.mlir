// The file is written exactly as it is printed, so the text itself is the check;
// then through the generic form and back.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  // Float functions of one operand; the accuracy that a few of them may ask for.
  func.func @unary(%arg0: tensor<4x8xf32>) {
    %0 = stablehlo.abs %arg0 : tensor<4x8xf32>
    %1 = stablehlo.cbrt %arg0 : tensor<4x8xf32>
    %2 = stablehlo.ceil %arg0 : tensor<4x8xf32>
    %3 = stablehlo.cosine %arg0 : tensor<4x8xf32>
    %4 = stablehlo.exponential %arg0 : tensor<4x8xf32>
    %5 = stablehlo.exponential_minus_one %arg0 : tensor<4x8xf32>
    %6 = stablehlo.floor %arg0 : tensor<4x8xf32>
    %7 = stablehlo.log %arg0 : tensor<4x8xf32>
    %8 = stablehlo.log_plus_one %arg0 : tensor<4x8xf32>
    %9 = stablehlo.logistic %arg0 : tensor<4x8xf32>
    %10 = stablehlo.negate %arg0 : tensor<4x8xf32>
    %11 = stablehlo.rsqrt %arg0 : tensor<4x8xf32>
    %12 = stablehlo.sign %arg0 : tensor<4x8xf32>
    %13 = stablehlo.sine %arg0 : tensor<4x8xf32>
    %14 = stablehlo.sqrt %arg0 : tensor<4x8xf32>
    %15 = stablehlo.tanh %arg0 : tensor<4x8xf32>
    %16 = stablehlo.is_finite %arg0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    %17 = stablehlo.not %16 : tensor<4x8xi1>
    %18 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
    %19 = stablehlo.convert %arg0 : tensor<4x8xf32>
    %20 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4x8xf32>
    %21 = stablehlo.log %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32>
    %22 = stablehlo.tan %arg0 : tensor<4x8xf32>
    %23 = stablehlo.round_nearest_afz %arg0 : tensor<4x8xf32>
    %24 = stablehlo.round_nearest_even %arg0 : tensor<4x8xf32>
    %25 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<4x8xf32>
    %26 = stablehlo.reduce_precision %arg0, format = e10m0 : tensor<4x8xf32>
    %27 = stablehlo.sine %arg0 {result_accuracy = #stablehlo.result_accuracy<rtol = 5.000000e-01, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32>
    return
  }

  // Functions of two operands, of every element type that they take.
  func.func @binary(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xui32>, %arg3: tensor<4xi1>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<4xf32>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<4xf32>
    %4 = stablehlo.maximum %arg0, %arg1 : tensor<4xf32>
    %5 = stablehlo.minimum %arg0, %arg1 : tensor<4xf32>
    %6 = stablehlo.power %arg0, %arg1 : tensor<4xf32>
    %7 = stablehlo.remainder %arg2, %arg2 : tensor<4xui32>
    %8 = stablehlo.and %arg3, %arg3 : tensor<4xi1>
    %9 = stablehlo.or %arg3, %arg3 : tensor<4xi1>
    %10 = stablehlo.xor %arg2, %arg2 : tensor<4xui32>
    %11 = stablehlo.add %arg3, %arg3 : tensor<4xi1>
    %12 = stablehlo.atan2 %arg0, %arg1 : tensor<4xf32>
    return
  }

  // The bits of integers, and of floats as integers: all of an element, its parts, and back.
  func.func @bits(%arg0: tensor<4xui32>, %arg1: tensor<4xi64>, %arg2: tensor<4xf32>, %arg3: tensor<f64>) {
    %0 = stablehlo.shift_left %arg0, %arg0 : tensor<4xui32>
    %1 = stablehlo.shift_right_logical %arg1, %arg1 : tensor<4xi64>
    %2 = stablehlo.shift_right_arithmetic %arg0, %arg0 : tensor<4xui32>
    %3 = stablehlo.popcnt %arg1 : tensor<4xi64>
    %4 = stablehlo.count_leading_zeros %arg0 : tensor<4xui32>
    %5 = stablehlo.bitcast_convert %arg2 : (tensor<4xf32>) -> tensor<4xui32>
    %6 = stablehlo.bitcast_convert %arg2 : (tensor<4xf32>) -> tensor<4x2xbf16>
    %7 = stablehlo.bitcast_convert %6 : (tensor<4x2xbf16>) -> tensor<4xf32>
    %8 = stablehlo.bitcast_convert %arg3 : (tensor<f64>) -> tensor<8xui8>
    return
  }

  // Comparison with and without a type, choice and bounds, with scalars too.
  func.func @choice(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>, %arg2: tensor<i1>, %arg3: tensor<f32>) {
    %0 = stablehlo.compare LT, %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %1 = stablehlo.compare GE, %arg1, %arg1, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %2 = stablehlo.compare EQ, %arg0, %arg0, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %3 = stablehlo.compare NE, %0, %1, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %4 = stablehlo.select %3, %arg0, %arg0 : tensor<4xi1>, tensor<4xf32>
    %5 = stablehlo.select %arg2, %arg0, %arg0 : tensor<i1>, tensor<4xf32>
    %6 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4xf32>
    %7 = stablehlo.clamp %arg3, %arg0, %arg3 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.compare EQ, %3, %3 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %9 = stablehlo.compare EQ, %arg0, %arg0, NOTYPE : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %10 = stablehlo.compare EQ, %3, %3, NOTYPE : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %11 = stablehlo.compare EQ, %arg1, %arg1, NOTYPE : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    return
  }

  // Constants name their results; attributes stand before the value.
  func.func @constants() {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c_0 = stablehlo.constant dense<true> : tensor<4xi1>
    %cst_1 = stablehlo.constant {note = 1 : i32} dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    %cst_2 = stablehlo.constant dense<> : tensor<0x3xf32>
    %0 = stablehlo.iota dim = 1 : tensor<4x8xui64>
    return
  }

  // Movement with static positions.
  func.func @movement(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x3x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<2x16xf32>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.reverse %arg0, dims = [1] : tensor<4x8xf32>
    %5 = stablehlo.slice %arg0 [0:4, 1:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
    %7 = stablehlo.pad %arg0, %arg1, low = [0, -1], high = [1, 0], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x14xf32>
    %8 = stablehlo.concatenate %arg0, %5, dim = 1 : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
    %9 = stablehlo.slice %arg0 [4:4, 0:8:8] : (tensor<4x8xf32>) -> tensor<0x1xf32>
    %10 = stablehlo.pad %arg0, %arg1, low = [-4, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<0x8xf32>
    return
  }

  // Contractions: free and batching dimensions, wider results, algorithms.
  func.func @contractions(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x8x4xf32>, %arg2: tensor<4x8xbf16>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2, 1] x [1, 2] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [] x [] : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8x4x8xf32>
    %3 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xf32>
    %4 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [1] x [1], precision = [] : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xf32>
    %5 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xf32>
    return
  }

  // Reductions: compact where the body is one commutative op, else with a region.
  func.func @reductions(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
      %4 = stablehlo.subtract %arg2, %arg3 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }
    %3:2 = stablehlo.reduce(%arg0 init: %cst), (%arg1 init: %c) across dimensions = [0] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
     reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<i32>, %arg5: tensor<i32>) {
      %4 = stablehlo.compare GT, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.select %4, %arg2, %arg4 : tensor<i1>, tensor<f32>
      %6 = stablehlo.select %4, %arg3, %arg5 : tensor<i1>, tensor<i32>
      stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
    }
    return
  }

  // What the compact form cannot say: the arguments in another order or one of
  // them twice, another result than the op's, no op at all.
  func.func @long_reductions(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
    %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
      %5 = stablehlo.add %arg3, %arg2 : tensor<f32>
      stablehlo.return %5 {note = "kept"} : tensor<f32>
    }
    %1 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
      %5 = stablehlo.add %arg2, %arg2 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }
    %2 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
      %5 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %arg3 : tensor<f32>
    }
    %3 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
      stablehlo.return %arg2 : tensor<f32>
    }
    %4 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [] {note = 1 : i32} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    return
  }

  // Indexing at run time: an embedding, a pick along the last dimension, and the
  // scatters that are their gradients.
  func.func @indexing(%arg0: tensor<64x32xf32>, %arg1: tensor<2x8x1xi32>, %arg2: tensor<2x8x64xf32>, %arg3: tensor<2x8x1x1xi32>, %arg4: tensor<2x8x32xf32>, %arg5: tensor<2x8x1xf32>, %arg6: tensor<i32>) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
    %1 = "stablehlo.gather"(%arg2, %arg3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x8x64xf32>, tensor<2x8x1x1xi32>) -> tensor<2x8x1xf32>
    %2 = "stablehlo.scatter"(%arg0, %arg1, %arg4) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %9 = stablehlo.add %arg7, %arg8 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<64x32xf32>, tensor<2x8x1xi32>, tensor<2x8x32xf32>) -> tensor<64x32xf32>
    %3 = "stablehlo.scatter"(%arg2, %arg3, %arg5) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      stablehlo.return %arg8 : tensor<f32>
    }) : (tensor<2x8x64xf32>, tensor<2x8x1x1xi32>, tensor<2x8x1xf32>) -> tensor<2x8x64xf32>
    %4 = stablehlo.dynamic_slice %arg0, %arg6, %arg6, sizes = [1, 32] : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
    %5 = stablehlo.dynamic_update_slice %arg0, %4, %arg6, %arg6 : (tensor<64x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
    %6 = stablehlo.dynamic_slice %arg0, %arg6, %arg6, sizes = [64, 0] : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<64x0xf32>
    %7 = stablehlo.dynamic_update_slice %arg0, %arg0, %arg6, %arg6 : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
    %8 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 0, 0>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x0xf32>
    return
  }

  // With and without operands; attributes come first.
  func.func @barriers(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
    stablehlo.optimization_barrier()
    %0 = stablehlo.optimization_barrier %arg0 : tensor<4xf32>
    %1:2 = stablehlo.optimization_barrier {note = 1 : i32} %arg0, %arg1 : tensor<4xf32>, tensor<i32>
    return
  }
}
