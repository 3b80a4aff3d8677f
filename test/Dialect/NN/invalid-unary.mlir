// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.gelu' op expected shape [8, 10] and element type 'f32', got 'tensor<8x10xf64>'}}
  %0 = nn.gelu %x : (tensor<8x10xf32>) -> tensor<8x10xf64>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %g: tensor<8x9xf32>) {
  // expected-error @+1 {{'nn.gelu_grad' op expected shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.gelu_grad %x, %g : (tensor<8x10xf32>, tensor<8x9xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %g: tensor<8x9xf32>) {
  // expected-error @+1 {{'nn.silu_grad' op expected shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.silu_grad %x, %g : (tensor<8x10xf32>, tensor<8x9xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.silu' op expected shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.silu %x : (tensor<8x10xf32>) -> tensor<8x9xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.softmax' op expected dim less than rank 2, got 2}}
  %0 = nn.softmax %x {dim = 2 : i64} : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %g: tensor<8x9xf32>) {
  // expected-error @+1 {{'nn.softmax_grad' op expected shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.softmax_grad %x, %g {dim = 1 : i64} : (tensor<8x10xf32>, tensor<8x9xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.log_softmax' op expected dim less than rank 2, got 2}}
  %0 = nn.log_softmax %x {dim = 2 : i64} : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %g: tensor<8x9xf32>) {
  // expected-error @+1 {{'nn.log_softmax_grad' op expected shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.log_softmax_grad %x, %g {dim = 1 : i64} : (tensor<8x10xf32>, tensor<8x9xf32>) -> tensor<8x10xf32>
  return
}
