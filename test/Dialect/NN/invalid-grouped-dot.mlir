// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected distinct dims of the left side 'tensor<4x6xf32>', got 2}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [2] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected distinct dims of the left side 'tensor<4x6xf32>', got 7}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 7 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected distinct dims of the right side 'tensor<2x6x3xf32>', got 1}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 1 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected as many contracting dims of both sides, got 1 and 0}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected batch dims of equal sizes, got 0 of 'tensor<4x6xf32>' and 0 of 'tensor<2x6x3xf32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [0] x [0] contracting [1] x [1] rows 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected rows that are no batch, got dim 0}}
  %0 = nn.grouped_dot %x, %w, %s batch [0] x [0] contracting [1] x [1] rows 0 : (tensor<2x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a dim of groups of the right side, or rows that are contracted, got neither}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a dim of groups of the right side, or rows that are contracted, got both}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 1 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<i32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected sizes of all groups, for all batches together or for each, got 'tensor<i32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<i32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<3x2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected sizes of all groups, for all batches together or for each, got 'tensor<3x2xi32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<3x2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi8>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected sizes of i32 or i64, got 'tensor<2xi8>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>, %f: tensor<i64>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a first group of each batch, of 'i32', got 'tensor<i64>'}}
  %0 = nn.grouped_dot %x, %w, %s first %f batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>, tensor<i64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>, %f: tensor<1xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a first group of each batch, of 'i32', got 'tensor<1xi32>'}}
  %0 = nn.grouped_dot %x, %w, %s first %f batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>, tensor<1xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a result of 'tensor<4x3xf32>', got 'tensor<4x4xf32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<2xi32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<4x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a result of 'tensor<0x6x3xf32>', got 'tensor<f32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [0] x [0] rows 0 : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<2xi32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x6xi32>, %w: tensor<2x6x3xi32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected floats in all tensors or in none, got 'tensor<4x6xi32>' and 'tensor<4x3xf32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xi32>, tensor<2x6x3xi32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<2x6x3xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a size for each of the 2 groups, got 'tensor<3xi32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4x6xf32>, tensor<2x6x3xf32>, tensor<3xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %w: tensor<4x3xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{'nn.grouped_dot' op expected a size for each of the 5 groups, got 'tensor<2xi32>'}}
  %0 = nn.grouped_dot %x, %w, %s batch [] x [] contracting [0] x [0] rows 0 : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<2xi32>) -> tensor<5x6x3xf32>
  return
}
