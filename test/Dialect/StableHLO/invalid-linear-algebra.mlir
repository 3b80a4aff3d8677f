// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @vector(%a: tensor<3xf32>) {
  // expected-error@+1 {{expected an operand a of rank 2 or more whose last two dimensions are equal, got 'tensor<3xf32>'}}
  %0 = stablehlo.cholesky %a : tensor<3xf32>
  return
}

// -----

func.func @oblong(%a: tensor<2x3x4xf32>) {
  // expected-error@+1 {{expected an operand a of rank 2 or more whose last two dimensions are equal, got 'tensor<2x3x4xf32>'}}
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x3x4xf32>
  return
}

// -----

func.func @integers(%a: tensor<3x3xi32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of floats, but got 'tensor<3x3xi32>'}}
  %0 = stablehlo.cholesky %a : tensor<3x3xi32>
  return
}

// -----

func.func @element(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{expected a result of 'f32', got 'tensor<3x3xf64>'}}
  %0 = stablehlo.cholesky %a : (tensor<3x3xf32>) -> tensor<3x3xf64>
  return
}

// -----

func.func @shape(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{expected a result of shape [3, 3], got [4, 4]}}
  %0 = stablehlo.cholesky %a : (tensor<3x3xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @oblong_triangle(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{expected an operand a of rank 2 or more whose last two dimensions are equal, got 'tensor<2x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @elements(%a: tensor<3x3xf32>, %b: tensor<3x3xf64>) {
  // expected-error@+1 {{expected operands of one element type, got 'f32' and 'f64'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf64>) -> tensor<3x3xf64>
  return
}

// -----

func.func @ranks(%a: tensor<3x3xf32>, %b: tensor<2x3x3xf32>) {
  // expected-error@+1 {{expected operands of one rank, got 2 and 3}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @rows(%a: tensor<3x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{expected an operand b of shape [3, 3], got [4, 3]}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @columns(%a: tensor<3x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expected an operand b of shape [3, 3], got [3, 4]}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @batch(%a: tensor<2x3x3xf32>, %b: tensor<5x3x4xf32>) {
  // expected-error@+1 {{expected an operand b of shape [2, 3, 4], got [5, 3, 4]}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<5x3x4xf32>) -> tensor<5x3x4xf32>
  return
}

// -----

func.func @result(%a: tensor<3x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expected a result of shape [3, 4], got [3, 3]}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @form(%a: tensor<3x3xf32>) {
  // expected-error@+2 {{failed to parse StableHLO_TransposeAttr parameter 'value'}}
  // expected-error@+1 {{expected ::llmc::stablehlo::Transpose to be one of: NO_TRANSPOSE, TRANSPOSE, ADJOINT}}
  %0 = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @oblong_pivoted(%a: tensor<2x3x4xf32>) {
  // expected-error@+1 {{expected an operand a of rank 2 or more whose last two dimensions are equal, got 'tensor<2x3x4xf32>'}}
  %0:3 = stablehlo.lu %a : (tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<2x3xi32>)
  return
}

// -----

func.func @element_of_factors(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{expected a result of 'f32', got 'tensor<3x3xf64>'}}
  %0:3 = stablehlo.lu %a : (tensor<3x3xf32>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<3xi32>)
  return
}

// -----

func.func @number_of_pivots(%a: tensor<2x3x3xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 3], got [3]}}
  %0:3 = stablehlo.lu %a : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<3xi32>, tensor<2x3xi32>)
  return
}

// -----

func.func @permutation_of_64(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{expected a result of 'i32', got 'tensor<3xi64>'}}
  %0:3 = stablehlo.lu %a : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>, tensor<3xi64>)
  return
}

// -----

func.func @no_room(%x: tensor<3x3xf32>) {
  // expected-error@+1 {{expected an operand of rank 2 or more with more rows than columns, of which it has at least one, got 'tensor<3x3xf32>'}}
  %0 = stablehlo.lu_in_place %x : tensor<3x3xf32>
  return
}

// -----

func.func @narrow_room(%x: tensor<4x3xbf16>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float or 64-bit float values, but got 'tensor<4x3xbf16>'}}
  %0 = stablehlo.lu_in_place %x : tensor<4x3xbf16>
  return
}
