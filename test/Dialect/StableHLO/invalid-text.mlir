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

// -----

// expected-error @+1 {{expected pairs of hexadecimal digits for the elements of a 'tensor<4611686018427387904x4xi1>'}}
%0 = stablehlo.constant dense<"0x01"> : tensor<4611686018427387904x4xi1>

// -----

func.func @results(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 operand types and 1 result type, got 2 and 2}}
  %0 = stablehlo.add %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @order(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a comparison type, got 'ORDERED'}}
  %0 = stablehlo.compare LT, %x, %x, ORDERED : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return
}

// -----

func.func @precision(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a precision, got 'MOST'}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], precision = [HIGH, MOST] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @precision_twice(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 'algorithm'}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], precision = [HIGH, HIGH], precision = [HIGH, HIGH] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @algorithm_twice(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 'algorithm' once, got it twice}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @start_number(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{invalid SSA value result number}}
  %0 = stablehlo.dynamic_slice %x, %i#first, %i, sizes = [1, 1] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @start_comma(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected ','}}
  %0 = stablehlo.dynamic_slice %x, %i %i, sizes = [1, 1] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @dot_field(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a field of this attribute, got 'lhs_contracting'}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting = [0]>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @scatter_field(%x: tensor<4xf32>, %i: tensor<1xi32>) {
  // expected-error@+1 {{expected a field of this attribute, got 'window_dims'}}
  %0 = "stablehlo.scatter"(%x, %i, %x) <{scatter_dimension_numbers = #stablehlo.scatter<window_dims = [0]>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @applied_name(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected bare identifier or keyword}}
  %0 = stablehlo.reduce(%x init: %s) applies 3 across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @applied_elsewhere(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a commutative op of two operands, got 'arith.addf'}}
  %0 = stablehlo.reduce(%x init: %s) applies arith.addf across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_attributes(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected attribute value}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] {a = } : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_types(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{number of operands and types do not match: got 2 operands and 1 types}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_location(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected location instance}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(3)
  return
}

// -----

func.func @barrier_types(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{number of operands and types do not match: got 2 operands and 1 types}}
  %0 = stablehlo.optimization_barrier %x, %x : tensor<4x8xf32>
  return
}
