// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected keys and a flag for each of them, got 1 keys and 2 flags}}
  %0 = dist.argsort %x dim 1 descending [true, false] : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'dist.argsort' op expected keys and a flag for each of them, got 0 keys and 0 flags}}
  %0 = dist.argsort dim 1 descending [] : () -> tensor<4x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected a dim of the keys with less than 2^31 elements, got 2 of 'tensor<4x6xf32>'}}
  %0 = dist.argsort %x dim 2 descending [true] : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected a dim of the keys with less than 2^31 elements, got -1 of 'tensor<4x6xf32>'}}
  %0 = dist.argsort %x dim -1 descending [true] : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<4x1xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected keys of one shape, got 'tensor<4x6xf32>' and 'tensor<4x1xf32>'}}
  %0 = dist.argsort %x, %y dim 1 descending [true, true] : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected an i32 result with the dims of 'tensor<4x6xf32>' and at most as many elements along dim 1, got 'tensor<4x7xi32>'}}
  %0 = dist.argsort %x dim 1 descending [true] : (tensor<4x6xf32>) -> tensor<4x7xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected an i32 result with the dims of 'tensor<4x6xf32>' and at most as many elements along dim 1, got 'tensor<3x6xi32>'}}
  %0 = dist.argsort %x dim 1 descending [true] : (tensor<4x6xf32>) -> tensor<3x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected an i32 result with the dims of 'tensor<4x6xf32>' and at most as many elements along dim 1, got 'tensor<4x6xi64>'}}
  %0 = dist.argsort %x dim 1 descending [true] : (tensor<4x6xf32>) -> tensor<4x6xi64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.argsort' op expected an i32 result with the dims of 'tensor<4x6xf32>' and at most as many elements along dim 1, got 'tensor<4xi32>'}}
  %0 = dist.argsort %x dim 1 descending [true] : (tensor<4x6xf32>) -> tensor<4xi32>
  return
}
