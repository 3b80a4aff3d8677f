// RUN: llmc-opt %s --split-input-file --llmc-localize --canonicalize --cse | FileCheck %s

// A row on each device: one permutation. Where a row is zero the device that has
// no receiver keeps its own, and what nobody wanted is not taken.
#x = #dist.layout<@mesh, [{"x"}, {}]>
dist.mesh @mesh = <"x"=4>
// CHECK-LABEL: func.func @one(
// CHECK-SAME: %[[X:.*]]: tensor<1x3xf32>
func.func @one(%x: tensor<4x3xf32, #x> {dist.port = #dist.port<input "x">}) -> (tensor<4x3xf32, #x> {dist.port = #dist.port<output "y">}, tensor<4x3xf32, #x> {dist.port = #dist.port<output "z">}) {
  // CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<1x3xf32>
  // CHECK-DAG: %[[HERE:.*]] = stablehlo.constant dense<[false, true, true, true]> : tensor<4xi1>
  // CHECK: %[[Y:.*]] = dist.permute %[[X]] over ["x"] from [3, 0, 1, 2] : tensor<1x3xf32>
  // CHECK-NEXT: %[[C:.*]] = dist.coordinate ["x"] : tensor<i32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.dynamic_slice %[[HERE]], %[[C]], sizes = [1]
  // CHECK-NEXT: %[[P:.*]] = stablehlo.reshape %[[S]] : (tensor<1xi1>) -> tensor<i1>
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.select %[[P]], %[[Y]], %[[ZERO]]
  // CHECK-NEXT: return %[[Y]], %[[Z]]
  %0 = dist.route %x dim 0 from [3, 0, 1, 2] split : tensor<4x3xf32, #x>
  %1 = dist.route %x dim 0 from [-1, 0, 1, 2] split : tensor<4x3xf32, #x>
  return %0, %1 : tensor<4x3xf32, #x>, tensor<4x3xf32, #x>
}
dist.entry @e function(@one) chunks([0])

// -----

// Several rows on each device: rows that go the same way go together, and one
// that comes from the device itself is not sent.
#x = #dist.layout<@mesh, [{"x"}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @several(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @several(%x: tensor<8xf32, #x> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32, #x> {dist.port = #dist.port<output "y">}, tensor<8xf32, #x> {dist.port = #dist.port<output "z">}) {
  // CHECK-NEXT: %[[LAST:.*]] = stablehlo.slice %[[X]] [3:4]
  // CHECK-NEXT: %[[FIRST:.*]] = dist.permute %[[LAST]] over ["x"] from [1, 0] : tensor<1xf32>
  // CHECK-NEXT: %[[OWN:.*]] = stablehlo.slice %[[X]] [0:3]
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.concatenate %[[FIRST]], %[[OWN]], dim = 0
  // CHECK-NEXT: %[[Z:.*]] = dist.permute %[[X]] over ["x"] from [1, 0] : tensor<4xf32>
  // CHECK-NEXT: return %[[Y]], %[[Z]]
  %0 = dist.route %x dim 0 from [7, 0, 1, 2, 3, 4, 5, 6] split : tensor<8xf32, #x>
  %1 = dist.route %x dim 0 from [4, 5, 6, 7, 0, 1, 2, 3] split : tensor<8xf32, #x>
  return %0, %1 : tensor<8xf32, #x>, tensor<8xf32, #x>
}
dist.entry @e function(@several) chunks([0])

// -----

// Devices take one row from different rows of others; a padded row is zero.
#x = #dist.layout<@mesh, [{"x"}:4]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @padded(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
func.func @padded(%x: tensor<3xf32, #x> {dist.port = #dist.port<input "x">}) -> (tensor<3xf32, #x> {dist.port = #dist.port<output "y">}) {
  // CHECK-DAG: %[[A:.*]] = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  // CHECK-DAG: %[[B:.*]] = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: dist.permute %{{.*}} over ["x"] from [1, 0]
  // CHECK: stablehlo.concatenate
  %0 = dist.route %x dim 0 from [2, 0, 1] split : tensor<3xf32, #x>
  return %0 : tensor<3xf32, #x>
}
dist.entry @e function(@padded) chunks([0])

// -----

// Whole rows: the same on each device.
#x = #dist.layout<@mesh, [{}, {"x"}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @whole
func.func @whole(%x: tensor<3x4xf32, #x> {dist.port = #dist.port<input "x">}) -> (tensor<3x4xf32, #x> {dist.port = #dist.port<output "y">}) {
  // CHECK-NEXT: dist.route %{{.*}} dim 0 from [2, -1, 1] : tensor<3x2xf32>
  %0 = dist.route %x dim 0 from [2, -1, 1] split : tensor<3x4xf32, #x>
  return %0 : tensor<3x4xf32, #x>
}
dist.entry @e function(@whole) chunks([0])
