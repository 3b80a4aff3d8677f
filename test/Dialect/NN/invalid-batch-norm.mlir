// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %o: tensor<10xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op expected rank at least 2 and dim less than it, got rank 2 and dim 2}}
  %0:3 = nn.batch_norm %x, %s, %o {dim = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<10xf32>, %s: tensor<10xf32>, %o: tensor<10xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op expected rank at least 2 and dim less than it, got rank 1 and dim 0}}
  %0:3 = nn.batch_norm %x, %s, %o {dim = 0 : i64, epsilon = 1.0e-5 : f64} : (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<9xf32>, %o: tensor<10xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op expected a scale of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm %x, %s, %o {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<9xf32>, tensor<10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %o: tensor<9xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op expected an offset of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm %x, %s, %o {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<9xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %o: tensor<10xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op expected a mean of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm %x, %s, %o {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<8x10xf32>, tensor<9xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %o: tensor<10xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op expected a variance of shape [10] and element type 'f32', got 'tensor<10xf64>'}}
  %0:3 = nn.batch_norm %x, %s, %o {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf64>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %o: tensor<10xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op expected a result of shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0:3 = nn.batch_norm %x, %s, %o {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<8x9xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %m: tensor<10xf32>, %v: tensor<10xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected rank at least 2 and dim less than it, got rank 2 and dim 3}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 3 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<9xf32>, %m: tensor<10xf32>, %v: tensor<10xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected a scale of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<9xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %m: tensor<9xf32>, %v: tensor<10xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected a mean of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<9xf32>, tensor<10xf32>, tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %m: tensor<10xf32>, %v: tensor<9xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected a variance of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<9xf32>, tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %m: tensor<10xf32>, %v: tensor<10xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected a cotangent of the scale of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<9xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %m: tensor<10xf32>, %v: tensor<10xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected a cotangent of the offset of shape [10] and element type 'f32', got 'tensor<9xf32>'}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<9xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %m: tensor<10xf32>, %v: tensor<10xf32>, %g: tensor<8x9xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected a cotangent of shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x9xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %s: tensor<10xf32>, %m: tensor<10xf32>, %v: tensor<10xf32>, %g: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.batch_norm_grad' op expected a cotangent of the operand of shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0:3 = nn.batch_norm_grad %x, %s, %m, %v, %g {dim = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10xf32>) -> (tensor<8x9xf32>, tensor<10xf32>, tensor<10xf32>)
  return
}
