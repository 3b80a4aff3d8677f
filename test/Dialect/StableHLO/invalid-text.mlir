// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @unknown_op(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected an op that llmc knows, got 'stablehlo.novel', which llmc does not have}}
  %0 = stablehlo.novel %x : tensor<4x8xf32>
  return
}

// -----

func.func @direction(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a comparison direction, got 'LESS'}}
  %0 = stablehlo.compare LESS, %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return
}

// -----

func.func @types(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 operand types and 1 result type, got 1 and 1}}
  %0 = stablehlo.add %x, %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @applied(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a commutative op of two operands, got 'stablehlo.subtract'}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.subtract across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @applied_input(%x: i32, %s: tensor<f32>) {
  // expected-error@+1 {{expected a ranked tensor as first input, got 'i32'}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (i32, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @field(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected a field of this attribute, got 'offsets'}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offsets = [2]>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @field_twice(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected field 'index_vector_dim' once, got it twice}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2, index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @accuracy_field(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a field of this attribute, got 'ulp'}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<ulp = 1>} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{expected pairs of hexadecimal digits for the elements of a 'tensor<16xi1>'}}
%0 = stablehlo.constant dense<"0x012"> : tensor<16xi1>

// -----

// expected-error @+1 {{expected elements with one meaning, got a byte that may be one value for all or a bit for each: write true and false}}
%0 = stablehlo.constant dense<"0x01"> : tensor<8xi1>
