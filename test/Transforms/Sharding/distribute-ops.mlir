// RUN: llmc-opt %s --split-input-file --llmc-distribute-ops | FileCheck %s

// The classes are split: maximum and sums over devices, the rest is local. New
// ops have the op's block and phase, and layouts between its own.
#rows = #dist.layout<@mesh, [{"data"}]>
#split = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK: #[[ROWS:.*]] = #dist.layout<@mesh, [{"data"}]>
// CHECK: #[[SPLIT:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
// CHECK: func.func @split
func.func @split(%x: tensor<8x10xf32> {dist.port = #dist.port<input "x", layout = #split>}, %t: tensor<8xi32> {dist.port = #dist.port<input "t", layout = #rows>}, %g: tensor<8xf32> {dist.port = #dist.port<input "g", layout = #rows>})
    -> (tensor<8xf32> {dist.port = #dist.port<output "l", layout = #rows>}, tensor<8x10xf32> {dist.port = #dist.port<output "d", layout = #split>}) {
  // CHECK-NOT: nn.
  // CHECK: stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = [1] {dist.block = 3 : i64, dist.layouts = [#[[ROWS]]], dist.phase = #dist.phase<forward>}
  // CHECK: stablehlo.broadcast_in_dim {{.*}}{dist.block = 3 : i64, dist.layouts = [#[[SPLIT]]], dist.phase = #dist.phase<forward>} : (tensor<8xf32>) -> tensor<8x10xf32>
  // CHECK: stablehlo.exponential {{.*}}dist.layouts = [#[[SPLIT]]]
  // CHECK: applies stablehlo.add across dimensions = [1] {dist.block = 3 : i64, dist.layouts = [#[[ROWS]]]
  // CHECK: stablehlo.constant {dist.block = 3 : i64, dist.layouts = [#[[SPLIT]]], {{.*}}} dense<0.000000e+00> : tensor<8x10xf32>
  // CHECK: stablehlo.select {{.*}}dist.layouts = [#[[SPLIT]]]
  // CHECK: stablehlo.log {{.*}}dist.layouts = [#[[ROWS]]]
  %l, %lse = nn.softmax_cross_entropy %x, %t {dist.layouts = [#rows, #rows], dist.block = 3 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: stablehlo.multiply {{.*}}{dist.block = 3 : i64, dist.layouts = [#[[SPLIT]]], dist.phase = #dist.phase<backward_input>}
  %d = nn.softmax_cross_entropy_grad %x, %t, %lse, %g {dist.layouts = [#split], dist.block = 3 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return %l, %d : tensor<8xf32>, tensor<8x10xf32>
}
dist.entry @forward function(@split) chunks([0])

// -----

// Whole classes: the op stays.
#rows = #dist.layout<@mesh, [{"data"}]>
#wide = #dist.layout<@mesh, [{"data"}, {}]>
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK-LABEL: func.func @whole
func.func @whole(%x: tensor<8x10xf32> {dist.port = #dist.port<input "x", layout = #wide>}, %t: tensor<8xi32> {dist.port = #dist.port<input "t", layout = #rows>}) -> (tensor<8xf32> {dist.port = #dist.port<output "l", layout = #rows>}) {
  // CHECK-NEXT: nn.softmax_cross_entropy
  %l, %lse = nn.softmax_cross_entropy %x, %t {dist.layouts = [#rows, #rows]} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %l : tensor<8xf32>
}
dist.entry @forward function(@whole) chunks([0])

// -----

// Rows that an axis splits go from device to device; others stay as they are.
#x = #dist.layout<@mesh, [{"data"}, {}]>
#y = #dist.layout<@mesh, [{}, {"data"}]>
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @route
func.func @route(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x", layout = #x>}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y", layout = #x>}) {
  // CHECK-NEXT: dist.route %{{.*}} dim 0 from [3, 0, 1, 2] split {dist.layouts = [#{{.*}}]} : tensor<4x8xf32>
  %0 = dist.route %x dim 0 from [3, 0, 1, 2] {dist.layouts = [#x]} : tensor<4x8xf32>
  // CHECK-NEXT: dist.route %{{.*}} dim 0 from [3, 0, 1, 2] split {dist.layouts = [#{{.*}}]} : tensor<4x8xf32>
  %1 = dist.route %0 dim 0 from [3, 0, 1, 2] {dist.layouts = [#y]} : tensor<4x8xf32>
  // CHECK-NEXT: dist.route %{{.*}} dim 0 from [3, 0, 1, 2] {dist.layouts = [#{{.*}}]} : tensor<4x8xf32>
  %2 = dist.route %1 dim 0 from [3, 0, 1, 2] {dist.layouts = [#y]} : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
dist.entry @forward function(@route) chunks([0])
