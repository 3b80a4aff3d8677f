// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'dist.contract_groups' op expected distinct dims of the left side 'tensor<4x6xf32>', got 2}}
  %0 = dist.contract_groups %x, %w, %s batch [] x [] contracting [2] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<i32>) {
  // expected-error @+1 {{'dist.contract_groups' op expected sizes of all groups, for all batches together or for each, got 'tensor<i32>'}}
  %0 = dist.contract_groups %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<i32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'dist.contract_groups' op expected a result of 'tensor<4x3xf32>', got 'tensor<4x4xf32>'}}
  %0 = dist.contract_groups %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xbf16>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'dist.contract_groups' op expected sides of one element type, got 'tensor<4x6xbf16>' and 'tensor<2x6x3xf32>'}}
  %0 = dist.contract_groups %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xbf16>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>, %a: tensor<4x3xf64>) {
  // expected-error @+1 {{'dist.contract_groups' op expected an accumulator of 'tensor<4x3xf32>', got 'tensor<4x3xf64>'}}
  %0 = dist.contract_groups %x, %w, %s plus %a batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>, tensor<4x3xf64>) -> tensor<4x3xf32>
  return
}
