// RUN: llmc-opt %s --llmc-form-library-calls --llmc-form-kernels --llmc-verify-kernels | FileCheck %s
// RUN: llmc-opt %s --llmc-form-library-calls --remarks-filter=kernels --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// With +cudnn, convolutions and attentions that cuDNN can express stay calls of
// a library; all others are launches of kernels, as without it.
module {
dist.execution seed(1) threads(1) target("cuda:sm_90+cudnn")

// What is added to a result stays the call's.
// CHECK-LABEL: func.func @forward
// CHECK: %[[Y:.*]] = dist.convolve %arg0, %arg1
// CHECK: %[[Z:.*]] = dist.convolve %arg0, %arg2 plus %[[Y]]
// CHECK: dist.launch @kernels::@{{.*}}(%arg3, %[[Z]])
func.func @forward(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x8xf32>, %v: tensor<3x3x2x8xf32>, %b: tensor<8xf32>) -> tensor<1x2x2x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
  %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x2x2x8xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<8xf32>) -> tensor<1x2x2x8xf32>
  %4 = stablehlo.add %2, %3 : tensor<1x2x2x8xf32>
  return %4 : tensor<1x2x2x8xf32>
}

// A bias, which a call of kernels takes, is added by the kernel that reads the
// result.
// CHECK-LABEL: func.func @biased
// CHECK: %[[Y:.*]] = dist.convolve %arg0, %arg1 dims
// CHECK: dist.launch @kernels::@{{.*}}(%arg2, %[[Y]])
func.func @biased(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x8xf32>, %b: tensor<8xf32>) -> tensor<1x2x2x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<8xf32>) -> tensor<1x2x2x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x2x2x8xf32>
  return %2 : tensor<1x2x2x8xf32>
}

// The gradients of a strided one.
// CHECK-LABEL: func.func @gradients
// CHECK-DAG: dist.convolve %arg0, %arg1
// CHECK-DAG: dist.convolve %arg1, %arg2
func.func @gradients(%x: tensor<2x8x8x4xf32>, %dy: tensor<2x4x4x6xf32>, %w: tensor<3x3x4x6xf32>) -> (tensor<3x3x4x6xf32>, tensor<2x8x8x4xf32>) {
  %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<2x4x4x6xf32>) -> tensor<3x3x4x6xf32>
  %1 = stablehlo.convolution(%dy, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x6xf32>, tensor<3x3x4x6xf32>) -> tensor<2x8x8x4xf32>
  return %0, %1 : tensor<3x3x4x6xf32>, tensor<2x8x8x4xf32>
}

// Steps of both operands at once are no convolution of cuDNN's, and its engines
// have no f32 result of bf16.
// CHECK-LABEL: func.func @others
// CHECK-NOT: dist.convolve
// CHECK: dist.launch
// WHY: remark: [Missed] library | Category:kernels | Remark="a convolution by kernels, not by a library of 'cuda+cudnn': expected the steps and the padding of a convolution or of one of its gradients, got others
// WHY: remark: [Missed] library | Category:kernels | Remark="a convolution by kernels, not by a library of 'cuda+cudnn': expected operands and a result of one type f64, f32, bf16 or f16 with sums in f64 or f32, got bf16 times bf16 into f32 with sums in f32
func.func @others(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x8xf32>, %n: tensor<1x4x4x2xbf16>, %m: tensor<3x3x2x8xbf16>) -> (tensor<1x3x3x8xf32>, tensor<1x2x2x8xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x3x3x8xf32>
  %1 = stablehlo.convolution(%n, %m) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xbf16>, tensor<3x3x2x8xbf16>) -> tensor<1x2x2x8xf32>
  return %0, %1 : tensor<1x3x3x8xf32>, tensor<1x2x2x8xf32>
}

// Attention of narrow floats and its gradient.
// CHECK-LABEL: func.func @attention
// CHECK: dist.attend %arg0, %arg1, %arg2
// CHECK: dist.attend_grad %arg0, %arg1, %arg2
func.func @attention(%q: tensor<2x4x16x8xbf16>, %k: tensor<2x4x16x8xbf16>, %v: tensor<2x4x16x8xbf16>, %d: tensor<2x4x16xf32>, %g: tensor<2x4x16x8xbf16>) -> (tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>) {
  %0, %1 = nn.attention %q, %k, %v scale 1.0 causal 0 : (tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>) -> (tensor<2x4x16x8xbf16>, tensor<2x4x16xf32>)
  %2, %3, %4 = nn.attention_grad %q, %k, %v, %1, %d, %g scale 1.0 causal 0 : (tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16xf32>, tensor<2x4x16xf32>, tensor<2x4x16x8xbf16>) -> (tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>)
  return %0, %2, %3, %4 : tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>, tensor<2x4x16x8xbf16>
}

// One in f32 is the kernels'.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: dist.attend
// CHECK: dist.launch
// WHY: remark: [Missed] library | Category:kernels | Remark="an attention by kernels, not by a library of 'cuda+cudnn': expected an attention in bf16 or f16 with sums in f32, got one in f32 with sums in f32
func.func @wide(%q: tensor<2x16x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %0, %1 = nn.attention %q, %k, %v scale 1.0 : (tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>, tensor<2x16xf32>)
  return %0 : tensor<2x16x8xf32>
}
}
