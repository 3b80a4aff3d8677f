// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error @+1 {{'nn.attention' op expected a key of rank 2 at least, a value of its rank and a query of no less, got ranks 1, 3 and 4}}
  %0:2 = nn.attention %q, %k, %v scale 1.0 : (tensor<2x3x8x4xf32>, tensor<4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<3x8x4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error @+1 {{'nn.attention' op expected a key of shape [2, 8, 4] and element type 'f32', got 'tensor<3x8x4xf32>'}}
  %0:2 = nn.attention %q, %k, %v scale 1.0 : (tensor<2x3x8x4xf32>, tensor<3x8x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf64>) {
  // expected-error @+1 {{'nn.attention' op expected a value of shape [2, 8, 6] and element type 'f32', got 'tensor<2x8x6xf64>'}}
  %0:2 = nn.attention %q, %k, %v scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf64>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error @+1 {{'nn.attention' op expected a result of shape [2, 3, 8, 6] and element type 'f32', got 'tensor<2x3x8x4xf32>'}}
  %0:2 = nn.attention %q, %k, %v scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error @+1 {{'nn.attention' op expected logsumexp of shape [2, 3, 8] and element type 'f32', got 'tensor<2x3x8xf64>'}}
  %0:2 = nn.attention %q, %k, %v scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf64>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error @+1 {{'nn.attention' op expected dims of the bias to be 1 or those of the scores, [2, 3, 8, 8], got 'tensor<2x3x8x4xf32>'}}
  %0:2 = nn.attention %q, %k, %v bias %q scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x3x8x4xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{'nn.attention' op expected an offset of type 'tensor<i32>' of what is causal, got 'tensor<i32>'}}
  %0:2 = nn.attention %q, %k, %v offset %o scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<i32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %l: tensor<2x3x8xf32>, %g: tensor<2x3x8x6xf32>) {
  // expected-error @+1 {{'nn.attention_grad' op expected delta of shape [2, 3, 8] and element type 'f32', got 'tensor<2x3x8x6xf32>'}}
  %0:3 = nn.attention_grad %q, %k, %v, %l, %g, %g scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x3x8xf32>, tensor<2x3x8x6xf32>, tensor<2x3x8x6xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %l: tensor<2x3x8xf32>, %g: tensor<2x3x8x6xf32>) {
  // expected-error @+1 {{'nn.attention_grad' op expected a cotangent of shape [2, 3, 8, 6] and element type 'f32', got 'tensor<2x3x8x4xf32>'}}
  %0:3 = nn.attention_grad %q, %k, %v, %l, %l, %q scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8x4xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %l: tensor<2x3x8xf32>, %g: tensor<2x3x8x6xf32>) {
  // expected-error @+1 {{'nn.attention_grad' op expected a cotangent of the key of shape [2, 8, 4] and element type 'f32', got 'tensor<2x8x6xf32>'}}
  %0:3 = nn.attention_grad %q, %k, %v, %l, %l, %g scale 1.0 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8x6xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>)
  return
}
