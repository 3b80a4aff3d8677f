// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8x10xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{'nn.quantize' op expected a scale of type tensor<f32>, got 'tensor<1xf32>'}}
  %0 = nn.quantize %x, %s : (tensor<8x10xf32>, tensor<1xf32>) -> tensor<8x10xf8E4M3FN>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<bf16>) {
  // expected-error @+1 {{'nn.quantize' op expected a scale of type tensor<f32>, got 'tensor<bf16>'}}
  %0 = nn.quantize %x, %s : (tensor<8x10xf32>, tensor<bf16>) -> tensor<8x10xf8E4M3FN>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'nn.quantize' op expected elements of eight bits from wider ones, got 'bf16' from 'f32'}}
  %0 = nn.quantize %x, %s : (tensor<8x10xf32>, tensor<f32>) -> tensor<8x10xbf16>
  return
}

// -----

func.func @f(%x: tensor<8x10xf8E5M2>, %s: tensor<f32>) {
  // expected-error @+1 {{'nn.quantize' op expected elements of eight bits from wider ones, got 'f8E4M3FN' from 'f8E5M2'}}
  %0 = nn.quantize %x, %s : (tensor<8x10xf8E5M2>, tensor<f32>) -> tensor<8x10xf8E4M3FN>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'nn.quantize' op expected a result of shape [8, 10], got 'tensor<10x8xf8E4M3FN>'}}
  %0 = nn.quantize %x, %s : (tensor<8x10xf32>, tensor<f32>) -> tensor<10x8xf8E4M3FN>
  return
}
