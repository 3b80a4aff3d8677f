// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @dot_range(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected 'rhs dimensions' in [0, 3), got 3}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [3] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x2x4xf32>
  return
}

// -----

func.func @dot_twice(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected distinct 'lhs dimensions', got 2 twice}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [2] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x2x4xf32>
  return
}

// -----

func.func @dot_pairs(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected as many contracting dimensions on the right as on the left, 1, got 0}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x2x4xf32>
  return
}

// -----

func.func @dot_sizes(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected batching dimensions 0 and 2 of one size, got 2 and 4}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x2x4xf32>
  return
}

// -----

func.func @dot_shape(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 4, 4], got [2, 4, 5]}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @dot_elements(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{expected operands and result all of floats, all of integers or all of complex numbers, got 'tensor<4xf32>', 'tensor<4xi32>' and 'tensor<f32>'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xi32>) -> tensor<f32>
  return
}

// -----

func.func @dot_precisions(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected 2 entries in 'precision_config', got 1}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_algorithm_precision(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected precision DEFAULT beside an algorithm, got HIGH}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_algorithm_type(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected float types in a dot algorithm, got 'i32', 'tf32' and 'f32'}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = i32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_algorithm_count(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected counts of at least 1 in a dot algorithm, got 0, 1 and 1}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @reduce_none() {
  // expected-error@+1 {{expected at least 1 input, got 0}}
  "stablehlo.reduce"() <{dimensions = array<i64: 0>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @reduce_results(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected 1 result, got 2}}
  %0:2 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @reduce_dims(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected 'dimensions' in [0, 2), got 2}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_shape(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [8], got [4]}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_elements(%x: tensor<4x8xf32>, %s: tensor<f64>) {
  // expected-error@+1 {{expected input, init and result of one element type, got 'tensor<4x8xf32>', 'tensor<f64>' and 'tensor<8xf32>'}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f64>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_init(%x: tensor<4x8xf32>, %s: tensor<1xf32>) {
  // expected-error@+1 {{operand #1 must be variadic of tensor of rank 0, but got 'tensor<1xf32>'}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @body_arguments(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a body of 2 arguments, got 1}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @body_scalar(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected body argument #1 to be a scalar of 'f32', got 'tensor<f64>'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f64>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @body_end(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the body to end in 'stablehlo.return'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    func.return
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @body_returns(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a body that returns 1 value, got 0}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @body_returned(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the body to return a scalar of 'f32', got 'tensor<8xf32>'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.iota dim = 0 : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @dot_left_elements(%a: tensor<4xi32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and result all of floats, all of integers or all of complex numbers, got 'tensor<4xi32>', 'tensor<4xf32>' and 'tensor<f32>'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4xi32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_result_elements(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and result all of floats, all of integers or all of complex numbers, got 'tensor<4xf32>', 'tensor<4xf32>' and 'tensor<i32>'}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<i32>
  return
}

// -----

func.func @dot_batching_pairs(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) {
  // expected-error@+1 {{expected as many batching dimensions on the right as on the left, 0, got 1}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_second_sizes(%a: tensor<2x4x8xf32>, %b: tensor<8x2x9xf32>) {
  // expected-error@+1 {{expected contracting dimensions 1 and 2 of one size, got 4 and 9}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [2, 1] x [0, 2] : (tensor<2x4x8xf32>, tensor<8x2x9xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dot_second_precision(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected precision DEFAULT beside an algorithm, got HIGHEST}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_algorithm_right_type(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected float types in a dot algorithm, got 'tf32', 'i32' and 'f32'}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = i32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_algorithm_accumulation(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected float types in a dot algorithm, got 'tf32', 'tf32' and 'i32'}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = i32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_algorithm_right_count(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected counts of at least 1 in a dot algorithm, got 1, 0 and 1}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_algorithm_operations(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected counts of at least 1 in a dot algorithm, got 1, 1 and 0}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @reduce_too_few_results(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected 2 results, got 1}}
  %0 = "stablehlo.reduce"(%x, %x, %s, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %t: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_second_input(%x: tensor<4x8xf32>, %y: tensor<4x9xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected an input of shape [4, 8], got [4, 9]}}
  %0:2 = "stablehlo.reduce"(%x, %y, %s, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %t: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x9xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @reduce_second_result(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [8], got [9]}}
  %0:2 = "stablehlo.reduce"(%x, %x, %s, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %t: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<9xf32>)
  return
}

// -----

func.func @reduce_second_elements(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected input, init and result of one element type, got 'tensor<4x8xf32>', 'tensor<f32>' and 'tensor<8xf64>'}}
  %0:2 = "stablehlo.reduce"(%x, %x, %s, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %t: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf64>)
  return
}

// -----

func.func @body_empty(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the body to end in 'stablehlo.return'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @body_argument_rank(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected body argument #1 to be a scalar of 'f32', got 'tensor<1xf32>'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<1xf32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

// The third argument belongs to the first input again.
func.func @body_third_argument(%x: tensor<4x8xf32>, %y: tensor<4x8xi32>, %s: tensor<f32>, %c: tensor<i32>) {
  // expected-error@+1 {{expected body argument #2 to be a scalar of 'f32', got 'tensor<i32>'}}
  %0:2 = "stablehlo.reduce"(%x, %y, %s, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<i32>, %t: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<i32>
  }) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
  return
}

// -----

func.func @body_returns_two(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a body that returns 2 values, got 1}}
  %0:2 = "stablehlo.reduce"(%x, %x, %s, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %t: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @body_second_returned(%x: tensor<4x8xf32>, %y: tensor<4x8xi32>, %s: tensor<f32>, %c: tensor<i32>) {
  // expected-error@+1 {{expected the body to return a scalar of 'i32', got 'tensor<f32>'}}
  %0:2 = "stablehlo.reduce"(%x, %y, %s, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %t: tensor<i32>):
    stablehlo.return %p, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
  return
}
