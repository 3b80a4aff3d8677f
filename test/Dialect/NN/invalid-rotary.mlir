// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8x10x3xf32>, %c: tensor<1x10x2xf32>, %s: tensor<1x10x2xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected an operand whose last dim is even, got 'tensor<8x10x3xf32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x3xf32>, tensor<1x10x2xf32>, tensor<1x10x2xf32>) -> tensor<8x10x3xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %c: tensor<1x10x2xf32>, %s: tensor<1x10x2xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected an operand whose last dim is even, got 'tensor<f32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<f32>, tensor<1x10x2xf32>, tensor<1x10x2xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<8x10x4xf32>, %c: tensor<10x2xf32>, %s: tensor<1x10x2xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected tables of one type, with the operand's dims or 1 and all or half of its last, got 'tensor<10x2xf32>' and 'tensor<1x10x2xf32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x4xf32>, tensor<10x2xf32>, tensor<1x10x2xf32>) -> tensor<8x10x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10x4xf32>, %c: tensor<1x10x2xf64>, %s: tensor<1x10x2xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected tables of one type, with the operand's dims or 1 and all or half of its last, got 'tensor<1x10x2xf64>' and 'tensor<1x10x2xf32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x4xf32>, tensor<1x10x2xf64>, tensor<1x10x2xf32>) -> tensor<8x10x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10x4xf32>, %c: tensor<2x10x2xf32>, %s: tensor<1x10x2xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected tables of one type, with the operand's dims or 1 and all or half of its last, got 'tensor<2x10x2xf32>' and 'tensor<1x10x2xf32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x4xf32>, tensor<2x10x2xf32>, tensor<1x10x2xf32>) -> tensor<8x10x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10x4xf32>, %c: tensor<1x10x1xf32>, %s: tensor<1x10x2xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected tables of one type, with the operand's dims or 1 and all or half of its last, got 'tensor<1x10x1xf32>' and 'tensor<1x10x2xf32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x4xf32>, tensor<1x10x1xf32>, tensor<1x10x2xf32>) -> tensor<8x10x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10x4xf32>, %c: tensor<1x10x2xf32>, %s: tensor<1x10x4xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected tables of one type, with the operand's dims or 1 and all or half of its last, got 'tensor<1x10x2xf32>' and 'tensor<1x10x4xf32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x4xf32>, tensor<1x10x2xf32>, tensor<1x10x4xf32>) -> tensor<8x10x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10x4xf32>, %c: tensor<1x10x2xf32>, %s: tensor<1x10x2xf64>) {
  // expected-error @+1 {{'nn.rotary' op expected tables of one type, with the operand's dims or 1 and all or half of its last, got 'tensor<1x10x2xf32>' and 'tensor<1x10x2xf64>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x4xf32>, tensor<1x10x2xf32>, tensor<1x10x2xf64>) -> tensor<8x10x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10x4xf32>, %c: tensor<1x10x2xf32>, %s: tensor<1x10x2xf32>) {
  // expected-error @+1 {{'nn.rotary' op expected a result of shape [8, 10, 4] and element type 'f32', got 'tensor<8x10x2xf32>'}}
  %0 = nn.rotary %x, %c, %s : (tensor<8x10x4xf32>, tensor<1x10x2xf32>, tensor<1x10x2xf32>) -> tensor<8x10x2xf32>
  return
}
