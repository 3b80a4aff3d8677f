// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @window_inputs() {
  // expected-error@+1 {{expected at least 1 input, got 0}}
  "stablehlo.reduce_window"() <{window_dimensions = array<i64>}> ({
  ^bb0:
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @window_results(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 1 result, got 2}}
  %0:2 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>, tensor<3x7xf32>)
  return
}

// -----

func.func @window_shapes(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected an input of shape [4, 8], got [4, 7]}}
  %0:2 = "stablehlo.reduce_window"(%x, %y, %c, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x7xf32>, tensor<3x7xf32>)
  return
}

// -----

func.func @window_dimensions(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 entries in 'window_dimensions', got 1}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_zero(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 'window_dimensions' of at least 1, got 0}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_strides(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 entries in 'window_strides', got 3}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_strides_zero(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 'window_strides' of at least 1, got 0}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 0, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @base_dilations(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 entries in 'base_dilations', got 1}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @base_dilations_zero(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 'base_dilations' of at least 1, got 0}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 0, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_dilations(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 entries in 'window_dilations', got 0}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_dilations = array<i64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_dilations_zero(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 'window_dilations' of at least 1, got -1}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1, -1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_padding(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a 'padding' of shape [2, 2], got [4]}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<4xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_shape(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [3, 7], got [4, 8]}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @window_shape_strided(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [4, 3], got [3, 7]}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 3>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_shape_none(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [0, 7], got [1, 7]}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, padding = dense<[[-2, -1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<1x7xf32>
  return
}

// -----

func.func @window_elements(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected input, init and result of one element type, got 'tensor<4x8xf32>', 'tensor<f32>' and 'tensor<3x7xf64>'}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf64>
  return
}

// -----

func.func @window_init(%x: tensor<4x8xf64>, %c: tensor<f32>) {
  // expected-error@+1 {{expected input, init and result of one element type, got 'tensor<4x8xf64>', 'tensor<f32>' and 'tensor<3x7xf64>'}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf64>, tensor<f32>) -> tensor<3x7xf64>
  return
}

// -----

func.func @window_arguments(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a body of 2 arguments, got 1}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_returns(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a body that returns 1 value, got 2}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @window_overflow(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected sizes below 2^63 in dim 0 of the window, got 4 dilated by 9223372036854775807 and padded by 0 and 0 under 2 dilated by 1}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 9223372036854775807, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @selection_window(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 entries in 'window_dimensions', got 0}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_size(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 'window_dimensions' of at least 1, got 0}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_strides(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected 2 entries in 'window_strides', got 1}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_padding(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a 'padding' of shape [2, 2], got [1, 2]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_source(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a source of shape [4, 6], got [4, 7]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_result(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [4, 8], got [4, 9]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @selection_element(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f64>) {
  // expected-error@+1 {{expected operand, source, initial value and result of one element type, got 'tensor<4x8xf32>' and 'tensor<f64>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_arguments(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a selection of 2 arguments, got 1}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_argument(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected selection argument #1 to be a scalar of 'f32', got 'tensor<f64>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f64>):
    %1 = stablehlo.compare GE, %p, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_returns(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a selection that returns one 'tensor<i1>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @selection_scatter(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{expected a body that returns 1 value, got 2}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p, %q : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}
