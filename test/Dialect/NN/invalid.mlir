// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>, %t: tensor<i32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy' op expected logits of rank at least 1, got 0}}
  %0:2 = nn.softmax_cross_entropy %x, %t : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<7xi32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy' op expected targets of shape [8], got [7]}}
  %0:2 = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<7xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy' op expected loss of shape [8], got [8, 10]}}
  %0:2 = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8x10xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy' op expected logsumexp of element type 'f32', got 'f64'}}
  %0:2 = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf64>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>, %s: tensor<8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected cotangent of shape [8], got [4]}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %g : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<4xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected a result of shape [8, 10] and element type 'f32', got 'tensor<8xf32>'}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %s : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected a result of shape [8, 10] and element type 'f32', got 'tensor<8x10xf64>'}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %s : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf64>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<7xi32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected targets of shape [8], got [7]}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %s : (tensor<8x10xf32>, tensor<7xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>, %s: tensor<8xf64>, %g: tensor<8xf32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected logsumexp of element type 'f32', got 'f64'}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %g : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf64>, tensor<8xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %t: tensor<i32>, %s: tensor<f32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected logits of rank at least 1, got 0}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %s : (tensor<f32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

// One row.
func.func @f(%x: tensor<10xf32>, %t: tensor<i32>) {
  %0:2 = nn.softmax_cross_entropy %x, %t : (tensor<10xf32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy' op expected loss of element type 'f32', got 'f64'}}
  %0:2 = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf64>, tensor<8xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy' op expected logsumexp of shape [8], got [9]}}
  %0:2 = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<9xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>, %s: tensor<9xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected logsumexp of shape [8], got [9]}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %g : (tensor<8x10xf32>, tensor<8xi32>, tensor<9xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>, %s: tensor<8xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{'nn.softmax_cross_entropy_grad' op expected cotangent of element type 'f32', got 'f64'}}
  %0 = nn.softmax_cross_entropy_grad %x, %t, %s, %g : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf64>) -> tensor<8x10xf32>
  return
}
