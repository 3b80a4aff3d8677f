// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @none() {
  // expected-error@+1 {{expected at least 1 input, got 0}}
  "stablehlo.sort"() ({
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : () -> ()
  return
}

// -----

func.func @results(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 results, got 0}}
  "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @dimension(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'dimension' in [-1, 1), got 1}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dimension_below(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'dimension' in [-1, 1), got -2}}
  %0 = "stablehlo.sort"(%x) <{dimension = -2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{expected an input of shape [4], got [5]}}
  %0:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @result_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of shape [4], got [5]}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected inputs and results of the same element types, got 'tensor<4xf32>' and 'tensor<4xi32>'}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a comparator of 2 arguments, got 1}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @argument_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected comparator argument #1 to be a scalar of 'f32', got 'tensor<i32>'}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @argument_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected comparator argument #0 to be a scalar of 'f32', got 'tensor<1xf32>'}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<1xf32>, %b: tensor<f32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @returned(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a comparator that returns one 'tensor<i1>'}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error@+1 {{expected an operand of rank 1 or more, got 'tensor<f32>'}}
  %0:2 = "chlo.top_k"(%x) <{k = 1 : i64}> : (tensor<f32>) -> (tensor<f32>, tensor<i32>)
  return
}

// -----

func.func @too_many(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'k' in [0, 4], got 5}}
  %0:2 = chlo.top_k(%x, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return
}

// -----

func.func @negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'k' in [0, 4], got -1}}
  %0:2 = chlo.top_k(%x, k = -1) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return
}

// -----

func.func @values(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf64>, tensor<2xi32>)
  return
}

// -----

func.func @indices(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of 'tensor<2xi32>', got 'tensor<2xi64>'}}
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi64>)
  return
}
