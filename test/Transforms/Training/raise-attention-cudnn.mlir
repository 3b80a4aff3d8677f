// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Where the user asks for cuDNN, attention of narrow floats is one op if cuDNN has it, and stays two products if not.
module {
dist.execution seed(1) threads(1) target("cuda:sm_90+cudnn")
dist.entry @e_taken function(@taken)
dist.entry @e_odd function(@odd)

// REMARK: two contractions and the softmax between them are one attention
// CHECK-LABEL: func.func @taken
// CHECK: nn.attention
func.func @taken(%q: tensor<2x4x6x8xbf16> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x8x6xbf16> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x16xbf16> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x16xbf16> {dist.port = #dist.port<output "y">}) {
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
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xbf16>, tensor<2x4x6x16xbf16>) -> tensor<2x4x6x16xbf16>
  return %o : tensor<2x4x6x16xbf16>
}

// REMARK: two contractions with a softmax between them stay as they are: {{.*}}a library of 'cuda+cudnn' lacks it (expected heads of at most 128 features, a multiple of 8, got 136), and beyond 128 elements of depth, kernels of attention multiply narrow floats at the rate of f32
// CHECK-LABEL: func.func @odd
// CHECK-NOT: nn.attention
// CHECK: return
func.func @odd(%q: tensor<2x4x6x8xbf16> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x8x6xbf16> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x136xbf16> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x136xbf16> {dist.port = #dist.port<output "y">}) {
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
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xbf16>, tensor<2x4x6x136xbf16>) -> tensor<2x4x6x136xbf16>
  return %o : tensor<2x4x6x136xbf16>
}
}
