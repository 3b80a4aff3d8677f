// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: two contractions with a softmax between them stay as they are: {{.*}}beyond 128 elements of depth, kernels of attention multiply narrow floats at the rate of f32
// REMARK: two contractions and the softmax between them are one attention
// REMARK: two contractions with a softmax between them stay as they are: {{.*}}there are no elements, and kernels of attention need some

// GPUs have kernels of attention in place of a library. Up to a depth of 128 they multiply narrow floats by tensor cores.
module {
dist.execution seed(1) threads(1) target("cuda:sm_90")
dist.entry @e_narrow function(@narrow)
dist.entry @e_deep function(@deep)
dist.entry @e_heads function(@heads)
dist.entry @e_empty function(@empty)

// CHECK-LABEL: func.func @heads
// CHECK: nn.attention
func.func @heads(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x8x6xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x10xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x10xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = stablehlo.constant dense<4.0> : tensor<f32>
  %cs = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
  %x = stablehlo.divide %s, %cs : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x10xf32>) -> tensor<2x4x6x10xf32>
  return %o : tensor<2x4x6x10xf32>
}

// CHECK-LABEL: func.func @narrow
// CHECK: nn.attention
func.func @narrow(%q: tensor<2x4x6x8xbf16> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x8x6xbf16> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x10xbf16> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x10xbf16> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x8xbf16>, tensor<2x4x8x6xbf16>) -> tensor<2x4x6x6xbf16>
  %c = stablehlo.constant dense<4.0> : tensor<bf16>
  %cs = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<bf16>) -> tensor<2x4x6x6xbf16>
  %x = stablehlo.divide %s, %cs : tensor<2x4x6x6xbf16>
  %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xbf16>, tensor<bf16>) -> tensor<2x4x6xbf16>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xbf16>) -> tensor<2x4x6x6xbf16>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xbf16>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xbf16>, tensor<bf16>) -> tensor<2x4x6xbf16>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xbf16>) -> tensor<2x4x6x6xbf16>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xbf16>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xbf16>, tensor<2x4x6x10xbf16>) -> tensor<2x4x6x10xbf16>
  return %o : tensor<2x4x6x10xbf16>
}

// CHECK-LABEL: func.func @deep
// CHECK-NOT: nn.attention
// CHECK: return
func.func @deep(%q: tensor<2x4x6x136xbf16> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x136x6xbf16> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x10xbf16> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x10xbf16> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x136xbf16>, tensor<2x4x136x6xbf16>) -> tensor<2x4x6x6xbf16>
  %c = stablehlo.constant dense<4.0> : tensor<bf16>
  %cs = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<bf16>) -> tensor<2x4x6x6xbf16>
  %x = stablehlo.divide %s, %cs : tensor<2x4x6x6xbf16>
  %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xbf16>, tensor<bf16>) -> tensor<2x4x6xbf16>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xbf16>) -> tensor<2x4x6x6xbf16>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xbf16>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xbf16>, tensor<bf16>) -> tensor<2x4x6xbf16>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xbf16>) -> tensor<2x4x6x6xbf16>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xbf16>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xbf16>, tensor<2x4x6x10xbf16>) -> tensor<2x4x6x10xbf16>
  return %o : tensor<2x4x6x10xbf16>
}

// CHECK-LABEL: func.func @empty
// CHECK-NOT: nn.attention
// CHECK: return
func.func @empty(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x8x6xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x0xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x0xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = stablehlo.constant dense<4.0> : tensor<f32>
  %cs = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
  %x = stablehlo.divide %s, %cs : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x0xf32>) -> tensor<2x4x6x0xf32>
  return %o : tensor<2x4x6x0xf32>
}
}
