// RUN: llmc-opt %s --split-input-file --llmc-materialize | FileCheck %s

// What is spread to more elements is gathered before that, also through an op
// of two operands, and each of them once for two readers.
#rows = #dist.layout<@mesh, [{"x"}]>
#tall = #dist.layout<@mesh, [{"x"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @smaller
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32, #[[ROWS:[a-z0-9_]*]]>
// CHECK-SAME: %[[B:[^:]*]]: tensor<4xf32, #[[ROWS]]>
func.func @smaller(%a: tensor<4xf32> {dist.port = #dist.port<input "a", layout = #rows>}, %b: tensor<4xf32> {dist.port = #dist.port<input "b", layout = #rows>}) -> (tensor<4x64xf32> {dist.port = #dist.port<output "y", layout = #whole>}, tensor<4x64xf32> {dist.port = #dist.port<output "z", layout = #tall>}) {
  // CHECK-DAG: %[[A0:.*]] = dist.reshard %[[A]] {{.*}}: tensor<4xf32, #[[ROWS]]> -> tensor<4xf32, #[[ALL:.*]]>
  // CHECK-DAG: %[[B0:.*]] = dist.reshard %[[B]] {{.*}}: tensor<4xf32, #[[ROWS]]> -> tensor<4xf32, #[[ALL]]>
  %wide = stablehlo.broadcast_in_dim %a, dims = [0] {dist.layouts = [#tall]} : (tensor<4xf32>) -> tensor<4x64xf32>
  %other = stablehlo.broadcast_in_dim %b, dims = [0] {dist.layouts = [#tall]} : (tensor<4xf32>) -> tensor<4x64xf32>
  %sum = stablehlo.multiply %wide, %other {dist.layouts = [#tall]} : tensor<4x64xf32>
  // CHECK-NOT: dist.reshard
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4x64xf32, #[[WHOLE:.*]]>
  %y = stablehlo.tanh %sum {dist.layouts = [#whole]} : tensor<4x64xf32>
  %z = stablehlo.abs %sum {dist.layouts = [#tall]} : tensor<4x64xf32>
  return %y, %z : tensor<4x64xf32>, tensor<4x64xf32>
}
dist.entry @forward function(@smaller) chunks([0])

// -----

// Two operands as large as the value send more than it does: it is gathered.
#tall = #dist.layout<@mesh, [{"x"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @larger
func.func @larger(%a: tensor<4x4xf32> {dist.port = #dist.port<input "a", layout = #tall>}, %b: tensor<4x4xf32> {dist.port = #dist.port<input "b", layout = #tall>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // CHECK: %[[S:.*]] = stablehlo.add
  // CHECK-NEXT: dist.reshard %[[S]]
  // CHECK-NOT: dist.reshard
  %sum = stablehlo.add %a, %b {dist.layouts = [#tall]} : tensor<4x4xf32>
  %y = stablehlo.tanh %sum {dist.layouts = [#whole]} : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
dist.entry @forward function(@larger) chunks([0])

// -----

// A product of matrices is not computed by all devices to send less.
#tall = #dist.layout<@mesh, [{"x"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @contraction
func.func @contraction(%a: tensor<64x2xf32> {dist.port = #dist.port<input "a", layout = #tall>}, %b: tensor<2x64xf32> {dist.port = #dist.port<input "b", layout = #whole>}) -> (tensor<64x64xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // CHECK: %[[P:.*]] = stablehlo.dot_general
  // CHECK-NEXT: dist.reshard %[[P]]
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {dist.layouts = [#tall]} : (tensor<64x2xf32>, tensor<2x64xf32>) -> tensor<64x64xf32>
  %y = stablehlo.tanh %p {dist.layouts = [#whole]} : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
dist.entry @forward function(@contraction) chunks([0])

// -----

// What is there whole is not gathered again over one of two axes: it is cut.
#rows = #dist.layout<@mesh, [{"x", "y"}, {}]>
#half = #dist.layout<@mesh, [{"x"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"x"=2, "y"=2>
// CHECK-DAG: #[[HALF:.*]] = #dist.layout<@mesh, [{"x"}, {}]>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK: func.func @cut
func.func @cut(%a: tensor<8x4xf32> {dist.port = #dist.port<input "a", layout = #rows>}) -> (tensor<8x4xf32> {dist.port = #dist.port<output "y", layout = #half>}, tensor<8x4xf32> {dist.port = #dist.port<output "z", layout = #whole>}) {
  %v = stablehlo.tanh %a {dist.layouts = [#rows]} : tensor<8x4xf32>
  // CHECK: %[[V:.*]] = stablehlo.tanh
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %[[V]] {{.*}} -> tensor<8x4xf32, #[[WHOLE]]>
  // CHECK-NEXT: dist.reshard %[[W]] {{.*}} -> tensor<8x4xf32, #[[HALF]]>
  // CHECK-NOT: dist.reshard
  %y = stablehlo.abs %v {dist.layouts = [#half]} : tensor<8x4xf32>
  %z = stablehlo.negate %v {dist.layouts = [#whole]} : tensor<8x4xf32>
  return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
}
dist.entry @forward function(@cut) chunks([0])
