// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-propagate-layouts --llmc-verify-layouts --mlir-print-local-scope | FileCheck %s

// On a mesh of one device every argument, result and op result is whole; the
// body of a reduction has no layouts.
dist.mesh @mesh = <"pipe"=1, "data"=1> pipeline "pipe"
// CHECK: func.func @f(%{{.*}}: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}]>>}) -> (tensor<f32> {dist.port = #dist.port<output "y", layout = <@mesh, []>>})
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.tanh %{{.*}} {dist.layouts = {{\[}}#dist.layout<@mesh, [{}]>]}
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}} {dist.layouts = {{\[}}#dist.layout<@mesh, []>]}
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// Six heads over tensor=4 are padded to eight, in q, its weight and bias, and
// in the rows of the projection, whose result is no more split.
#columns = #dist.layout<@mesh, [{}, {"tensor"}]>
dist.mesh @mesh = <"tensor"=4>
dist.state @q : tensor<32x384xf32> {role = parameter, row = #dist.row<rest = #columns>}
dist.state @b : tensor<384xf32> {role = parameter}
dist.state @p : tensor<384x32xf32> {role = parameter}
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: tensor<32x384xf32> {{.*}}layout = <@mesh, [{}, {"tensor"}:512]>
// CHECK-SAME: tensor<384xf32> {{.*}}layout = <@mesh, [{"tensor"}:512]>
// CHECK-SAME: tensor<384x32xf32> {{.*}}layout = <@mesh, [{"tensor"}:512, {}]>
func.func @heads(%x: tensor<8x32xf32> {dist.port = #dist.port<input "x">},
                 %q: tensor<32x384xf32> {dist.port = #dist.port<parameter @q>},
                 %b: tensor<384xf32> {dist.port = #dist.port<parameter @b>},
                 %p: tensor<384x32xf32> {dist.port = #dist.port<parameter @p>}) -> (tensor<8x32xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.dot_general{{.*}}#dist.layout<@mesh, [{}, {"tensor"}:512]>
  %0 = stablehlo.dot_general %x, %q, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x384xf32>) -> tensor<8x384xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<384xf32>) -> tensor<8x384xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x384xf32>
  // CHECK: stablehlo.reshape{{.*}}#dist.layout<@mesh, [{}, {"tensor"}:8, {}]>
  %3 = stablehlo.reshape %2 : (tensor<8x384xf32>) -> tensor<8x6x64xf32>
  %4 = stablehlo.tanh %3 : tensor<8x6x64xf32>
  // CHECK: stablehlo.reshape{{.*}}#dist.layout<@mesh, [{}, {"tensor"}:512]>
  %5 = stablehlo.reshape %4 : (tensor<8x6x64xf32>) -> tensor<8x384xf32>
  // CHECK: stablehlo.dot_general{{.*}}#dist.layout<@mesh, [{}, {}]>
  %6 = stablehlo.dot_general %5, %p, contracting_dims = [1] x [0] : (tensor<8x384xf32>, tensor<384x32xf32>) -> tensor<8x32xf32>
  return %6 : tensor<8x32xf32>
}
dist.entry @forward function(@heads) chunks([0])

// -----

// A batch of 8 over data=3, flattened to tokens.
dist.mesh @mesh = <"data"=3>
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: layout = <@mesh, [{"data"}:9, {}]>
func.func @batch(%x: tensor<8x256xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}, {}]>>}) -> (tensor<2048xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.reshape{{.*}}#dist.layout<@mesh, [{"data"}:2304]>
  %0 = stablehlo.reshape %x : (tensor<8x256xf32>) -> tensor<2048xf32>
  return %0 : tensor<2048xf32>
}
dist.entry @forward function(@batch) chunks([0])

// -----

// A residual stream split along the sequence; weights are used as Megatron
// does: columns, then rows. Contractions with weights keep the weights' axes.
#stream = #dist.layout<@mesh, [{"tensor"}, {}]>
dist.mesh @mesh = <"tensor"=2>
dist.state @w1 : tensor<16x64xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{}, {"tensor"}]>>}
dist.state @w2 : tensor<64x16xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{"tensor"}, {}]>>}
// CHECK-LABEL: func.func @sequence(
func.func @sequence(%x: tensor<8x16xf32> {dist.port = #dist.port<input "x">},
                    %w1: tensor<16x64xf32> {dist.port = #dist.port<parameter @w1>},
                    %w2: tensor<64x16xf32> {dist.port = #dist.port<parameter @w2>}) -> (tensor<8x16xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.constraint %x to <@mesh, [{"tensor"}, {}]> : tensor<8x16xf32>
  // CHECK: stablehlo.tanh{{.*}}#dist.layout<@mesh, [{"tensor"}, {}]>
  %1 = stablehlo.tanh %0 : tensor<8x16xf32>
  // CHECK: stablehlo.dot_general{{.*}}#dist.layout<@mesh, [{}, {"tensor"}]>
  %2 = stablehlo.dot_general %1, %w1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  // CHECK: stablehlo.tanh{{.*}}#dist.layout<@mesh, [{}, {"tensor"}]>
  %3 = stablehlo.tanh %2 : tensor<8x64xf32>
  // CHECK: stablehlo.dot_general{{.*}}#dist.layout<@mesh, [{"tensor"}, {}]>
  %4 = stablehlo.dot_general %3, %w2, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  // CHECK: stablehlo.add{{.*}}#dist.layout<@mesh, [{"tensor"}, {}]>
  %5 = stablehlo.add %0, %4 : tensor<8x16xf32>
  %6 = dist.constraint %5 to <@mesh, [{"tensor"}, {}]> : tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
}
dist.entry @forward function(@sequence) chunks([0])

// -----

// Ops see the use, where it differs from rest. Rows share an extent, and get
// it: 10 over 4 x 2 and over 2.
dist.mesh @mesh = <"data"=4, "tensor"=2>
dist.state @w : tensor<16x10xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{}, {"tensor", "data"}]>, use = #dist.layout<@mesh, [{}, {"tensor"}]>>}
// CHECK: dist.state @w{{.*}}rest = <@mesh, [{}, {"tensor", "data"}:[2, 5:8]]>, use = <@mesh, [{}, {"tensor"}]>
// CHECK-LABEL: func.func @use(
// CHECK-SAME: tensor<16x10xf32> {{.*}}layout = <@mesh, [{}, {"tensor", "data"}:[2, 5:8]]>
func.func @use(%x: tensor<8x16xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}, {}]>>},
               %w: tensor<16x10xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<8x10xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}]>]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x10xf32>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}
dist.entry @forward function(@use) chunks([0])

// -----

// A constant used with two layouts becomes two; with one, one.
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @constants(
func.func @constants(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"t"}, {}]>>},
                     %y: tensor<4x4xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{}, {"t"}]>>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "a">}, tensor<4x4xf32> {dist.port = #dist.port<output "b">}) {
  // CHECK: %[[R:.*]] = stablehlo.constant {{.*}}[{"t"}, {}]
  // CHECK: %[[C:.*]] = stablehlo.constant {{.*}}[{}, {"t"}]
  // CHECK-NOT: constant
  %c = stablehlo.constant dense<2.0> : tensor<4x4xf32>
  // CHECK: stablehlo.add %{{.*}}, %[[R]]
  %0 = stablehlo.add %x, %c : tensor<4x4xf32>
  // CHECK: stablehlo.multiply %{{.*}}, %[[R]]
  %1 = stablehlo.multiply %0, %c : tensor<4x4xf32>
  // CHECK: stablehlo.add %{{.*}}, %[[C]]
  %2 = stablehlo.add %y, %c : tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
dist.entry @forward function(@constants) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected axes that fit dim 1 of state @w of size 2, got {"tensor"}, which pads 2 to 4: use fewer axes on it, or smaller ones}}
dist.state @w : tensor<16x2xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{}, {"tensor"}]>>}
func.func @f(%w: tensor<16x2xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<16x2xf32> {dist.port = #dist.port<output "y">}) {
  return %w : tensor<16x2xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected whole axes in the layout of input "x", got a part of "tensor": parts of axes are not supported yet; declare the parts as axes of the mesh}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"tensor":(1)2}]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected a layout without priorities for input "x": they are not supported yet}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"tensor"}p1]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected a layout without extents for input "x": they are chosen together with those of other values}}
func.func @f(%x: tensor<7xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"tensor"}:8]>>}) -> (tensor<7xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<7xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected a layout that is not partial for input "x": where values are partial is decided later}}
func.func @f(%x: tensor<7xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}], partial = [sum{"tensor"}]>>}) -> (tensor<7xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<7xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected a layout of 1 dims for input "x", got 2}}
func.func @f(%x: tensor<7xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}, {}]>>}) -> (tensor<7xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<7xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// expected-error@+1 {{expected axes other than the pipeline's in the layout of input "x", got "pipe"}}
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"pipe"}]>>}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a block with a chunk, got none}}
  %0 = stablehlo.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])
