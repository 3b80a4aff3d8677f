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

// -----

// expected-error@+1 {{expected at most 64 pipeline stages, got 65}}
dist.mesh @mesh = <"pipe"=65> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.negate %x {dist.block = 0 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @e function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected an axis of the mesh, got "nope"}}
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"tensor"}]>>}, %y: tensor<8xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{"nope"}]>>}) -> (tensor<8xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// The second axis of the second dim.
dist.mesh @mesh = <"data"=2, "tensor"=4>
// expected-error@+1 {{expected whole axes in the layout of input "x", got a part of "tensor": parts of axes are not supported yet; declare the parts as axes of the mesh}}
func.func @f(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}, {"data", "tensor":(1)2}]>>}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<8x8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// Each layout of a row is looked at, of each state.
dist.mesh @mesh = <"tensor"=4>
dist.state @v : tensor<8xf32> {role = parameter}
// expected-error@+1 {{expected a layout without extents for state @w: they are chosen together with those of other values}}
dist.state @w : tensor<8xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{"tensor"}:12]>>}
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected a layout that is not partial for state @w: where values are partial is decided later}}
dist.state @w : tensor<8xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{}]>, use = #dist.layout<@mesh, [{}], partial = [sum{"tensor"}]>>}
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
// expected-error@+1 {{expected a layout without extents for state @w: they are chosen together with those of other values}}
dist.state @w : tensor<8xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{}]>, gradient = #dist.layout<@mesh, [{"tensor"}:12]>>}
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// And each constraint.
dist.mesh @mesh = <"tensor"=4>
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.constraint %x to <@mesh, [{"tensor"}]> : tensor<8xf32>
  // expected-error@+1 {{expected a layout without extents for 'dist.constraint': they are chosen together with those of other values}}
  %1 = dist.constraint %0 to <@mesh, [{"tensor"}:12]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"tensor"=4>
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  // expected-error@+1 {{expected a sharding rule of 'arith.addf', got none}}
  %1 = arith.addf %0, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// One device needs no rules; what is no tensor has no layout; a function of two
// entries is done once.
dist.mesh @mesh = <"tensor"=1>
// CHECK-LABEL: func.func @single(
// CHECK-SAME: f32 {dist.port = #dist.port<input "n">}, %{{.*}}: tensor<8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}]>>}
func.func @single(%n: f32 {dist.port = #dist.port<input "n">}, %x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (f32 {dist.port = #dist.port<output "m">}, tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} : f32
  %0 = arith.addf %n, %n : f32
  // CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} {dist.layouts = {{\[}}#dist.layout<@mesh, [{}]>]} : tensor<8xf32>
  %1 = arith.addf %x, %x : tensor<8xf32>
  return %0, %1 : f32, tensor<8xf32>
}
dist.entry @forward function(@single) chunks([0])
dist.entry @again function(@single) chunks([0])

// -----

// Axes of one device split nothing, the pipeline's neither.
dist.mesh @mesh = <"pipe"=1, "data"=1, "tensor"=2> pipeline "pipe"
// CHECK-LABEL: func.func @ones(
// CHECK-SAME: layout = <@mesh, [{"tensor"}]>
func.func @ones(%x: tensor<8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"pipe", "tensor", "data"}]>>}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.tanh %{{.*}} {dist.layouts = [#dist.layout<@mesh, [{"tensor"}]>]}
  %0 = stablehlo.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
dist.entry @forward function(@ones) chunks([0])

// -----

// An open dim takes an axis, but not one over which it is to be replicated.
dist.mesh @mesh = <"a"=2, "b"=2>
// CHECK-LABEL: func.func @kept(
// CHECK-SAME: input "x", layout = <@mesh, [{"a"}, {"b"}]>
// CHECK-SAME: input "y", layout = <@mesh, [{}, {"b"}]>
// CHECK-SAME: input "z", layout = <@mesh, [{"a"}, {"b"}]>
func.func @kept(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"a"}, {"b"}]>>}, %y: tensor<8x8xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{?}, {?}], replicated = {"a"}>>}, %z: tensor<8x8xf32> {dist.port = #dist.port<input "z", layout = <@mesh, [{?}, {?}]>>}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "o">}) {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  %1 = stablehlo.add %0, %z : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
dist.entry @forward function(@kept) chunks([0])

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 1 : i64} : tensor<8xf32>
  // expected-error@+1 {{expected a block with a chunk, got 2}}
  %1 = stablehlo.tanh %0 {dist.block = 2 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// 64 stages are as many as there may be; a hyper value is at all of them.
dist.mesh @mesh = <"pipe"=64> pipeline "pipe"
dist.hyper @lr : tensor<f32> = <warmup_constant, base = 0.1>
// CHECK-LABEL: func.func @wide(
// CHECK-SAME: hyper @lr, layout = <@mesh, [], at = {"pipe" = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]}>
// CHECK-SAME: output "y", layout = <@mesh, [], at = {"pipe" = [63]}>
func.func @wide(%lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}) -> (tensor<f32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.negate %lr {dist.block = 63 : i64} : tensor<f32>
  return %0 : tensor<f32>
}
dist.entry @e function(@wide) chunks([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63])

// -----

// An optimizer state has its parameter's layout, for an entry too; one of
// another shape has its own.
#U = #dist.phase<update>
dist.mesh @mesh = <"data"=2>
dist.state @first : tensor<4x4xf32> {role = parameter}
dist.state @w : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{"data"}, {}]>>}
dist.state @w.m : tensor<4x4xf32> {role = optimizer, of = @w}
dist.state @w.r : tensor<4xf32> {role = optimizer, of = @w}
func.func private @m(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %g = stablehlo.tanh %w : tensor<4x4xf32>
  return %one, %one, %g : tensor<f32>, tensor<f32>, tensor<4x4xf32>
}
// CHECK-LABEL: func.func private @u(
// CHECK-SAME: parameter @w, layout = <@mesh, [{"data"}, {}]>
// CHECK-SAME: optimizer @w.m, layout = <@mesh, [{"data"}, {}]>
// CHECK-SAME: optimizer @w.r, layout = <@mesh, [{}]>
// CHECK-SAME: gradient @w, layout = <@mesh, [{"data"}, {}]>
// CHECK-SAME: ->
// CHECK-SAME: optimizer @w.r, layout = <@mesh, [{}]>
func.func private @u(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %m: tensor<4x4xf32> {dist.port = #dist.port<optimizer @w.m>}, %r: tensor<4xf32> {dist.port = #dist.port<optimizer @w.r>}, %g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @w.m>}, tensor<4xf32> {dist.port = #dist.port<optimizer @w.r>}) {
  %0 = stablehlo.subtract %w, %g {dist.phase = #U} : tensor<4x4xf32>
  %1 = stablehlo.add %m, %g {dist.phase = #U} : tensor<4x4xf32>
  return %0, %1, %r : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0])
// CHECK-LABEL: func.func @read(
// CHECK-SAME: optimizer @w.m, layout = <@mesh, [{"data"}, {}]>
func.func @read(%m: tensor<4x4xf32> {dist.port = #dist.port<optimizer @w.m>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %m : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
dist.entry @moments function(@read) chunks([0])

// -----

// What reads values of two stages lives at the first one's, unless it adds them.
// An addition of an argument is no join.
#F = #dist.phase<forward>
#B = #dist.phase<backward>
#U = #dist.phase<update>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @a : tensor<4xf32> {role = parameter}
dist.state @b : tensor<4xf32> {role = parameter}
// CHECK-LABEL: func.func private @apart.microbatch(
// CHECK-SAME: gradient @a, layout = <@mesh, [{}], at = {"pipe" = [0]}>
// CHECK-SAME: gradient @b, layout = <@mesh, [{}], at = {"pipe" = [1]}>
func.func private @apart.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %a: tensor<4xf32> {dist.port = #dist.port<parameter @a>}, %b: tensor<4xf32> {dist.port = #dist.port<parameter @b>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @a>}, tensor<4xf32> {dist.port = #dist.port<gradient @b>}) {
  %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #F} dense<1.0> : tensor<f32>
  %gb = stablehlo.tanh %b {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
  %t = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
  // CHECK: stablehlo.add {{.*}}at = {"pipe" = [0]}
  %ga = stablehlo.add %t, %x {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
  return %one, %one, %ga, %gb : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func private @apart.update(
func.func private @apart.update(%a: tensor<4xf32> {dist.port = #dist.port<parameter @a>}, %b: tensor<4xf32> {dist.port = #dist.port<parameter @b>}, %ga: tensor<4xf32> {dist.port = #dist.port<gradient @a>}, %gb: tensor<4xf32> {dist.port = #dist.port<gradient @b>}) -> (tensor<4xf32> {dist.port = #dist.port<parameter @a>}, tensor<4xf32> {dist.port = #dist.port<parameter @b>}) {
  // CHECK: stablehlo.multiply {{.*}}at = {"pipe" = [1]}
  %0 = stablehlo.multiply %gb, %ga {dist.phase = #U} : tensor<4xf32>
  // CHECK: stablehlo.add {{.*}}at = {"pipe" = [0, 1]}
  %1 = stablehlo.add %gb, %ga {dist.phase = #U} : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
dist.step @apart microbatch(@apart.microbatch) update(@apart.update) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// A part of an optimizer state that is of the whole parameter has the layout of
// the parameter's part with its box: its own, or that of the whole.
#U = #dist.phase<update>
dist.mesh @mesh = <"d"=2, "t"=2>
dist.state @w : tensor<8x4xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{}, {"t"}]>>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{"d"}, {}]>>}
dist.state @w.1 part of @w box([4, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @m : tensor<8x4xf32> {role = optimizer, of = @w}
dist.state @m.0 part of @m box([0, 0] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w}
dist.state @m.1 part of @m box([4, 0] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w}
func.func private @parts.m(%w0: tensor<4x4xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x4xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w.1>}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  return %one, %one, %w0, %w1 : tensor<f32>, tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK-LABEL: func.func private @parts.u(
// CHECK-SAME: optimizer @m.0, layout = <@mesh, [{"d"}, {}]>
// CHECK-SAME: optimizer @m.1, layout = <@mesh, [{}, {"t"}]>
// CHECK-SAME: ->
func.func private @parts.u(%m0: tensor<4x4xf32> {dist.port = #dist.port<optimizer @m.0>}, %m1: tensor<4x4xf32> {dist.port = #dist.port<optimizer @m.1>}) -> (tensor<4x4xf32> {dist.port = #dist.port<optimizer @m.0>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @m.1>}) {
  return %m0, %m1 : tensor<4x4xf32>, tensor<4x4xf32>
}
dist.step @train microbatch(@parts.m) update(@parts.u) microbatches(1) schedule(<1f1b>) chunks([0])

// -----

// A hint is a constraint as long as it fits; one that does not goes, where a
// constraint would be refused.
dist.mesh @mesh = <"a"=4>
// CHECK-LABEL: func.func @hints
func.func @hints(%x: tensor<8x2xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8x2xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NEXT: %[[A:.*]] = dist.constraint %{{.*}} hint {dist.layouts = [#[[ROWS:.*]]]}
  // CHECK-NEXT: %[[B:.*]] = stablehlo.tanh %[[A]] {dist.layouts = [#[[ROWS]]]}
  // CHECK-NEXT: return %[[B]]
  %0 = dist.constraint %x to <@mesh, [{"a"}, {?}]> hint : tensor<8x2xf32>
  %1 = dist.constraint %0 to <@mesh, [{?}, {"a"}]> hint : tensor<8x2xf32>
  %2 = stablehlo.tanh %1 : tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}
dist.entry @forward function(@hints) chunks([0])

// -----

dist.mesh @mesh = <"a"=4>
func.func @no_hint(%x: tensor<8x2xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8x2xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected axes that fit dim 1 of 'dist.constraint' of size 2, got {"a"}, which pads 2 to 4: use fewer axes on it, or smaller ones}}
  %0 = dist.constraint %x to <@mesh, [{?}, {"a"}]> : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
dist.entry @forward function(@no_hint) chunks([0])

// -----

// What a loop carries lies in one layout in all its trips and when it leaves, whatever a reader wants.
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @carried(
func.func @carried(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: dist.enter carry {{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}]>]
  %c = dist.enter carry %x of <"l", trips = 3> number(0) : tensor<4x8xf32> -> tensor<4x8xf32>
  %0 = dist.constraint %c to <@mesh, [{"data"}, {}]> : tensor<4x8xf32>
  %1 = stablehlo.tanh %0 : tensor<4x8xf32>
  %2 = dist.constraint %1 to <@mesh, [{"data"}, {}]> : tensor<4x8xf32>
  // CHECK: dist.next {{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}]>]
  // CHECK-NEXT: dist.leave last {{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}]>]
  %n = dist.next %c, %2 : tensor<4x8xf32>
  %y = dist.leave last %n of <"l", trips = 3> : tensor<4x8xf32> -> tensor<4x8xf32>
  %z = dist.constraint %y to <@mesh, [{}, {"data"}]> : tensor<4x8xf32>
  %w = stablehlo.tanh %z : tensor<4x8xf32>
  return %w : tensor<4x8xf32>
}
dist.entry @forward function(@carried) chunks([0])
