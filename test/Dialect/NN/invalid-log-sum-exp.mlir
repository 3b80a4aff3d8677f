// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.log_sum_exp' op expected dims in rising order, each less than rank 2, got []}}
  %0 = nn.log_sum_exp %x {dims = array<i64>} : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.log_sum_exp' op expected dims in rising order, each less than rank 2, got [1, 1]}}
  %0 = nn.log_sum_exp %x {dims = array<i64: 1, 1>} : (tensor<8x10xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.log_sum_exp' op expected dims in rising order, each less than rank 2, got [-1]}}
  %0 = nn.log_sum_exp %x {dims = array<i64: -1>} : (tensor<8x10xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'nn.log_sum_exp_grad' op expected dims in rising order, each less than rank 2, got [2]}}
  %0 = nn.log_sum_exp_grad %x, %y, %y {dims = array<i64: 2>} : (tensor<8x10xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'nn.log_sum_exp' op expected a result of shape [8] and element type 'f32', got 'tensor<10xf32>'}}
  %0 = nn.log_sum_exp %x {dims = array<i64: 1>} : (tensor<8x10xf32>) -> tensor<10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xbf16>) {
  // expected-error @+1 {{'nn.log_sum_exp' op expected a result of shape [8] and element type 'f32', got 'tensor<8xbf16>'}}
  %0 = nn.log_sum_exp %x {dims = array<i64: 1>} : (tensor<8x10xbf16>) -> tensor<8xbf16>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %y: tensor<10xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{'nn.log_sum_exp_grad' op expected a log-sum-exp of shape [8] and element type 'f32', got 'tensor<10xf32>'}}
  %0 = nn.log_sum_exp_grad %x, %y, %g {dims = array<i64: 1>} : (tensor<8x10xf32>, tensor<10xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %y: tensor<8xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{'nn.log_sum_exp_grad' op expected a cotangent of shape [8] and element type 'f32', got 'tensor<8xf64>'}}
  %0 = nn.log_sum_exp_grad %x, %y, %g {dims = array<i64: 1>} : (tensor<8x10xf32>, tensor<8xf32>, tensor<8xf64>) -> tensor<8x10xf32>
  return
}

// -----

func.func @f(%x: tensor<8x10xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'nn.log_sum_exp_grad' op expected a result of shape [8, 10] and element type 'f32', got 'tensor<8x9xf32>'}}
  %0 = nn.log_sum_exp_grad %x, %y, %y {dims = array<i64: 1>} : (tensor<8x10xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x9xf32>
  return
}
