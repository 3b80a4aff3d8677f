// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>) {
  // expected-error @+1 {{'dist.attend' op expected each dim of the query 'tensor<8x4xf32>' once, got [0, 0]}}
  %0:2 = dist.attend %q, %k, %q scale 1.0 dims [0, 0], [0, 1], [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %k: tensor<8xf32>) {
  // expected-error @+1 {{'dist.attend' op expected each dim of the key 'tensor<8xf32>' once, got [0, 1]}}
  %0:2 = dist.attend %q, %k, %q scale 1.0 dims [0, 1], [0, 1], [0, 1] : (tensor<8x4xf32>, tensor<8xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8xf32>, %k: tensor<8x4xf32>) {
  // expected-error @+1 {{'dist.attend' op expected a key of rank 2 at least, a value of its rank and a query of no less, got ranks 2, 2 and 1}}
  %0:2 = dist.attend %q, %k, %k scale 1.0 dims [0], [0, 1], [0, 1] : (tensor<8xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{'dist.attend' op expected no offset of what is not causal}}
  %0:2 = dist.attend %q, %k, %q offset %o scale 1.0 dims [0, 1], [0, 1], [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<i32>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{'dist.attend' op expected a bias of rank 2, got 'tensor<8xf32>'}}
  %0:2 = dist.attend %q, %k, %q bias %b scale 1.0 dims [0, 1], [0, 1], [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>) {
  // expected-error @+1 {{'dist.attend' op expected rows of rank 1 and a result of rank 2, got 'tensor<8x4xf32>' and 'tensor<8x4xf32>'}}
  %0:2 = dist.attend %q, %k, %q scale 1.0 dims [0, 1], [0, 1], [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %l: tensor<8xf32>) {
  // expected-error @+1 {{'dist.attend_grad' op expected each dim of the cotangent 'tensor<8x4xf32>' once, got [1, 1]}}
  %0:3 = dist.attend_grad %q, %q, %q, %l, %l, %q scale 1.0 dims [0, 1], [0, 1], [0, 1], [1, 1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %l: tensor<8xf32>) {
  // expected-error @+1 {{'dist.attend_grad' op expected a delta of 'tensor<8xf32>', got 'tensor<8x4xf32>'}}
  %0:3 = dist.attend_grad %q, %q, %q, %l, %q, %q scale 1.0 dims [0, 1], [0, 1], [0, 1], [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+1 {{'dist.attend' op expected state, dropout and 2 strides together or none of them}}
  %0:2 = dist.attend %q, %q, %q dropout %s strides [1] <jax32 below 5 factor 1.5> scale 1.0 dims [0, 1], [0, 1], [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}
