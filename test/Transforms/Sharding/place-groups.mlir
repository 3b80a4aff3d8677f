// RUN: llmc-opt %s --split-input-file --llmc-place-groups | FileCheck %s

// Two products of the same groups, whose matrices are split, with ops between
// them: each device has all rows, of which those of its own groups are right.
// What else reads the second product reads the sum over the devices.
#whole = #dist.layout<@mesh, [{}, {}]>
#own = #dist.layout<@mesh, [{"expert"}, {}, {}]>
#list = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"expert"=2>
// CHECK-DAG: #[[OWN:.*]] = #dist.layout<@mesh, [{"expert"}, {}, {}]>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK: func.func @experts
func.func @experts(%x: tensor<12x6xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %s: tensor<4xi32> {dist.port = #dist.port<input "s", layout = #list>}, %up: tensor<4x6x8xf32> {dist.port = #dist.port<input "up", layout = #own>}, %down: tensor<4x8x6xf32> {dist.port = #dist.port<input "down", layout = #own>})
    -> (tensor<12x6xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // CHECK: %[[X:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] {dist.block = 1 : i64, dist.layouts = [#[[OWN]]], dist.phase = #dist.phase<forward>} : (tensor<12x6xf32>) -> tensor<2x12x6xf32>
  // CHECK: %[[UP:.*]] = stablehlo.reshape %arg2 {{.*}} : (tensor<4x6x8xf32>) -> tensor<2x2x6x8xf32>
  // CHECK: stablehlo.iota dim = 0 {{.*}} : tensor<2xi32>
  // CHECK: %[[H:.*]] = nn.grouped_dot %[[X]], %[[UP]], %arg1 first %{{.*}} batch [0] x [0] contracting [2] x [2] rows 1 groups 1 {dist.block = 1 : i64, dist.layouts = [#[[OWN]]], {{.*}} -> tensor<2x12x8xf32>
  %h = nn.grouped_dot %x, %up, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 {dist.layouts = [#whole], dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<12x6xf32>, tensor<4x6x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  // CHECK-NOT: reduce
  // CHECK: %[[A:.*]] = stablehlo.tanh %[[H]] {{.*}}dist.layouts = [#[[OWN]]]{{.*}} : tensor<2x12x8xf32>
  %a = stablehlo.tanh %h {dist.layouts = [#whole], dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<12x8xf32>
  // CHECK: %[[Y:.*]] = nn.grouped_dot %[[A]], {{.*}} -> tensor<2x12x6xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[Y]] {{.*}} applies stablehlo.add across dimensions = [0] {{.*}}dist.layouts = [#[[WHOLE]]]
  %y = nn.grouped_dot %a, %down, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 {dist.layouts = [#whole], dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<12x8xf32>, tensor<4x8x6xf32>, tensor<4xi32>) -> tensor<12x6xf32>
  // CHECK: stablehlo.negate %[[SUM]]
  %z = stablehlo.negate %y {dist.layouts = [#whole], dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<12x6xf32>
  return %z : tensor<12x6xf32>
}
dist.entry @forward function(@experts) chunks([0])

// -----

// What is handed out is no follower, nor is what mixes rows: both read the sum.
// Matrices of contracted rows are those of all devices again.
#whole = #dist.layout<@mesh, [{}, {}]>
#own = #dist.layout<@mesh, [{"expert"}, {}, {}]>
#list = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"expert"=2>
// CHECK-LABEL: func.func @outside
func.func @outside(%x: tensor<12x6xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %s: tensor<4xi32> {dist.port = #dist.port<input "s", layout = #list>}, %up: tensor<4x6x8xf32> {dist.port = #dist.port<input "up", layout = #own>})
    -> (tensor<12x8xf32> {dist.port = #dist.port<output "a", layout = #whole>}, tensor<4x6x8xf32> {dist.port = #dist.port<output "g", layout = #own>}) {
  // CHECK: %[[H:.*]] = nn.grouped_dot {{.*}} -> tensor<2x12x8xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[H]]
  %h = nn.grouped_dot %x, %up, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 {dist.layouts = [#whole]} : (tensor<12x6xf32>, tensor<4x6x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  // CHECK: %[[A:.*]] = stablehlo.tanh %[[SUM]] {{.*}} : tensor<12x8xf32>
  %a = stablehlo.tanh %h {dist.layouts = [#whole]} : tensor<12x8xf32>
  // CHECK: %[[R:.*]] = stablehlo.reverse %[[SUM]]
  %r = stablehlo.reverse %h, dims = [0] {dist.layouts = [#whole]} : tensor<12x8xf32>
  // CHECK: stablehlo.broadcast_in_dim %[[R]], dims = [1, 2] {{.*}} -> tensor<2x12x8xf32>
  // CHECK: %[[G:.*]] = nn.grouped_dot {{.*}} -> tensor<2x2x6x8xf32>
  // CHECK: %[[ALL:.*]] = stablehlo.reshape %[[G]] {{.*}} -> tensor<4x6x8xf32>
  %g = nn.grouped_dot %x, %r, %s batch [] x [] contracting [0] x [0] rows 0 {dist.layouts = [#own]} : (tensor<12x6xf32>, tensor<12x8xf32>, tensor<4xi32>) -> tensor<4x6x8xf32>
  // CHECK: return %[[A]], %[[ALL]]
  return %a, %g : tensor<12x8xf32>, tensor<4x6x8xf32>
}
dist.entry @forward function(@outside) chunks([0])

// -----

// Matrices that are whole, or that the axis does not divide, stay.
#whole = #dist.layout<@mesh, [{}, {}]>
#rest = #dist.layout<@mesh, [{}, {}, {}]>
#list = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"expert"=2>
// CHECK-LABEL: func.func @whole
func.func @whole(%x: tensor<12x6xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %s: tensor<4xi32> {dist.port = #dist.port<input "s", layout = #list>}, %up: tensor<4x6x8xf32> {dist.port = #dist.port<input "up", layout = #rest>})
    -> (tensor<12x8xf32> {dist.port = #dist.port<output "h", layout = #whole>}) {
  // CHECK-NEXT: nn.grouped_dot %arg0, %arg2, %arg1 batch [] x []
  %h = nn.grouped_dot %x, %up, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 {dist.layouts = [#whole]} : (tensor<12x6xf32>, tensor<4x6x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  return %h : tensor<12x8xf32>
}
dist.entry @forward function(@whole) chunks([0])
