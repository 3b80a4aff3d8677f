// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @types(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf64>) {
  // expected-error @+1 {{expected sides of equal element type or of floats of 8 bits, got 'f32' and 'f64'}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf64>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @dim_twice(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected each dim of the left side 'tensor<2x8x3xf32>' once, 2 at least, got [0, 2, 2]}}
  %0 = dist.convolve %x, %w dims [0, 2, 2] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @dim_far(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected each dim of the right side 'tensor<3x3x4xf32>' once, 2 at least, got [1, 3, 0]}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 3, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @dim_missing(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected each dim of the result 'tensor<2x6x4xf32>' once, 2 at least, got [0, 2]}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @dim_negative(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected each dim of the left side 'tensor<2x8x3xf32>' once, 2 at least, got [0, -1, 1]}}
  %0 = dist.convolve %x, %w dims [0, -1, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @rank(%x: tensor<8xf32>, %w: tensor<3xf32>) {
  // expected-error @+1 {{expected each dim of the left side 'tensor<8xf32>' once, 2 at least, got [0]}}
  %0 = dist.convolve %x, %w dims [0] x [0] -> [0] windows [] : (tensor<8xf32>, tensor<3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @windows(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected tensors of rank 2 for 0 windows, got 3, 3 and 3}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @kernel_rank(%x: tensor<2x8x3xf32>, %w: tensor<3x4xf32>) {
  // expected-error @+1 {{expected tensors of rank 3 for 1 windows, got 3, 2 and 3}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [0, 1] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @groups(%x: tensor<4x8x6xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected group counts of at least 1, one of them 1, got 2 of features and 2 of the batch}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] feature_groups(2) batch_groups(2) : (tensor<4x8x6xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @no_groups(%x: tensor<4x8x6xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected group counts of at least 1, one of them 1, got 0 of features and 1 of the batch}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] feature_groups(0) : (tensor<4x8x6xf32>, tensor<3x3x4xf32>) -> tensor<4x6x4xf32>
  return
}

// -----

func.func @inputs(%x: tensor<4x8x6xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error @+1 {{expected 4 input features, got 6}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] feature_groups(2) : (tensor<4x8x6xf32>, tensor<3x2x4xf32>) -> tensor<4x6x4xf32>
  return
}

// -----

func.func @samples(%x: tensor<4x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected 8 samples, got 4}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] batch_groups(2) : (tensor<4x8x3xf32>, tensor<3x3x4xf32>) -> tensor<4x6x4xf32>
  return
}

// -----

func.func @outputs(%x: tensor<4x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected 5 output features, got 4}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<4x8x3xf32>, tensor<3x3x4xf32>) -> tensor<4x6x5xf32>
  return
}

// -----

func.func @groups_of_outputs(%x: tensor<4x8x6xf32>, %w: tensor<3x3x5xf32>) {
  // expected-error @+1 {{expected output features that 2 groups divide, got 5}}
  %0 = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] feature_groups(2) : (tensor<4x8x6xf32>, tensor<3x3x5xf32>) -> tensor<4x6x5xf32>
  return
}

// -----

func.func @both(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>, %a: tensor<2x6x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected an accumulator or a bias, got both}}
  %0 = dist.convolve %x, %w plus %a bias %b dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>, tensor<2x6x4xf32>, tensor<4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @accumulator(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>, %a: tensor<2x6x5xf32>) {
  // expected-error @+1 {{expected an accumulator of 'tensor<2x6x4xf32>', got 'tensor<2x6x5xf32>'}}
  %0 = dist.convolve %x, %w plus %a dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>, tensor<2x6x5xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @bias(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{expected a bias of 'tensor<4xf32>', got 'tensor<6xf32>'}}
  %0 = dist.convolve %x, %w bias %b dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>, tensor<6xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @bias_type(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{expected a bias of 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %0 = dist.convolve %x, %w bias %b dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<>] : (tensor<2x8x3xf32>, tensor<3x3x4xf32>, tensor<4xf64>) -> tensor<2x6x4xf32>
  return
}

// -----

// expected-error @+1 {{expected a stride and dilations of at least 1, got 0, 1 and 1}}
func.func private @stride() attributes {test.window = #dist.window<stride = 0>}

// -----

// expected-error @+1 {{expected a stride and dilations of at least 1, got 1, 0 and 1}}
func.func private @lhs_dilation() attributes {test.window = #dist.window<lhs_dilation = 0>}

// -----

// expected-error @+1 {{expected a stride and dilations of at least 1, got 1, 1 and -1}}
func.func private @rhs_dilation() attributes {test.window = #dist.window<rhs_dilation = -1>}
