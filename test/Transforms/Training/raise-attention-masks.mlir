// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s

// row >= column.
// CHECK-LABEL: func.func @rows_first
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 0 :
func.func @rows_first(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %m = stablehlo.compare GE, %r, %l, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
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

// column <= row.
// CHECK-LABEL: func.func @columns_first
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 0 :
func.func @columns_first(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %m = stablehlo.compare LE, %l, %r, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
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

// Where column > row the fill is taken.
// CHECK-LABEL: func.func @hidden
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 0 :
func.func @hidden(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %m = stablehlo.compare GT, %l, %r, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
  %c = stablehlo.constant dense<-1.0e+09> : tensor<2x4x6x6xf32>
  %x = stablehlo.select %ms, %c, %s : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
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

// row + 1 > column.
// CHECK-LABEL: func.func @strictly
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 0 :
func.func @strictly(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %one = stablehlo.constant dense<1> : tensor<6x6xi32>
  %r1 = stablehlo.add %r, %one : tensor<6x6xi32>
  %m = stablehlo.compare GT, %r1, %l, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
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

// column - 2 <= row sees two more.
// CHECK-LABEL: func.func @ahead
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 2 :
func.func @ahead(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %two = stablehlo.constant dense<2> : tensor<6x6xi32>
  %l1 = stablehlo.subtract %l, %two : tensor<6x6xi32>
  %m = stablehlo.compare LE, %l1, %r, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
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

// A choice of numbers by positions, compared with one of them.
// CHECK-LABEL: func.func @tril
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 0 :
func.func @tril(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %g = stablehlo.compare GE, %r, %l, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ones = stablehlo.constant dense<1.0> : tensor<6x6xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<6x6xf32>
  %n = stablehlo.select %g, %ones, %zeros : tensor<6x6xi1>, tensor<6x6xf32>
  %m = stablehlo.compare EQ, %n, %zeros, FLOAT : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
  %c = stablehlo.constant dense<0xFF800000> : tensor<2x4x6x6xf32>
  %x = stablehlo.select %ms, %c, %s : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
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

// A progression that the text holds.
// CHECK-LABEL: func.func @positions
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 0 :
func.func @positions(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
  %r = stablehlo.reshape %i : (tensor<6xi64>) -> tensor<6x1xi64>
  %rs = stablehlo.broadcast_in_dim %r, dims = [2, 3] : (tensor<6x1xi64>) -> tensor<2x4x6x6xi64>
  %ls = stablehlo.iota dim = 3 : tensor<2x4x6x6xi64>
  %ms = stablehlo.compare LE, %ls, %rs, SIGNED : (tensor<2x4x6x6xi64>, tensor<2x4x6x6xi64>) -> tensor<2x4x6x6xi1>
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

// A table, of more keys than queries.
// CHECK-LABEL: func.func @table
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 1 :
func.func @table(%q: tensor<2x4x3x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x4x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x4x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x3x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x3x4xf32>
  %m = stablehlo.constant dense<[[true, true, false, false], [true, true, true, false], [true, true, true, true]]> : tensor<3x4xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<3x4xi1>) -> tensor<2x4x3x4xi1>
  %c = stablehlo.constant dense<0xFF800000> : tensor<2x4x3x4xf32>
  %x = stablehlo.select %ms, %s, %c : tensor<2x4x3x4xi1>, tensor<2x4x3x4xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x3x4xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x3xf32>) -> tensor<2x4x3x4xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x3x4xf32>
  %e = stablehlo.exponential %y : tensor<2x4x3x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x3x4xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x3xf32>) -> tensor<2x4x3x4xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x3x4xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x3x4xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// A table of numbers that is added.
// CHECK-LABEL: func.func @added_table
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 causal 0 :
func.func @added_table(%q: tensor<2x4x3x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x3x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x3x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x3x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %m = stablehlo.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<3x3xf32>) -> tensor<2x4x3x3xf32>
  %x = stablehlo.add %s, %ms : tensor<2x4x3x3xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x3x3xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x3xf32>) -> tensor<2x4x3x3xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x3x3xf32>
  %e = stablehlo.exponential %y : tensor<2x4x3x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x3x3xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x3xf32>) -> tensor<2x4x3x3xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x3x3xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// True everywhere: no mask at all.
// CHECK-LABEL: func.func @everything
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 :
func.func @everything(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %t = stablehlo.constant dense<true> : tensor<i1>
  %ms = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<i1>) -> tensor<2x4x6x6xi1>
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

// A conjunction: what is causal, and a bias of the keys that the data shows.
// CHECK-LABEL: func.func @both
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} scale 1.000000e+00 causal 0 : ({{.*}}, tensor<2x1x1x6xf32>) ->
func.func @both(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %d: tensor<2x6xi1> {dist.port = #dist.port<input "d">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %m = stablehlo.compare GE, %r, %l, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %m1 = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x1x6x6xi1>
  %d1 = stablehlo.broadcast_in_dim %d, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x6x6xi1>
  %both = stablehlo.and %m1, %d1 : tensor<2x1x6x6xi1>
  %ms = stablehlo.broadcast_in_dim %both, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
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

// Queries that see later keys only are masked by a bias.
// CHECK-LABEL: func.func @later
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} scale 1.000000e+00 : ({{.*}}, tensor<1x1x6x6xf32>) ->
func.func @later(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %m = stablehlo.compare LE, %r, %l, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
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

// A row that sees nothing: a bias too.
// CHECK-LABEL: func.func @nothing
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} scale 1.000000e+00 : ({{.*}}, tensor<1x1x6x6xf32>) ->
func.func @nothing(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %m = stablehlo.compare GT, %r, %l, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ms = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
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

// Positions along another dim than the rows.
// CHECK-LABEL: func.func @heads
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} scale 1.000000e+00 : ({{.*}}, tensor<2x4x6x6xf32>) ->
func.func @heads(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %r = stablehlo.iota dim = 1 : tensor<2x4x6x6xi32>
  %l = stablehlo.iota dim = 3 : tensor<2x4x6x6xi32>
  %ms = stablehlo.compare GE, %r, %l, SIGNED : (tensor<2x4x6x6xi32>, tensor<2x4x6x6xi32>) -> tensor<2x4x6x6xi1>
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

// A finite number: a row that sees nothing is the mean of the values.
// CHECK-LABEL: func.func @one_number
// CHECK: %[[MEAN:.*]] = stablehlo.divide
// CHECK: %[[MEANS:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 1, 3] : (tensor<2x4x8xf32>) -> tensor<2x4x6x8xf32>
// CHECK: %[[ANY:.*]] = stablehlo.reduce(%{{.*}}) applies stablehlo.or across dimensions = [3] : (tensor<2x1x6x6xi1>
// CHECK: %[[SEES:.*]] = stablehlo.broadcast_in_dim %{{.*}} : (tensor<2x1x6x1xi1>) -> tensor<2x4x6x8xi1>
// CHECK: stablehlo.select %[[SEES]], %{{.*}}, %[[MEANS]]
func.func @one_number(%q: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "q">}, %k: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "k">}, %v: tensor<2x4x6x8xf32> {dist.port = #dist.port<input "v">}, %d: tensor<2x6xi1> {dist.port = #dist.port<input "d">}) -> (tensor<2x4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %l = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %m = stablehlo.compare GE, %r, %l, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %m1 = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x1x6x6xi1>
  %d1 = stablehlo.broadcast_in_dim %d, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x1x6x6xi1>
  %both = stablehlo.and %m1, %d1 : tensor<2x1x6x6xi1>
  %ms = stablehlo.broadcast_in_dim %both, dims = [0, 1, 2, 3] : (tensor<2x1x6x6xi1>) -> tensor<2x4x6x6xi1>
  %c = stablehlo.constant dense<-1.0e+09> : tensor<2x4x6x6xf32>
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

dist.entry @e_rows_first function(@rows_first)
dist.entry @e_columns_first function(@columns_first)
dist.entry @e_hidden function(@hidden)
dist.entry @e_strictly function(@strictly)
dist.entry @e_ahead function(@ahead)
dist.entry @e_tril function(@tril)
dist.entry @e_positions function(@positions)
dist.entry @e_table function(@table)
dist.entry @e_added_table function(@added_table)
dist.entry @e_everything function(@everything)
dist.entry @e_both function(@both)
dist.entry @e_later function(@later)
dist.entry @e_nothing function(@nothing)
dist.entry @e_heads function(@heads)
dist.entry @e_one_number function(@one_number)
