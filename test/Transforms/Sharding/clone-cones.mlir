// RUN: llmc-opt %s --split-input-file --llmc-clone-cones | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-clone-cones --remarks-filter=layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: 3 ops are computed again in chunk 1, which saves a transfer of 64 B

#F = #dist.phase<forward>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// The mask depends on the tokens alone: the second chunk computes it again, and
// its backward reads that. What a parameter is in stays where it is, and so
// does a constant that is returned.
// CHECK-LABEL: func.func @f
// CHECK: %[[C:.*]] = stablehlo.constant {dist.block = 0
// CHECK: %[[C1:.*]] = stablehlo.constant {dist.block = 1
// CHECK: %[[M:.*]] = stablehlo.convert %arg0 {dist.block = 0
// CHECK: %[[M1:.*]] = stablehlo.convert %arg0 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[S:.*]] = stablehlo.multiply %[[M]], %[[C]]
// CHECK: %[[S1:.*]] = stablehlo.multiply %[[M1]], %[[C1]] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[P:.*]] = stablehlo.negate %arg1 {dist.block = 0
// CHECK: %[[X:.*]] = stablehlo.multiply %[[S]], %[[P]]
// CHECK: %[[Y:.*]] = stablehlo.multiply %[[X]], %[[S1]]
// CHECK: %[[Z:.*]] = stablehlo.multiply %[[Y]], %[[P]]
// CHECK: stablehlo.multiply %[[Z]], %[[S1]] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>}
func.func @f(%t: tensor<16xi32> {dist.port = #dist.port<input "t">}, %w: tensor<16xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<16xf32> {dist.port = #dist.port<output "y">}, tensor<f32> {dist.port = #dist.port<output "n">}) {
  %c = stablehlo.constant {dist.block = 0 : i64, dist.phase = #F} dense<2.0> : tensor<16xf32>
  %n = stablehlo.constant {dist.block = 0 : i64, dist.phase = #F} dense<4.0> : tensor<f32>
  %m = stablehlo.convert %t {dist.block = 0 : i64, dist.phase = #F} : (tensor<16xi32>) -> tensor<16xf32>
  %s = stablehlo.multiply %m, %c {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  %p = stablehlo.negate %w {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  %x = stablehlo.multiply %s, %p {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  %y = stablehlo.multiply %x, %s {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  %z = stablehlo.multiply %y, %p {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  %g = stablehlo.multiply %z, %s {dist.block = 1 : i64, dist.phase = #W} : tensor<16xf32>
  return %g, %n : tensor<16xf32>, tensor<f32>
}
dist.state @w : tensor<16xf32> {role = parameter}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// Dear to compute and small: sent. A cone that the second chunk alone still
// uses leaves the first.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @g
// CHECK: %[[D:.*]] = stablehlo.dot_general %arg0, %arg0
// CHECK-NOT: stablehlo.dot_general
// CHECK-NOT: stablehlo.negate %arg1 {dist.block = 0
// CHECK: %[[N:.*]] = stablehlo.negate %arg1 {dist.block = 1
// CHECK: stablehlo.multiply %[[D]], %[[N]]
func.func @g(%a: tensor<64x64xf32> {dist.port = #dist.port<input "a">}, %b: tensor<f32> {dist.port = #dist.port<input "b">}) -> (tensor<f32> {dist.port = #dist.port<output "y">}) {
  %d = stablehlo.dot_general %a, %a, contracting_dims = [0, 1] x [0, 1] {dist.block = 0 : i64, dist.phase = #F} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<f32>
  %n = stablehlo.negate %b {dist.block = 0 : i64, dist.phase = #F} : tensor<f32>
  %y = stablehlo.multiply %d, %n {dist.block = 1 : i64, dist.phase = #F} : tensor<f32>
  return %y : tensor<f32>
}
dist.entry @forward function(@g) chunks([0, 1])

// -----

// One chunk: nothing to do.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=1> pipeline "pipe"
// CHECK-LABEL: func.func @h
// CHECK-COUNT-1: stablehlo.negate
// CHECK-NOT: stablehlo.negate
func.func @h(%b: tensor<f32> {dist.port = #dist.port<input "b">}) -> (tensor<f32> {dist.port = #dist.port<output "y">}) {
  %n = stablehlo.negate %b {dist.block = 0 : i64, dist.phase = #F} : tensor<f32>
  %y = stablehlo.multiply %n, %n {dist.block = 1 : i64, dist.phase = #F} : tensor<f32>
  return %y : tensor<f32>
}
dist.entry @forward function(@h) chunks([0, 0])

// -----

// Any result of an op may be what the other chunk uses: here the second.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @second
// CHECK: %{{.*}}, %[[L0:.*]] = nn.softmax_cross_entropy %arg0, %arg1 {dist.block = 0
// CHECK: %{{.*}}, %[[L1:.*]] = nn.softmax_cross_entropy %arg0, %arg1 {dist.block = 1
// CHECK: stablehlo.negate %[[L1]] {dist.block = 1
func.func @second(%x: tensor<1024x2xf32> {dist.port = #dist.port<input "x">}, %t: tensor<1024xi32> {dist.port = #dist.port<input "t">})
    -> (tensor<1024xf32> {dist.port = #dist.port<output "y">}, tensor<1024xf32> {dist.port = #dist.port<output "l">}) {
  %l, %s = nn.softmax_cross_entropy %x, %t {dist.block = 0 : i64, dist.phase = #F} : (tensor<1024x2xf32>, tensor<1024xi32>) -> (tensor<1024xf32>, tensor<1024xf32>)
  %h = stablehlo.negate %s {dist.block = 0 : i64, dist.phase = #F} : tensor<1024xf32>
  %k = stablehlo.multiply %l, %h {dist.block = 0 : i64, dist.phase = #F} : tensor<1024xf32>
  %y = stablehlo.negate %s {dist.block = 1 : i64, dist.phase = #F} : tensor<1024xf32>
  return %y, %k : tensor<1024xf32>, tensor<1024xf32>
}
dist.entry @forward function(@second) chunks([0, 1])

// -----

// The second chunk's backward reads %m, its forward what is made of %m: the
// clone of %m is of the forward.
#F = #dist.phase<forward>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @phases
// CHECK: %[[M:.*]] = stablehlo.convert %arg0 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK-NOT: stablehlo.convert
// CHECK: %[[S:.*]] = stablehlo.negate %[[M]] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[Y:.*]] = stablehlo.multiply %arg1, %[[S]]
// CHECK: stablehlo.multiply %[[Y]], %[[M]]
func.func @phases(%t: tensor<16xi32> {dist.port = #dist.port<input "t">}, %w: tensor<16xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<16xf32> {dist.port = #dist.port<output "y">}) {
  %m = stablehlo.convert %t {dist.block = 0 : i64, dist.phase = #F} : (tensor<16xi32>) -> tensor<16xf32>
  %s = stablehlo.negate %m {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  %y = stablehlo.multiply %w, %s {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  %g = stablehlo.multiply %y, %m {dist.block = 1 : i64, dist.phase = #W} : tensor<16xf32>
  return %g : tensor<16xf32>
}
dist.state @w : tensor<16xf32> {role = parameter}
dist.entry @forward function(@phases) chunks([0, 1])
