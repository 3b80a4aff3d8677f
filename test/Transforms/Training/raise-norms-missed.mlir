// RUN: llmc-opt %s --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: no norm: its rows are not of the last dimensions
// REMARK: no norm: what is divided is not what the root is of
// REMARK: no norm: what is divided is not what the root is of
// REMARK: no norm: the root has other uses
// REMARK: no norm: the rows or their squares have other uses
// REMARK: no norm: the rows or their squares have other uses
// REMARK-NOT: norm

// Rows of another dimension than the last.
// CHECK-LABEL: func.func @middle
// CHECK-NOT: nn.
// CHECK: return
func.func @middle(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<6.0> : tensor<4x8xf32>
  %q = stablehlo.multiply %x, %x : tensor<4x6x8xf32>
  %s = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %v = stablehlo.divide %s, %n : tensor<4x8xf32>
  %root = stablehlo.rsqrt %v : tensor<4x8xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %x, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @j function(@middle)

// The root of one tensor divides another.
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT: nn.
// CHECK: return
func.func @other_rows(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}, %o: tensor<4x6x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %q = stablehlo.multiply %x, %x : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %o, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @k function(@other_rows)

// Centred by the mean of another tensor, with the variance of its own.
// CHECK-LABEL: func.func @other_mean
// CHECK-NOT: nn.
// CHECK: return
func.func @other_mean(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}, %o: tensor<4x6x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %az = stablehlo.constant dense<0.0> : tensor<f32>
  %as = stablehlo.reduce(%x init: %az) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %ak = stablehlo.broadcast_in_dim %as, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %an = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %m = stablehlo.divide %ak, %an : tensor<4x6x1xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x6x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %oz = stablehlo.constant dense<0.0> : tensor<f32>
  %os = stablehlo.reduce(%o init: %oz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %on = stablehlo.constant dense<8.0> : tensor<4x6xf32>
  %om = stablehlo.divide %os, %on : tensor<4x6xf32>
  %ob = stablehlo.broadcast_in_dim %om, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
  %c2 = stablehlo.subtract %x, %ob : tensor<4x6x8xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.multiply %c2, %rb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @l function(@other_mean)

// The root is read by something else, as by a derivative of the text.
// CHECK-LABEL: func.func @root_used
// CHECK-NOT: nn.
// CHECK: return
func.func @root_used(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %q = stablehlo.multiply %x, %x : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %p = stablehlo.multiply %x, %rb : tensor<4x6x8xf32>
  %cube = stablehlo.multiply %root, %root : tensor<4x6x1xf32>
  %cb = stablehlo.broadcast_in_dim %cube, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %r = stablehlo.add %p, %cb : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @m function(@root_used)

// The centred rows are read by something else.
// CHECK-LABEL: func.func @rows_used
// CHECK-NOT: nn.
// CHECK: return
func.func @rows_used(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %az = stablehlo.constant dense<0.0> : tensor<f32>
  %as = stablehlo.reduce(%x init: %az) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %ak = stablehlo.broadcast_in_dim %as, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %an = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %m = stablehlo.divide %ak, %an : tensor<4x6x1xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %c = stablehlo.subtract %x, %mb : tensor<4x6x8xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %p = stablehlo.multiply %c, %rb : tensor<4x6x8xf32>
  %r = stablehlo.add %p, %c : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @n function(@rows_used)

// The squares are read by something else.
// CHECK-LABEL: func.func @squares_used
// CHECK-NOT: nn.
// CHECK: return
func.func @squares_used(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %q = stablehlo.multiply %x, %x : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %p = stablehlo.multiply %x, %rb : tensor<4x6x8xf32>
  %r = stablehlo.add %p, %q : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @o function(@squares_used)

// A sum of squares in place of a mean, a divisor that is not the number of elements, and an epsilon behind the root: nothing looks like a norm.
// CHECK-LABEL: func.func @sum_of_squares
// CHECK-NOT: nn.
// CHECK: return
func.func @sum_of_squares(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %q = stablehlo.multiply %x, %x : tensor<4x6x8xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %root = stablehlo.rsqrt %s : tensor<4x6xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
  %p = stablehlo.multiply %x, %rb : tensor<4x6x8xf32>
  %seven = stablehlo.constant dense<7.0> : tensor<4x6xf32>
  %v = stablehlo.divide %s, %seven : tensor<4x6xf32>
  %root2 = stablehlo.rsqrt %v : tensor<4x6xf32>
  %rb2 = stablehlo.broadcast_in_dim %root2, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
  %p2 = stablehlo.multiply %x, %rb2 : tensor<4x6x8xf32>
  %eight = stablehlo.constant dense<8.0> : tensor<4x6xf32>
  %v3 = stablehlo.divide %s, %eight : tensor<4x6xf32>
  %root3 = stablehlo.sqrt %v3 : tensor<4x6xf32>
  %e = stablehlo.constant dense<1.0e-6> : tensor<4x6xf32>
  %root3e = stablehlo.add %root3, %e : tensor<4x6xf32>
  %rb3 = stablehlo.broadcast_in_dim %root3e, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
  %p3 = stablehlo.divide %x, %rb3 : tensor<4x6x8xf32>
  %p12 = stablehlo.add %p, %p2 : tensor<4x6x8xf32>
  %r = stablehlo.add %p12, %p3 : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @p function(@sum_of_squares)

// A product with the root, a quotient by its inverse and the root over the rows.
// CHECK-LABEL: func.func @by_the_root
// CHECK-NOT: nn.
// CHECK: return
func.func @by_the_root(%x: tensor<4x6x8xf32> {dist.port = #dist.port<input "x">}, %g: tensor<8xf32> {dist.port = #dist.port<input "g">}) -> (tensor<4x6x8xf32> {dist.port = #dist.port<output "y">}) {
  %q = stablehlo.multiply %x, %x : tensor<4x6x8xf32>
  %bz = stablehlo.constant dense<0.0> : tensor<f32>
  %bs = stablehlo.reduce(%q init: %bz) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  %bk = stablehlo.broadcast_in_dim %bs, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %bn = stablehlo.constant dense<8.0> : tensor<4x6x1xf32>
  %v = stablehlo.divide %bk, %bn : tensor<4x6x1xf32>
  %vee = stablehlo.constant dense<1.0e-05> : tensor<4x6x1xf32>
  %ve = stablehlo.add %v, %vee : tensor<4x6x1xf32>
  %root = stablehlo.sqrt %ve : tensor<4x6x1xf32>
  %inv = stablehlo.rsqrt %ve : tensor<4x6x1xf32>
  %rb = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %ib = stablehlo.broadcast_in_dim %inv, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %p = stablehlo.multiply %x, %rb : tensor<4x6x8xf32>
  %p2 = stablehlo.divide %x, %ib : tensor<4x6x8xf32>
  %p3 = stablehlo.divide %rb, %x : tensor<4x6x8xf32>
  %p12 = stablehlo.add %p, %p2 : tensor<4x6x8xf32>
  %r = stablehlo.add %p12, %p3 : tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
dist.entry @q function(@by_the_root)
