// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @state_element(%s: tensor<2xi64>) {
  // expected-error@+1 {{expected 'initial_state' to be a vector of ui64, got 'tensor<2xi64>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xi64>) -> (tensor<2xi64>, tensor<4xui32>)
  return
}

// -----

func.func @state_width(%s: tensor<4xui32>) {
  // expected-error@+1 {{expected 'initial_state' to be a vector of ui64, got 'tensor<4xui32>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  return
}

// -----

func.func @state_rank(%s: tensor<1x2xui64>) {
  // expected-error@+1 {{expected 'initial_state' to be a vector of ui64, got 'tensor<1x2xui64>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<1x2xui64>) -> (tensor<1x2xui64>, tensor<4xui32>)
  return
}

// -----

func.func @other_state(%s: tensor<2xui64>) {
  // expected-error@+1 {{expected 'output_state' of the type of 'initial_state', 'tensor<2xui64>', got 'tensor<3xui64>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}

// -----

func.func @other_element(%s: tensor<2xui64>) {
  // expected-error@+1 {{expected 'output_state' of the type of 'initial_state', 'tensor<2xui64>', got 'tensor<2xi64>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xi64>, tensor<4xui32>)
  return
}

// -----

func.func @threefry_size(%s: tensor<3xui64>) {
  // expected-error@+1 {{expected a state of 2 elements for THREE_FRY, got 3}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}

// -----

func.func @philox_size(%s: tensor<4xui64>) {
  // expected-error@+1 {{expected a state of 2 or 3 elements for PHILOX, got 4}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<4xui64>) -> (tensor<4xui64>, tensor<4xui32>)
  return
}

// -----

func.func @philox_too_small(%s: tensor<1xui64>) {
  // expected-error@+1 {{expected a state of 2 or 3 elements for PHILOX, got 1}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<1xui64>) -> (tensor<1xui64>, tensor<4xui32>)
  return
}

// -----

func.func @booleans(%s: tensor<2xui64>) {
  // expected-error@+1 {{result #1 must be statically shaped tensor of integers or floats, but got 'tensor<4xi1>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xi1>)
  return
}

// -----

func.func @algorithm(%s: tensor<2xui64>) {
  // expected-error@+1 {{expected a random algorithm, got 'MERSENNE'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = MERSENNE : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}

// -----

func.func @rng_elements(%a: tensor<f32>, %b: tensor<f64>, %shape: tensor<1xi64>) {
  // expected-error@+1 {{expected 'a', 'b' and the result of one element type, got 'tensor<f32>', 'tensor<f64>' and 'tensor<4xf32>'}}
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @rng_result(%a: tensor<f32>, %shape: tensor<1xi64>) {
  // expected-error@+1 {{expected 'a', 'b' and the result of one element type, got 'tensor<f32>', 'tensor<f32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf64>
  return
}

// -----

func.func @rng_normal(%a: tensor<i32>, %shape: tensor<1xi64>) {
  // expected-error@+1 {{expected floats for NORMAL, got 'i32'}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @rng_shape_element(%a: tensor<f32>, %shape: tensor<1xi32>) {
  // expected-error@+1 {{expected 'shape' to be a vector of i64, got 'tensor<1xi32>'}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @rng_shape_size(%a: tensor<f32>, %shape: tensor<2xi64>) {
  // expected-error@+1 {{expected 'shape' of shape [1], got [2]}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @rng_distribution(%a: tensor<f32>, %shape: tensor<1xi64>) {
  // expected-error@+1 {{expected a random distribution, got 'POISSON'}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = POISSON : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return
}
