// RUN: llmc-opt %s --llmc-form-library-calls --llmc-form-kernels --llmc-verify-kernels | FileCheck %s

// What no library of the target computes becomes launches of kernels, what one
// does stays a call.
module {
dist.execution seed(1) threads(1) target("cuda:sm_90")

// The result of one convolution is what the other one's sums are added to.
// CHECK-LABEL: func.func @added
// CHECK: %[[C:.*]] = dist.contract
// CHECK: %[[Y:.*]] = dist.launch @kernels::@[[$FIRST:k_[0-9a-f]+]](%arg0, %arg1) {dist.operations = 1.152000e+03 : f64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
// CHECK: dist.launch @kernels::@[[$SECOND:k_[0-9a-f]+]](%arg0, %arg2, %[[Y]]) {dist.operations = 1.152000e+03 : f64, tied = {{\[}}[0, 2]]} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>, tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
func.func @added(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x8xf32>, %v: tensor<3x3x2x8xf32>, %a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<1x2x2x8xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
  %2 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
  %3 = stablehlo.add %1, %2 : tensor<1x2x2x8xf32>
  return %0, %3 : tensor<4x4xf32>, tensor<1x2x2x8xf32>
}

// Few sums of many terms are made in parts, here in 8 of 128 terms each. The
// first launch makes all operations of the call.
// CHECK-LABEL: func.func @parts
// CHECK: %[[P:.*]] = dist.launch @kernels::@{{.*}}(%arg0, %arg1) {dist.operations = 8.192000e+03 : f64} : {{.*}} -> tensor<32xf32>
// CHECK: dist.launch @kernels::@{{.*}}(%[[P]]) : (tensor<32xf32>) -> tensor<1x1x1x4xf32>
func.func @parts(%x: tensor<1x32x32x1xf32>, %w: tensor<32x32x1x4xf32>) -> tensor<1x1x1x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x32x1xf32>, tensor<32x32x1x4xf32>) -> tensor<1x1x1x4xf32>
  return %0 : tensor<1x1x1x4xf32>
}

// Matrices of which no side lies in a row, as those of features that lie side by
// side, no library multiplies: of two products the kernels compute the first.
// CHECK-LABEL: func.func @features
// CHECK: dist.launch @kernels::@{{.*}}(%arg0, %arg1) {dist.operations = 7.200000e+02 : f64} : (tensor<4x5x3xf32>, tensor<6x5x3xf32>) -> tensor<3x4x6xf32>
// CHECK: dist.contract %arg0, %arg1 {{.*}} -> tensor<4x3x6x3xf32>
func.func @features(%x: tensor<4x5x3xf32>, %y: tensor<6x5x3xf32>) -> (tensor<3x4x6xf32>, tensor<4x3x6x3xf32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [2] x [2], contracting_dims = [1] x [1] : (tensor<4x5x3xf32>, tensor<6x5x3xf32>) -> tensor<3x4x6xf32>
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<4x5x3xf32>, tensor<6x5x3xf32>) -> tensor<4x3x6x3xf32>
  return %0, %1 : tensor<3x4x6xf32>, tensor<4x3x6x3xf32>
}

// A long row: its parts, and two merges, of which the last one writes the
// order. Of each part no more than is asked for is kept.
// CHECK-LABEL: func.func @order
// CHECK: %[[R:.*]] = dist.launch @kernels::@{{.*}}(%arg0) : (tensor<2x5000xf32>) -> tensor<18xi32>
// CHECK: %[[M:.*]] = dist.launch @kernels::@{{.*}}(%arg0, %[[R]]) : (tensor<2x5000xf32>, tensor<18xi32>) -> tensor<12xi32>
// CHECK: dist.launch @kernels::@{{.*}}(%arg0, %[[M]]) : (tensor<2x5000xf32>, tensor<12xi32>) -> tensor<2x3xi32>
func.func @order(%x: tensor<2x5000xf32>) -> tensor<2x3xi32> {
  %0 = nn.argsort %x dim 1 descending [true] : (tensor<2x5000xf32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// Attention is one launch, and its gradient two: rows make dq, columns the
// others. No buffer has rows by columns. The gradient has five products of 8
// terms for each of 420 scores, and both launches make some of them.
// CHECK-LABEL: func.func @attention
// CHECK: %[[Y:.*]]:2 = dist.launch @kernels::@{{.*}}(%arg0, %arg1, %arg2) {dist.operations = 1.344000e+04 : f64} : (tensor<2x6x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> (tensor<2x6x5x8xf32>, tensor<2x6x5xf32>)
// CHECK: %[[Q:.*]] = dist.launch @kernels::@{{.*}}(%arg0, %arg1, %arg2, %[[Y]]#1, %arg3, %arg4) {dist.operations = 1.440000e+04 : f64} : {{.*}} -> tensor<2x6x5x8xf32>
// CHECK: %[[K:.*]]:2 = dist.launch @kernels::@{{.*}}(%arg0, %arg1, %arg2, %[[Y]]#1, %arg3, %arg4) {dist.operations = 1.920000e+04 : f64} : {{.*}} -> (tensor<2x7x8xf32>, tensor<2x7x8xf32>)
// CHECK: return %[[Y]]#0, %[[Q]], %[[K]]#0, %[[K]]#1
func.func @attention(%q: tensor<2x6x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>, %d: tensor<2x6x5xf32>, %g: tensor<2x6x5x8xf32>) -> (tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) {
  %y, %l = nn.attention %q, %k, %v scale 1.0 causal 2 : (tensor<2x6x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> (tensor<2x6x5x8xf32>, tensor<2x6x5xf32>)
  %x:3 = nn.attention_grad %q, %k, %v, %l, %d, %g scale 1.0 causal 2 : (tensor<2x6x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<2x6x5xf32>, tensor<2x6x5xf32>, tensor<2x6x5x8xf32>) -> (tensor<2x6x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>)
  return %y, %x#0, %x#1, %x#2 : tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>
}
}

// A block of a tile has a warp or more, and its shared memory is that of one
// step.
// CHECK: dist.kernel @[[$FIRST]](read tensor<32xf32>, read tensor<144xf32>, write tensor<32xf32>) for "cuda" launch <threads = {{[0-9]+}}, shared = {{[0-9]+}}, align = 16> by
// CHECK: dist.kernel @[[$SECOND]](read tensor<32xf32>, read tensor<144xf32>, readwrite tensor<32xf32>) for "cuda"
