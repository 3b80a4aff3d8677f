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

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+1 {{'nn.attention' op expected a state of type 'tensor<2xui64>', got 'tensor<3xui64>'}}
  %0:2 = nn.attention %q, %q, %q dropout %t strides [8, 1] <jax32 below 5 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<3xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+1 {{'nn.attention' op expected a stride of bits of at least 0 for each dim of the scores, [8, 8], got [1]}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [1] <jax32 below 5 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+1 {{'nn.attention' op expected a stride of bits of at least 0 for each dim of the scores, [8, 8], got [8, -1]}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [8, -1] <jax32 below 5 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+2 {{expected random bits (threefry, jax32, jax64), got 'none'}}
  // expected-error @+1 {{custom op 'nn.attention' failed to parse NN_DropoutAttr parameter 'value'}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [8, 1] <none below 5 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+2 {{expected a limit of 64 bits at most}}
  // expected-error @+1 {{custom op 'nn.attention' failed to parse NN_DropoutAttr parameter 'value'}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [8, 1] <jax64 below 18446744073709551616 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+2 {{expected a limit of 64 bits at most}}
  // expected-error @+1 {{custom op 'nn.attention' failed to parse NN_DropoutAttr parameter 'value'}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [8, 1] <jax64 below -1 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+2 {{expected 'from'}}
  // expected-error @+1 {{custom op 'nn.attention' failed to parse NN_DropoutAttr parameter 'value'}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [8, 1] <jax64 above 1 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+2 {{expected a limit of as many bits as are drawn and a positive factor, got 4294967296 and 1.500000e+00}}
  // expected-error @+1 {{custom op 'nn.attention' failed to parse NN_DropoutAttr parameter 'value'}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [8, 1] <jax32 below 4294967296 factor 1.5> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>, %t: tensor<3xui64>) {
  // expected-error @+2 {{expected a limit of as many bits as are drawn and a positive factor, got 1 and 0.000000e+00}}
  // expected-error @+1 {{custom op 'nn.attention' failed to parse NN_DropoutAttr parameter 'value'}}
  %0:2 = nn.attention %q, %q, %q dropout %s strides [8, 1] <jax32 below 1 factor 0.0> scale 1.0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x4xf32>, %s: tensor<2xui64>) {
  // expected-error @+1 {{'nn.attention' op expected state, strides and dropout together or none of them}}
  %0:2 = "nn.attention"(%q, %q, %q, %s) {scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xui64>) -> (tensor<8x4xf32>, tensor<8xf32>)
  return
}
