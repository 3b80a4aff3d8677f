// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise=attention=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.attention
// REMARK-COUNT-6: two contractions and the softmax between them are one attention
// REMARK: stay as they are: {{.*}}scores are scaled by what is no positive number
// REMARK: stay as they are: {{.*}}scores are masked by a number to which they can be added
// REMARK: stay as they are: {{.*}}scores are masked by several numbers

// Heads in a dim of their own, the key turned, scores divided.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x6x8xf32> {{.*}}, %[[K:.*]]: tensor<2x4x8x6xf32> {{.*}}, %[[V:.*]]: tensor<2x4x6x10xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[K]], dims = [0, 1, 3, 2]
// CHECK: %[[Y:.*]], %{{.*}} = nn.attention %[[Q]], %[[T]], %[[V]] scale 2.500000e-01 : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x10xf32>) -> (tensor<2x4x6x10xf32>, tensor<2x4x6xf32>)
// CHECK-NOT: stablehlo.exponential
// CHECK: return %[[Y]]
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

// Groups of heads that share a key and a value; the value is the left side of
// its contraction.
// CHECK-LABEL: func.func @groups
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<2x3x4x6x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x7xf32>) -> (tensor<2x3x4x6x7xf32>, tensor<2x3x4x6xf32>)
func.func @groups(%q: tensor<2x6x3x4x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x5x3x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x5x3x7xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x3x7x4x6xf32> {dist.port = #dist.port<output "y">}) {
  %t = stablehlo.transpose %q, dims = [0, 2, 3, 1, 4] : (tensor<2x6x3x4x8xf32>) -> tensor<2x3x4x6x8xf32>
  %s = stablehlo.dot_general %t, %k, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x3x4x6x8xf32>, tensor<2x5x3x8xf32>) -> tensor<2x3x4x6x5xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [4] : (tensor<2x3x4x6x5xf32>, tensor<f32>) -> tensor<2x3x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2, 3] : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6x5xf32>
  %y = stablehlo.subtract %s, %maxs : tensor<2x3x4x6x5xf32>
  %e = stablehlo.exponential %y : tensor<2x3x4x6x5xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<2x3x4x6x5xf32>, tensor<f32>) -> tensor<2x3x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2, 3] : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6x5xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x3x4x6x5xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<2x5x3x7xf32>, tensor<2x3x4x6x5xf32>) -> tensor<2x3x7x4x6xf32>
  return %o : tensor<2x3x7x4x6xf32>
}

// Keys and values repeated for groups, heads and samples in one dim, the scale
// on both sides, rows without a number zero: as PyTorch exports Llama.
// CHECK-LABEL: func.func @repeated
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x6x8xf32> {{.*}}, %[[K:.*]]: tensor<2x2x6x8xf32> {{.*}}, %[[V:.*]]: tensor<2x2x6x8xf32>
// CHECK: %[[G:.*]] = stablehlo.reshape %[[Q]] : (tensor<2x4x6x8xf32>) -> tensor<2x2x2x6x8xf32>
// CHECK: nn.attention %[[G]], %[[K]], %[[V]] scale 2.500000e-01 safe : (tensor<2x2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>)
func.func @repeated(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x2x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x2x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %k1 = stablehlo.reshape %k : (tensor<2x2x6x8xf32>) -> tensor<2x2x1x6x8xf32>
  %k2 = stablehlo.broadcast_in_dim %k1, dims = [0, 1, 2, 3, 4] : (tensor<2x2x1x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %k3 = stablehlo.reshape %k2 : (tensor<2x2x2x6x8xf32>) -> tensor<8x6x8xf32>
  %k4 = stablehlo.transpose %k3, dims = [0, 2, 1] : (tensor<8x6x8xf32>) -> tensor<8x8x6xf32>
  %k5 = stablehlo.reshape %k4 : (tensor<8x8x6xf32>) -> tensor<2x4x8x6xf32>
  %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
  %ks = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<2x4x8x6xf32>
  %k6 = stablehlo.multiply %k5, %ks : tensor<2x4x8x6xf32>
  %qs = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<2x4x6x8xf32>
  %q1 = stablehlo.multiply %q, %qs : tensor<2x4x6x8xf32>
  %v1 = stablehlo.reshape %v : (tensor<2x2x6x8xf32>) -> tensor<2x2x1x6x8xf32>
  %v2 = stablehlo.broadcast_in_dim %v1, dims = [0, 1, 2, 3, 4] : (tensor<2x2x1x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %v3 = stablehlo.reshape %v2 : (tensor<2x2x2x6x8xf32>) -> tensor<2x4x6x8xf32>
  %s = stablehlo.dot_general %q1, %k6, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %s, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %nan = stablehlo.compare NE, %p, %p, FLOAT : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xi1>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
  %w = stablehlo.select %nan, %zeros, %p : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %w, %v3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// Scores and softmax in f32 of what is bf16.
// CHECK-LABEL: func.func @narrow
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<3x6x8xbf16>, tensor<3x6x8xbf16>, tensor<3x6x8xbf16>) -> (tensor<3x6x8xbf16>, tensor<3x6xf32>)
func.func @narrow(%q: tensor<3x6x8xbf16> {dist.port = #dist.port<input "q">}, %k: tensor<3x6x8xbf16> {dist.port = #dist.port<input "k">}, %v: tensor<3x6x8xbf16> {dist.port = #dist.port<input "v">}) -> (tensor<3x6x8xbf16> {dist.port = #dist.port<output "y">}) {
  %k1 = stablehlo.convert %k : (tensor<3x6x8xbf16>) -> tensor<3x6x8xf32>
  %q1 = stablehlo.convert %q : (tensor<3x6x8xbf16>) -> tensor<3x6x8xf32>
  %s = stablehlo.dot_general %q1, %k1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x6x8xf32>, tensor<3x6x8xf32>) -> tensor<3x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<3x6x6xf32>, tensor<f32>) -> tensor<3x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (tensor<3x6xf32>) -> tensor<3x6x6xf32>
  %y = stablehlo.subtract %s, %maxs : tensor<3x6x6xf32>
  %e = stablehlo.exponential %y : tensor<3x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x6x6xf32>, tensor<f32>) -> tensor<3x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<3x6xf32>) -> tensor<3x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<3x6x6xf32>
  %w = stablehlo.convert %p : (tensor<3x6x6xf32>) -> tensor<3x6x6xbf16>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x6x6xbf16>, tensor<3x6x8xbf16>) -> tensor<3x6x8xbf16>
  return %o : tensor<3x6x8xbf16>
}

// What is added to the scores, scaled with them afterwards, has no dims that it
// repeats.
// CHECK-LABEL: func.func @bias
// CHECK-SAME: %[[B:[^:]*]]: tensor<4x6xf32> {dist.port = #dist.port<input "b">}
// CHECK: %[[R:.*]] = stablehlo.reshape %[[B]] : (tensor<4x6xf32>) -> tensor<1x4x1x6xf32>
// CHECK: %[[M:.*]] = stablehlo.multiply %[[R]], %{{.*}} : tensor<1x4x1x6xf32>
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[M]] scale 5.000000e-01
func.func @bias(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %b: tensor<4x6xf32> {dist.port = #dist.port<input "b">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %bs = stablehlo.broadcast_in_dim %b, dims = [1, 3] : (tensor<4x6xf32>) -> tensor<2x4x6x6xf32>
  %t = stablehlo.add %bs, %s : tensor<2x4x6x6xf32>
  %c = stablehlo.constant dense<5.000000e-01> : tensor<2x4x6x6xf32>
  %x = stablehlo.multiply %t, %c : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// A mask of the data becomes a bias of its own dims.
// CHECK-LABEL: func.func @masked
// CHECK: %[[F:.*]] = stablehlo.constant dense<0xFF800000> : tensor<2x1x1x6xf32>
// CHECK: %[[M:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[F]] : tensor<2x1x1x6xi1>, tensor<2x1x1x6xf32>
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[M]] scale
func.func @masked(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %m: tensor<2x6xi1> {dist.port = #dist.port<input "m">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x4x6x6xi1>
  %c = stablehlo.constant dense<0xFF800000> : tensor<2x4x6x6xf32>
  %x = stablehlo.select %ms, %s, %c : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// The scale is no number.
// CHECK-LABEL: func.func @learned_scale
// CHECK-NOT: nn.attention
func.func @learned_scale(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %c: tensor<6xf32> {dist.port = #dist.port<input "c">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %cs = stablehlo.broadcast_in_dim %c, dims = [3] : (tensor<6xf32>) -> tensor<2x4x6x6xf32>
  %x = stablehlo.multiply %s, %cs : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// What is added is not far below the rest, and may be in a whole row.
// CHECK-LABEL: func.func @soft_mask
// CHECK-NOT: nn.attention
func.func @soft_mask(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %m: tensor<2x6xi1> {dist.port = #dist.port<input "m">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x4x6x6xi1>
  %c = stablehlo.constant dense<-1.0e+09> : tensor<2x4x6x6xf32>
  %z = stablehlo.constant dense<0.0> : tensor<2x4x6x6xf32>
  %a = stablehlo.select %ms, %z, %c : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %x = stablehlo.add %s, %a : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// Masked by two numbers, of which the larger one counts in a row of both.
// CHECK-LABEL: func.func @two_numbers
// CHECK-NOT: nn.attention
func.func @two_numbers(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %m: tensor<2x6xi1> {dist.port = #dist.port<input "m">}, %n: tensor<2x6xi1> {dist.port = #dist.port<input "n">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x4x6x6xi1>
  %ns = stablehlo.broadcast_in_dim %n, dims = [0, 2] : (tensor<2x6xi1>) -> tensor<2x4x6x6xi1>
  %c = stablehlo.constant dense<-1.0e+09> : tensor<2x4x6x6xf32>
  %d = stablehlo.constant dense<-1.0e+10> : tensor<2x4x6x6xf32>
  %s1 = stablehlo.select %ms, %s, %c : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %x = stablehlo.select %ns, %s1, %d : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// Scores that are no sum.
// CHECK-LABEL: func.func @capped
// CHECK-NOT: nn.attention
func.func @capped(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %x = stablehlo.tanh %s : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// Weights that are changed.
// CHECK-LABEL: func.func @dropped
// CHECK-NOT: nn.attention
func.func @dropped(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %d: tensor<2x4x6x6xf32> {dist.port = #dist.port<input "d">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %c = stablehlo.constant dense<5.000000e-01> : tensor<2x4x6x6xf32>
  %x = stablehlo.multiply %s, %c : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %w = stablehlo.multiply %p, %d : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

// Weights that something else uses too.
// CHECK-LABEL: func.func @shown
// CHECK-NOT: nn.attention
func.func @shown(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}, tensor<2x4x6x6xf32> {dist.port = #dist.port<output "p">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %c = stablehlo.constant dense<5.000000e-01> : tensor<2x4x6x6xf32>
  %x = stablehlo.multiply %s, %c : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o, %p : tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>
}

// The softmax is not along the keys.
// CHECK-LABEL: func.func @other_dim
// CHECK-NOT: nn.attention
func.func @other_dim(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 3] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %s, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 3] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

dist.entry @e_heads function(@heads)
dist.entry @e_groups function(@groups)
dist.entry @e_repeated function(@repeated)
dist.entry @e_narrow function(@narrow)
dist.entry @e_bias function(@bias)
dist.entry @e_masked function(@masked)
dist.entry @e_learned_scale function(@learned_scale)
dist.entry @e_soft_mask function(@soft_mask)
dist.entry @e_two_numbers function(@two_numbers)
dist.entry @e_capped function(@capped)
dist.entry @e_dropped function(@dropped)
dist.entry @e_shown function(@shown)
dist.entry @e_other_dim function(@other_dim)
