// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.layer_norm' op expected rank at least 3, the number of dims, got 2}}
  %0:2 = nn.layer_norm %x {dims = 3 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<f32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{attribute 'dims' failed to satisfy constraint}}
  %0:2 = nn.rms_norm %x {dims = 0 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<8x10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.layer_norm' op expected rstd of shape [8] and element type 'f32', got 'tensor<10xf32>'}}
  %0:2 = nn.layer_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xbf16>) {
  // expected-error @+1 {{'nn.rms_norm' op expected rstd of shape [8] and element type 'f32', got 'tensor<8xbf16>'}}
  %0:2 = nn.rms_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<8xbf16>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.rms_norm' op expected a result of shape [8, 10] and element type 'f32', got 'tensor<8x10xf64>'}}
  %0:2 = nn.rms_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>) -> (tensor<8x10xf64>, tensor<8xf32>)
  return
}

// -----

func.func @f(%y: tensor<8x10xf32>, %r: tensor<8xf32>, %g: tensor<8x9xf32>) {
  // expected-error @+1 {{'nn.layer_norm_grad' op expected a cotangent of shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.layer_norm_grad %y, %r, %g {dims = 1 : i64} : (tensor<8x10xf32>, tensor<8xf32>, tensor<8x9xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%y: tensor<8x10xf32>, %r: tensor<8xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.rms_norm_grad' op expected a result of shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.rms_norm_grad %y, %r, %g {dims = 1 : i64} : (tensor<8x10xf32>, tensor<8xf32>, tensor<8x10xf32>) -> tensor<8x9xf32>
  return
}
