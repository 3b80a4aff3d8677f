// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-place-reductions | FileCheck %s

// Nothing is partial where whole dimensions are reduced.
#whole = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
// CHECK: #[[F:.*]] = #dist.layout<@mesh, []>
// CHECK: func.func @whole
func.func @whole(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<f32> {dist.port = #dist.port<output "y", layout = #scalar>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[F]]]
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
dist.entry @forward function(@whole) chunks([0])

// -----

// What leaves an entry is full: the sum is reduced after the last linear op
// that costs nothing more (a tie: the earliest).
#split = #dist.layout<@mesh, [{"data"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
// CHECK-DAG: #[[F:.*]] = #dist.layout<@mesh, []>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [], partial = [sum{"data"}]>
// CHECK: func.func @split
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<output "y", layout = #[[F]]>})
func.func @split(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #split>}) -> (tensor<f32> {dist.port = #dist.port<output "y", layout = #scalar>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[P]]]
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.negate{{.*}}dist.layouts = [#[[F]]]
  %2 = stablehlo.negate %1 {dist.layouts = [#scalar]} : tensor<f32>
  return %2 : tensor<f32>
}
dist.entry @forward function(@split) chunks([0])

// -----

// Three summands, one reduction; a maximum is no sum.
#x = #dist.layout<@mesh, [{}, {"t"}]>
#w = #dist.layout<@mesh, [{"t"}, {}]>
#y = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[F:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"t"}]>
// CHECK: func.func @three
func.func @three(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %w: tensor<4x6xf32> {dist.port = #dist.port<input "w", layout = #w>}) -> (tensor<8x6xf32> {dist.port = #dist.port<output "y", layout = #y>}) {
  // CHECK-COUNT-3: dot_general{{.*}}dist.layouts = [#[[P]]]
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %b = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %c = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  // CHECK-COUNT-2: stablehlo.add{{.*}}dist.layouts = [#[[P]]]
  %0 = stablehlo.add %a, %b {dist.layouts = [#y]} : tensor<8x6xf32>
  %1 = stablehlo.add %0, %c {dist.layouts = [#y]} : tensor<8x6xf32>
  // CHECK: stablehlo.maximum{{.*}}dist.layouts = [#[[F]]]
  %2 = stablehlo.maximum %1, %1 {dist.layouts = [#y]} : tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}
dist.entry @forward function(@three) chunks([0])

// -----

// A value that its user wants split by the axis leaves it while it is partial:
// reduce-scatter.
#x = #dist.layout<@mesh, [{}, {"t"}]>
#w = #dist.layout<@mesh, [{"t"}, {}]>
#y = #dist.layout<@mesh, [{"t"}, {}]>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[F:.*]] = #dist.layout<@mesh, [{"t"}, {}]>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"t"}]>
// CHECK: func.func @scatter
func.func @scatter(%x: tensor<8x64xf32> {dist.port = #dist.port<input "x", layout = #x>}, %w: tensor<64x6xf32> {dist.port = #dist.port<input "w", layout = #w>}) -> (tensor<8x6xf32> {dist.port = #dist.port<output "y", layout = #y>}) {
  // CHECK: dot_general{{.*}}dist.layouts = [#[[P]]]
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<8x64xf32>, tensor<64x6xf32>) -> tensor<8x6xf32>
  // CHECK: stablehlo.exponential{{.*}}dist.layouts = [#[[F]]]
  %0 = stablehlo.exponential %a {dist.layouts = [#y]} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
dist.entry @forward function(@scatter) chunks([0])

// -----

// With a maximum, what is full is a legal term; the sum below is another kind.
#x = #dist.layout<@mesh, [{}, {"t"}]>
#y = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[F:.*]] = #dist.layout<@mesh, [{}]>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}], partial = [max{"t"}]>
// CHECK: func.func @maximum
func.func @maximum(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %f: tensor<8xf32> {dist.port = #dist.port<input "f", layout = #y>}) -> (tensor<8xf32> {dist.port = #dist.port<output "y", layout = #y>}) {
  %low = stablehlo.constant {dist.layouts = [#scalar]} dense<0xFF800000> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}}maximum{{.*}}dist.layouts = [#[[P]]]
  %a = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#y]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: stablehlo.reduce{{.*}}maximum{{.*}}dist.layouts = [#[[P]]]
  %b = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#y]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: stablehlo.maximum{{.*}}dist.layouts = [#[[P]]]
  %0 = stablehlo.maximum %a, %b {dist.layouts = [#y]} : tensor<8xf32>
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[F]]]
  %1 = stablehlo.add %0, %f {dist.layouts = [#y]} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
dist.entry @forward function(@maximum) chunks([0])

// -----

// A stated split is kept: no partial value passes a constraint that splits the
// axis. (A state that is written is full.)
#x = #dist.layout<@mesh, [{}, {"t"}]>
#w = #dist.layout<@mesh, [{"t"}, {}]>
#y = #dist.layout<@mesh, [{"t"}, {}]>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[F:.*]] = #dist.layout<@mesh, [{"t"}, {}]>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"t"}]>
// CHECK: func.func @constraint
func.func @constraint(%x: tensor<8x64xf32> {dist.port = #dist.port<input "x", layout = #x>}, %w: tensor<64x6xf32> {dist.port = #dist.port<input "w", layout = #w>}) -> (tensor<8x6xf32> {dist.port = #dist.port<output "y", layout = #y>}) {
  // CHECK: dot_general{{.*}}dist.layouts = [#[[P]]]
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<8x64xf32>, tensor<64x6xf32>) -> tensor<8x6xf32>
  // CHECK: dist.constraint{{.*}}dist.layouts = [#[[F]]]
  %c = dist.constraint %a to <@mesh, [{"t"}, {}]> {dist.layouts = [#y]} : tensor<8x6xf32>
  %0 = stablehlo.negate %c {dist.layouts = [#y]} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
dist.entry @forward function(@constraint) chunks([0])

// -----

// The planner knows whole axes.
#x = #dist.layout<@mesh, [{"t":(1)2}, {"d"}]>
#w = #dist.layout<@mesh, [{"d"}, {}]>
#y = #dist.layout<@mesh, [{"t":(1)2}, {}]>
dist.mesh @mesh = <"t"=4, "d"=2>
func.func @parts(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %w: tensor<4x6xf32> {dist.port = #dist.port<input "w", layout = #w>}) -> (tensor<8x6xf32> {dist.port = #dist.port<output "y", layout = #y>}) {
  // expected-error@+1 {{expected a way from #dist.layout<@mesh, [{"t":(1)2}, {}], partial = [sum{"d"}]> to #dist.layout<@mesh, [{"t":(1)2}, {}]>, got none: expected whole mesh axes, got a part of 't'}}
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#y]} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %a : tensor<8x6xf32>
}
dist.entry @forward function(@parts) chunks([0])
