// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @dot_rank(%x: tensor<2x4x6xf32>, %y: tensor<6xf32>) {
  // expected-error@+1 {{expected operands of rank 1 or 2, got 'tensor<2x4x6xf32>'}}
  %0 = stablehlo.dot %x, %y : (tensor<2x4x6xf32>, tensor<6xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_scalar(%x: tensor<f32>, %y: tensor<6xf32>) {
  // expected-error@+1 {{expected operands of rank 1 or 2, got 'tensor<f32>'}}
  %0 = stablehlo.dot %y, %x : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @dot_sizes(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) {
  // expected-error@+1 {{expected a right operand whose first dimension has size 6, got 'tensor<4x6xf32>'}}
  %0 = stablehlo.dot %x, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_result(%x: tensor<4x6xf32>, %y: tensor<6x3xf32>) {
  // expected-error@+1 {{expected a result of shape [4, 3], got [3, 4]}}
  %0 = stablehlo.dot %x, %y : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @dot_elements(%x: tensor<4x6xf32>, %y: tensor<6x3xi32>) {
  // expected-error@+1 {{expected operands and result all of floats, all of integers or all of complex numbers, got 'tensor<4x6xf32>', 'tensor<6x3xi32>' and 'tensor<4x3xf32>'}}
  %0 = stablehlo.dot %x, %y : (tensor<4x6xf32>, tensor<6x3xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_precision(%x: tensor<4x6xf32>, %y: tensor<6x3xf32>) {
  // expected-error@+1 {{expected 2 entries in 'precision_config', got 1}}
  %0 = stablehlo.dot %x, %y, precision = [HIGH] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dot_keyword(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{expected 'precision'}}
  %0 = stablehlo.dot %x, %x, algorithm = 1 : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @broadcast_shape(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 6], got [6, 2]}}
  %0 = stablehlo.broadcast %x, sizes = [2] : (tensor<6xf32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @broadcast_element(%x: tensor<6xf32>) {
  // expected-error@+1 {{expected a result of the operand's element type, got 'tensor<2x6xf64>' of 'tensor<6xf32>'}}
  %0 = stablehlo.broadcast %x, sizes = [2] : (tensor<6xf32>) -> tensor<2x6xf64>
  return
}

// -----

func.func @map_inputs() {
  // expected-error@+1 {{expected at least 1 input, got 0}}
  %0 = "stablehlo.map"() <{dimensions = array<i64>}> ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : () -> tensor<f32>
  return
}

// -----

func.func @map_dims(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{expected 'dimensions' from 0 to 1 in order, got 2 others}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%p: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @map_shape(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{expected an input of shape [6, 4], got [4, 6]}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%p: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @map_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a computation of 1 arguments that returns one value}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @map_argument(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a scalar for the elements of 'tensor<4xf32>', got 'tensor<f64>'}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f64>):
    stablehlo.return %p : tensor<f64>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @map_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the computation to return an element of 'tensor<4xf64>', got 'tensor<f32>'}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @size_dim(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{expected 'dimension' in [0, 2), got 2}}
  %0 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<4x6xf32>) -> tensor<i32>
  return
}

// -----

func.func @size_result(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{expected a result of i32, got 'tensor<i64>'}}
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x6xf32>) -> tensor<i64>
  return
}

// -----

func.func @set_size(%x: tensor<4x6xf32>, %n: tensor<i32>) {
  // expected-error@+1 {{expected a result of 'tensor<4x6xf32>', got 'tensor<4x5xf32>'}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @set_size_dim(%x: tensor<4x6xf32>, %n: tensor<i32>) {
  // expected-error@+1 {{expected 'dimension' in [0, 2), got -1}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = -1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @tuple_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the tuple of the values' types, got 'tuple<tensor<5xf32>>'}}
  %0 = "stablehlo.tuple"(%x) : (tensor<4xf32>) -> tuple<tensor<5xf32>>
  return
}

// -----

func.func @element_index(%x: tuple<tensor<4xf32>>) {
  // expected-error@+1 {{expected 'index' in [0, 1), got 1}}
  %0 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}

// -----

func.func @element_negative(%x: tuple<tensor<4xf32>>) {
  // expected-error@+1 {{expected 'index' in [0, 1), got -1}}
  %0 = stablehlo.get_tuple_element %x[-1] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}

// -----

func.func @element_type(%x: tuple<tensor<4xf32>>) {
  // expected-error@+1 {{expected a result of 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<4xf32>>) -> tensor<5xf32>
  return
}

// -----

func.func @norm_dim(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@+1 {{expected 'feature_index' in [0, 2), got 2}}
  %0 = "stablehlo.batch_norm_inference"(%x, %c, %c, %c, %c) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @norm_features(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@+1 {{expected scale, offset, mean and variance of shape [4], got [6]}}
  %0 = "stablehlo.batch_norm_inference"(%x, %c, %c, %c, %c) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @norm_element(%x: tensor<4x6xf32>, %c: tensor<6xf32>, %d: tensor<6xf64>) {
  // expected-error@+1 {{expected scale and offset of the operand's element type, 'f32', got 'tensor<6xf64>'}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %c, %d) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf64>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @norm_result(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@+1 {{expected an output of shape [4, 6], got [6, 4]}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %c, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<6x4xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @norm_moments(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@+1 {{expected mean and variance of shape [6], got [4]}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %c, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<4xf32>)
  return
}

// -----

func.func @norm_cotangent(%x: tensor<4x6xf32>, %g: tensor<4x5xf32>, %c: tensor<6xf32>) {
  // expected-error@+1 {{expected a cotangent of shape [4, 6], got [4, 5]}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %c, %c, %c, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x5xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}
