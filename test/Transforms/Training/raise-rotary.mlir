// RUN: llmc-opt %s --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-raise=rotary=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | grep '] rotary |' | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.
// REMARK-COUNT-5: "pairs that are turned"
// REMARK-NEXT: no rotation: what is scaled is not what is turned
// REMARK-NEXT: no rotation: the second of a pair is not turned as the first
// REMARK-NOT: rotary

// Tables of each element, from positions.
// CHECK-LABEL: func.func @scaled_and_turned(
// CHECK-DAG: %[[C:.*]] = stablehlo.reshape %arg1 : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
// CHECK-DAG: %[[S:.*]] = stablehlo.reshape %arg2 : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
// CHECK: %[[Y:.*]] = nn.rotary %arg0, %[[C]], %[[S]] : (tensor<2x8x3x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>) -> tensor<2x8x3x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @scaled_and_turned(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x4xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x4xf32> {dist.port = #dist.port<input "s">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %p = stablehlo.multiply %x, %cb : tensor<2x8x3x4xf32>
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %n = stablehlo.negate %b : tensor<2x8x3x2xf32>
  %r = stablehlo.concatenate %n, %a, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  %q = stablehlo.multiply %sb, %r : tensor<2x8x3x4xf32>
  %y = stablehlo.add %q, %p : tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @scaled_and_turned_entry function(@scaled_and_turned)

// Tables that have each number twice are those of the angles alone.
// CHECK-LABEL: func.func @angles_twice(
// CHECK-DAG: %[[C:.*]] = stablehlo.cosine %arg1 : tensor<8x2xf32>
// CHECK-DAG: %[[D:.*]] = stablehlo.multiply %[[C]], %{{.*}} : tensor<8x2xf32>
// CHECK-DAG: %[[S:.*]] = stablehlo.sine %arg1 : tensor<8x2xf32>
// CHECK-DAG: %[[CT:.*]] = stablehlo.reshape %[[D]] : (tensor<8x2xf32>) -> tensor<1x8x1x2xf32>
// CHECK-DAG: %[[ST:.*]] = stablehlo.reshape %[[S]] : (tensor<8x2xf32>) -> tensor<1x8x1x2xf32>
// CHECK: nn.rotary %arg0, %[[CT]], %[[ST]] :
func.func @angles_twice(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %a: tensor<8x2xf32> {dist.port = #dist.port<input "a">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %aa = stablehlo.concatenate %a, %a, dim = 1 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  %c0 = stablehlo.cosine %aa : tensor<8x4xf32>
  %k = stablehlo.constant dense<2.0> : tensor<8x4xf32>
  %c = stablehlo.multiply %c0, %k : tensor<8x4xf32>
  %s = stablehlo.sine %aa : tensor<8x4xf32>
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %p = stablehlo.multiply %x, %cb : tensor<2x8x3x4xf32>
  %h = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %n = stablehlo.negate %b : tensor<2x8x3x2xf32>
  %r = stablehlo.concatenate %n, %h, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  %q = stablehlo.multiply %r, %sb : tensor<2x8x3x4xf32>
  %y = stablehlo.add %p, %q : tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @angles_twice_entry function(@angles_twice)

// Each half is made by itself.
// CHECK-LABEL: func.func @parts(
// CHECK-DAG: %[[C:.*]] = stablehlo.reshape %arg1 : (tensor<8x2xf32>) -> tensor<1x8x1x2xf32>
// CHECK-DAG: %[[S:.*]] = stablehlo.reshape %arg2 : (tensor<8x2xf32>) -> tensor<1x8x1x2xf32>
// CHECK: %[[Y:.*]] = nn.rotary %arg0, %[[C]], %[[S]] :
// CHECK-NEXT: return %[[Y]]
func.func @parts(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x2xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x2xf32> {dist.port = #dist.port<input "s">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %ac = stablehlo.multiply %a, %cb : tensor<2x8x3x2xf32>
  %bs = stablehlo.multiply %b, %sb : tensor<2x8x3x2xf32>
  %f = stablehlo.subtract %ac, %bs : tensor<2x8x3x2xf32>
  %bc = stablehlo.multiply %cb, %b : tensor<2x8x3x2xf32>
  %as = stablehlo.multiply %a, %sb : tensor<2x8x3x2xf32>
  %g = stablehlo.add %as, %bc : tensor<2x8x3x2xf32>
  %y = stablehlo.concatenate %f, %g, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @parts_entry function(@parts)

// The first elements alone: the rest stays.
// CHECK-LABEL: func.func @some(
// CHECK-DAG: %[[X:.*]] = stablehlo.slice %arg0 [0:2, 0:8, 0:3, 0:4]
// CHECK-DAG: %[[R:.*]] = stablehlo.slice %arg0 [0:2, 0:8, 0:3, 4:7]
// CHECK: %[[T:.*]] = nn.rotary %[[X]],
// CHECK: stablehlo.concatenate %[[T]], %[[R]], dim = 3
func.func @some(%x: tensor<2x8x3x7xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x2xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x2xf32> {dist.port = #dist.port<input "s">}) -> (tensor<2x8x3x7xf32> {dist.port = #dist.port<output "y">}) {
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x7xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x7xf32>) -> tensor<2x8x3x2xf32>
  %rest = stablehlo.slice %x [0:2, 0:8, 0:3, 4:7] : (tensor<2x8x3x7xf32>) -> tensor<2x8x3x3xf32>
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %ac = stablehlo.multiply %a, %cb : tensor<2x8x3x2xf32>
  %bs = stablehlo.multiply %b, %sb : tensor<2x8x3x2xf32>
  %f = stablehlo.subtract %ac, %bs : tensor<2x8x3x2xf32>
  %bc = stablehlo.multiply %cb, %b : tensor<2x8x3x2xf32>
  %as = stablehlo.multiply %a, %sb : tensor<2x8x3x2xf32>
  %g = stablehlo.add %bc, %as : tensor<2x8x3x2xf32>
  %y = stablehlo.concatenate %f, %g, %rest, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>, tensor<2x8x3x3xf32>) -> tensor<2x8x3x7xf32>
  return %y : tensor<2x8x3x7xf32>
}
dist.entry @some_entry function(@some)

// Dims of the tables in another order, and one number for all sines.
// CHECK-LABEL: func.func @other_order(
// CHECK-DAG: %[[T:.*]] = stablehlo.transpose %arg1, dims = [1, 0]
// CHECK-DAG: %[[C:.*]] = stablehlo.reshape %[[T]] : (tensor<8x2xf32>) -> tensor<1x8x1x2xf32>
// CHECK-DAG: %[[N:.*]] = stablehlo.reshape %arg2 : (tensor<f32>) -> tensor<1x1x1x1xf32>
// CHECK-DAG: %[[S:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = [0, 1, 2, 3] : (tensor<1x1x1x1xf32>) -> tensor<1x8x1x2xf32>
// CHECK: nn.rotary %arg0, %[[C]], %[[S]] :
func.func @other_order(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<2x8xf32> {dist.port = #dist.port<input "c">}, %s: tensor<f32> {dist.port = #dist.port<input "s">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %cb = stablehlo.broadcast_in_dim %c, dims = [3, 1] : (tensor<2x8xf32>) -> tensor<2x8x3x2xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x8x3x2xf32>
  %ac = stablehlo.multiply %a, %cb : tensor<2x8x3x2xf32>
  %bs = stablehlo.multiply %b, %sb : tensor<2x8x3x2xf32>
  %f = stablehlo.subtract %ac, %bs : tensor<2x8x3x2xf32>
  %bc = stablehlo.multiply %cb, %b : tensor<2x8x3x2xf32>
  %as = stablehlo.multiply %a, %sb : tensor<2x8x3x2xf32>
  %g = stablehlo.add %bc, %as : tensor<2x8x3x2xf32>
  %y = stablehlo.concatenate %f, %g, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @other_order_entry function(@other_order)

// What is scaled is another tensor.
// CHECK-LABEL: func.func @other_scaled(
// CHECK-NOT: nn.
// CHECK: return
func.func @other_scaled(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x4xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x4xf32> {dist.port = #dist.port<input "s">}, %o: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "o">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %p = stablehlo.multiply %o, %cb : tensor<2x8x3x4xf32>
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %n = stablehlo.negate %b : tensor<2x8x3x2xf32>
  %r = stablehlo.concatenate %n, %a, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  %q = stablehlo.multiply %sb, %r : tensor<2x8x3x4xf32>
  %y = stablehlo.add %q, %p : tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @other_scaled_entry function(@other_scaled)

// The second half is turned by other sines.
// CHECK-LABEL: func.func @other_table(
// CHECK-NOT: nn.
// CHECK: return
func.func @other_table(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x2xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x2xf32> {dist.port = #dist.port<input "s">}, %o: tensor<8x2xf32> {dist.port = #dist.port<input "o">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %ac = stablehlo.multiply %a, %cb : tensor<2x8x3x2xf32>
  %bs = stablehlo.multiply %b, %sb : tensor<2x8x3x2xf32>
  %f = stablehlo.subtract %ac, %bs : tensor<2x8x3x2xf32>
  %bc = stablehlo.multiply %cb, %b : tensor<2x8x3x2xf32>
  %as = stablehlo.multiply %a, %sb : tensor<2x8x3x2xf32>
  %ob = stablehlo.broadcast_in_dim %o, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %ao = stablehlo.multiply %a, %ob : tensor<2x8x3x2xf32>
  %g = stablehlo.add %bc, %ao : tensor<2x8x3x2xf32>
  %y = stablehlo.concatenate %f, %g, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @other_table_entry function(@other_table)

// Without a change of sign these are no pairs.
// CHECK-LABEL: func.func @turned_back(
// CHECK-NOT: nn.
// CHECK: return
func.func @turned_back(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x4xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x4xf32> {dist.port = #dist.port<input "s">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %p = stablehlo.multiply %x, %cb : tensor<2x8x3x4xf32>
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 2:4] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %r = stablehlo.concatenate %b, %a, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  %q = stablehlo.multiply %sb, %r : tensor<2x8x3x4xf32>
  %y = stablehlo.add %q, %p : tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @turned_back_entry function(@turned_back)

// Pieces that are no halves.
// CHECK-LABEL: func.func @overlapping(
// CHECK-NOT: nn.
// CHECK: return
func.func @overlapping(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x4xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x4xf32> {dist.port = #dist.port<input "s">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<2x8x3x4xf32>
  %p = stablehlo.multiply %x, %cb : tensor<2x8x3x4xf32>
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 1:3] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %n = stablehlo.negate %b : tensor<2x8x3x2xf32>
  %r = stablehlo.concatenate %n, %a, dim = 3 : (tensor<2x8x3x2xf32>, tensor<2x8x3x2xf32>) -> tensor<2x8x3x4xf32>
  %q = stablehlo.multiply %sb, %r : tensor<2x8x3x4xf32>
  %y = stablehlo.add %q, %p : tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @overlapping_entry function(@overlapping)

// Pairs that lie side by side: a kernel of such rows is no faster than the ops.
// CHECK-LABEL: func.func @side_by_side(
// CHECK-NOT: nn.
// CHECK: return
func.func @side_by_side(%x: tensor<2x8x3x4xf32> {dist.port = #dist.port<input "x">}, %c: tensor<8x2xf32> {dist.port = #dist.port<input "c">}, %s: tensor<8x2xf32> {dist.port = #dist.port<input "s">}) -> (tensor<2x8x3x4xf32> {dist.port = #dist.port<output "y">}) {
  %a = stablehlo.slice %x [0:2, 0:8, 0:3, 0:4:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %b = stablehlo.slice %x [0:2, 0:8, 0:3, 1:4:2] : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x2xf32>
  %cb = stablehlo.broadcast_in_dim %c, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1, 3] : (tensor<8x2xf32>) -> tensor<2x8x3x2xf32>
  %ac = stablehlo.multiply %a, %cb : tensor<2x8x3x2xf32>
  %bs = stablehlo.multiply %b, %sb : tensor<2x8x3x2xf32>
  %f = stablehlo.subtract %ac, %bs : tensor<2x8x3x2xf32>
  %bc = stablehlo.multiply %cb, %b : tensor<2x8x3x2xf32>
  %as = stablehlo.multiply %a, %sb : tensor<2x8x3x2xf32>
  %g = stablehlo.add %bc, %as : tensor<2x8x3x2xf32>
  %fo = stablehlo.broadcast_in_dim %f, dims = [0, 1, 2, 3] : (tensor<2x8x3x2xf32>) -> tensor<2x8x3x2x1xf32>
  %go = stablehlo.broadcast_in_dim %g, dims = [0, 1, 2, 3] : (tensor<2x8x3x2xf32>) -> tensor<2x8x3x2x1xf32>
  %st = stablehlo.concatenate %fo, %go, dim = 4 : (tensor<2x8x3x2x1xf32>, tensor<2x8x3x2x1xf32>) -> tensor<2x8x3x2x2xf32>
  %y = stablehlo.reshape %st : (tensor<2x8x3x2x2xf32>) -> tensor<2x8x3x4xf32>
  return %y : tensor<2x8x3x4xf32>
}
dist.entry @side_by_side_entry function(@side_by_side)
