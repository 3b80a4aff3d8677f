// RUN: llmc-opt %s --split-input-file --llmc-clone-cones | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-clone-cones --remarks-filter=layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// An op without a block, or with one that has no chunk, stays as it is.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @unplaced
// CHECK-NEXT: stablehlo.negate %arg0 :
// CHECK-NEXT: stablehlo.abs %arg0 {dist.block = 2
// CHECK-NEXT: stablehlo.sine %arg0 {dist.block = 1
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: return
func.func @unplaced(%x: tensor<16xf32> {dist.port = #dist.port<input "x">}) -> (tensor<16xf32> {dist.port = #dist.port<output "y">}) {
  %a = stablehlo.negate %x : tensor<16xf32>
  %b = stablehlo.abs %x {dist.block = 2 : i64, dist.phase = #F} : tensor<16xf32>
  %c = stablehlo.sine %x {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  %d = stablehlo.add %a, %b {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  %y = stablehlo.add %c, %d {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  return %y : tensor<16xf32>
}
dist.entry @forward function(@unplaced) chunks([0, 1])

// -----

// What the chunk has already is read, not computed again.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @there
// CHECK-NEXT: %[[M0:.*]] = stablehlo.negate %arg0 {dist.block = 0
// CHECK-NEXT: %[[M1:.*]] = stablehlo.negate %arg0 {dist.block = 1
// CHECK-NEXT: %[[S1:.*]] = stablehlo.abs %[[M1]] {dist.block = 1
// CHECK-NEXT: %[[S0:.*]] = stablehlo.abs %[[M0]] {dist.block = 0
// CHECK-NEXT: stablehlo.multiply %[[S1]], %arg1 {dist.block = 1
// CHECK-NEXT: stablehlo.multiply %[[S0]], %arg1 {dist.block = 0
// CHECK-NEXT: return
func.func @there(%x: tensor<16xf32> {dist.port = #dist.port<input "x">}, %w: tensor<16xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<16xf32> {dist.port = #dist.port<output "y">}, tensor<16xf32> {dist.port = #dist.port<output "z">}) {
  %m = stablehlo.negate %x {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  %s = stablehlo.abs %m {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  %z = stablehlo.multiply %s, %w {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  %y = stablehlo.multiply %s, %w {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  return %y, %z : tensor<16xf32>, tensor<16xf32>
}
dist.state @w : tensor<16xf32> {role = parameter}
dist.entry @forward function(@there) chunks([0, 1])

// -----

// The clone is for the forward, though a backward stands in front of it.
#F = #dist.phase<forward>
#B = #dist.phase<backward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @first
// CHECK-NEXT: %[[M:.*]] = stablehlo.negate %arg0 {dist.block = 2 : i64, dist.phase = #dist.phase<forward>}
// CHECK-NEXT: stablehlo.multiply %[[M]], %arg1 {dist.block = 1
// CHECK-NEXT: stablehlo.multiply %[[M]], %arg1 {dist.block = 2
// CHECK-NEXT: stablehlo.multiply %[[M]], %arg1 {dist.block = 3
func.func @first(%x: tensor<16xf32> {dist.port = #dist.port<input "x">}, %w: tensor<16xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<16xf32> {dist.port = #dist.port<output "a">}, tensor<16xf32> {dist.port = #dist.port<output "b">}, tensor<16xf32> {dist.port = #dist.port<output "c">}) {
  %m = stablehlo.negate %x {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  %a = stablehlo.multiply %m, %w {dist.block = 1 : i64, dist.phase = #B} : tensor<16xf32>
  %b = stablehlo.multiply %m, %w {dist.block = 2 : i64, dist.phase = #F} : tensor<16xf32>
  %c = stablehlo.multiply %m, %w {dist.block = 3 : i64, dist.phase = #F} : tensor<16xf32>
  return %a, %b, %c : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
dist.state @w : tensor<16xf32> {role = parameter}
dist.entry @forward function(@first) chunks([0, 1, 1, 1])

// -----

// Both results of an op are used by the second chunk: one clone, said once; and
// once for two entries.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// REMARK: 1 ops are computed again in chunk 0, which saves a transfer of 64 B
// REMARK: 1 ops are computed again in chunk 1, which saves a transfer of 64 B
// REMARK: 1 ops are computed again in chunk 1, which saves a transfer of 64 B
// REMARK: 1 ops are computed again in chunk 1, which saves a transfer of 4096 B
// REMARK-NOT: remark:
// CHECK-LABEL: func.func @both
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = nn.softmax_cross_entropy %arg0, %arg1 {dist.block = 1
// CHECK-NEXT: stablehlo.add %[[A]], %[[B]]
// CHECK-NEXT: return
func.func @both(%x: tensor<1024x2xf32> {dist.port = #dist.port<input "x">}, %t: tensor<1024xi32> {dist.port = #dist.port<input "t">}) -> (tensor<1024xf32> {dist.port = #dist.port<output "y">}) {
  %l, %s = nn.softmax_cross_entropy %x, %t {dist.block = 0 : i64, dist.phase = #F} : (tensor<1024x2xf32>, tensor<1024xi32>) -> (tensor<1024xf32>, tensor<1024xf32>)
  %y = stablehlo.add %l, %s {dist.block = 1 : i64, dist.phase = #F} : tensor<1024xf32>
  return %y : tensor<1024xf32>
}
dist.entry @forward function(@both) chunks([0, 1])
dist.entry @again function(@both) chunks([0, 1])

// -----

// Without chunks there is nothing to do.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.negate %arg0 {dist.block = 0
// CHECK-NEXT: stablehlo.abs %{{.*}} {dist.block = 1
// CHECK-NEXT: return
func.func @none(%x: tensor<16xf32> {dist.port = #dist.port<input "x">}) -> (tensor<16xf32> {dist.port = #dist.port<output "y">}) {
  %a = stablehlo.negate %x {dist.block = 0 : i64, dist.phase = #F} : tensor<16xf32>
  %b = stablehlo.abs %a {dist.block = 1 : i64, dist.phase = #F} : tensor<16xf32>
  return %b : tensor<16xf32>
}
dist.entry @forward function(@none)
dist.entry @empty function(@none) chunks([])
