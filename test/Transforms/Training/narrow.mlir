// RUN: split-file %s %t
// RUN: llmc-opt %t/step.mlir --llmc-narrow | FileCheck %t/step.mlir
// RUN: llmc-opt %t/states.mlir --llmc-narrow | FileCheck %t/states.mlir
// RUN: llmc-opt %t/trips.mlir --llmc-narrow | FileCheck %t/trips.mlir
// RUN: llmc-opt %t/saved.mlir --llmc-narrow | FileCheck %t/saved.mlir
// RUN: llmc-opt %t/as-they-are.mlir --llmc-narrow | FileCheck %t/as-they-are.mlir

//--- step.mlir
// The forward converts what the backward reads too, behind a transpose's
// operand, and the weight too. The
// cotangent is converted once, the gradient not at all. What is no factor, the
// exponential of the same value, reads it wide.
// CHECK-NOT: dist.precision
// CHECK-LABEL: func.func private @microbatch
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32> {{{.*}}}, %[[W:.*]]: tensor<4x8xf32>
// CHECK: %[[E:.*]] = stablehlo.exponential %[[X]] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[EN:.*]] = stablehlo.convert %[[E]] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x8xf32>) -> tensor<2x8xbf16>
// CHECK: %[[WN:.*]] = stablehlo.convert %[[W]] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[WN]], dims = [1, 0] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
// CHECK: %[[Y:.*]] = stablehlo.dot_general %[[EN]], %[[T]], {{.*}} : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xf32>
// CHECK: stablehlo.reduce(%[[Y]] init: %{{.*}}) {{.*}} : (tensor<2x4xf32>, tensor<f32>)
// CHECK: %[[G:.*]] = stablehlo.multiply %[[Y]], %[[Y]]
// CHECK: %[[GN:.*]] = stablehlo.convert %[[G]] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK-NOT: stablehlo.convert
// CHECK: %[[GE:.*]] = stablehlo.dot_general %[[GN]], %[[WN]], {{.*}} : (tensor<2x4xbf16>, tensor<4x8xbf16>) -> tensor<2x8xf32>
// CHECK: %[[GW:.*]] = stablehlo.dot_general %[[GN]], %[[EN]], {{.*}} : (tensor<2x4xbf16>, tensor<2x8xbf16>) -> tensor<4x8xf32>
// CHECK: stablehlo.multiply %[[GE]], %[[E]]
// CHECK: return %{{.*}}, %{{.*}}, %[[GW]]
// CHECK-LABEL: func.func private @update
// CHECK: stablehlo.dot_general {{.*}} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
// An entry multiplies as the step does.
// CHECK-LABEL: func.func @evaluated
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x8xbf16>, tensor<4x8xbf16>) -> tensor<2x4xf32>
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @x : tensor<2x8xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%x: tensor<2x8xf32> {dist.port = #dist.port<parameter @x>}, %w: tensor<4x8xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x8xf32> {dist.port = #dist.port<gradient @w>}, tensor<2x8xf32> {dist.port = #dist.port<gradient @x>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x8xf32>
  %t = stablehlo.transpose %w, dims = [1, 0] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %y = stablehlo.dot_general %e, %t, contracting_dims = [1] x [0] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %l = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.multiply %y, %y {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32>
  %ge = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %gw = stablehlo.dot_general %g, %e, contracting_dims = [0] x [0] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %gx = stablehlo.multiply %ge, %e {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2x8xf32>
  return %l, %zero, %gw, %gx : tensor<f32>, tensor<f32>, tensor<4x8xf32>, tensor<2x8xf32>
}
func.func private @update(%w: tensor<4x8xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4x8xf32> {dist.port = #dist.port<gradient @w>}, %gx: tensor<2x8xf32> {dist.port = #dist.port<gradient @x>})
    -> (tensor<4x8xf32> {dist.port = #dist.port<parameter @w>}, tensor<2x8xf32> {dist.port = #dist.port<parameter @x>}) {
  %0 = stablehlo.dot_general %g, %g, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %w, %0, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %1, %gx : tensor<4x8xf32>, tensor<2x8xf32>
}
func.func @evaluated(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4x8xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<2x4xf32> {dist.port = #dist.port<output "y">}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = bf16}
dist.entry @evaluate function(@evaluated)

//--- states.mlir
// The contractions of @u stay wide, that of its gradient too, though it is added
// to another and moved; the mark of @v narrows without one of the step.
// CHECK-LABEL: func.func private @microbatch
// CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, {{.*}} : (tensor<2x4xf16>, tensor<4x4xf16>) -> tensor<2x4xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<4x4xf32>
dist.mesh @mesh = <"data"=1>
dist.state @v : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>} attributes {dist.precision = f16}
dist.state @u : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>} attributes {dist.precision = f32}
func.func private @microbatch(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %v: tensor<4x4xf32> {dist.port = #dist.port<parameter @v>}, %u: tensor<4x4xf32> {dist.port = #dist.port<parameter @u>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @u>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @v>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s = stablehlo.multiply %u, %u : tensor<4x4xf32>
  %b = stablehlo.dot_general %a, %s, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %l = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %0 = stablehlo.dot_general %b, %a, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %gu = stablehlo.add %1, %u : tensor<4x4xf32>
  %gv = stablehlo.dot_general %x, %b, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %l, %zero, %gu, %gv : tensor<f32>, tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @update(%v: tensor<4x4xf32> {dist.port = #dist.port<parameter @v>}, %u: tensor<4x4xf32> {dist.port = #dist.port<parameter @u>}, %gu: tensor<4x4xf32> {dist.port = #dist.port<gradient @u>}, %gv: tensor<4x4xf32> {dist.port = #dist.port<gradient @v>})
    -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @v>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @u>}) {
  return %gv, %gu : tensor<4x4xf32>, tensor<4x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>)

//--- trips.mlir
// Rows of a weight enter each loop wide and are converted there; what the
// forward carries is converted in its trip, for both.
// CHECK-LABEL: func.func private @microbatch
// CHECK: %[[R:.*]] = dist.enter row %{{.*}} of <"l", trips = 3>
// CHECK: %[[C:.*]] = dist.enter carry %{{.*}} of <"l", trips = 3> number(0)
// CHECK: %[[CN:.*]] = stablehlo.convert %[[C]] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[RN:.*]] = stablehlo.convert %[[R]] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK: stablehlo.dot_general %[[CN]], %[[RN]], {{.*}} -> tensor<2x4xf32>
// CHECK: %[[B:.*]] = dist.enter row %{{.*}} of <"l", trips = 3, reversed = true>
// CHECK: %[[BN:.*]] = stablehlo.convert %[[B]] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: stablehlo.dot_general %[[CN]], %[[BN]]
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<3x4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @v : tensor<3x2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3x4x4xf32> {dist.port = #dist.port<gradient @w>}, tensor<3x2x4xf32> {dist.port = #dist.port<gradient @v>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %r = dist.enter row %w of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4x4xf32> -> tensor<4x4xf32>
  %c = dist.enter carry %x of <"l", trips = 3> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %y = stablehlo.dot_general %c, %r, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %n = dist.next %c, %y {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %z = dist.leave last %n of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %l = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %b = dist.enter row %w of <"l", trips = 3, reversed = true> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<3x4x4xf32> -> tensor<4x4xf32>
  %g = stablehlo.dot_general %c, %b, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s = dist.leave stack %g of <"l", trips = 3, reversed = true> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2x4xf32> -> tensor<3x2x4xf32>
  return %l, %zero, %w, %s : tensor<f32>, tensor<f32>, tensor<3x4x4xf32>, tensor<3x2x4xf32>
}
func.func private @update(%w: tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<3x4x4xf32> {dist.port = #dist.port<gradient @w>}, %gv: tensor<3x2x4xf32> {dist.port = #dist.port<gradient @v>})
    -> (tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>}, tensor<3x2x4xf32> {dist.port = #dist.port<parameter @v>}) {
  return %g, %gv : tensor<3x4x4xf32>, tensor<3x2x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = bf16}

//--- saved.mlir
// What the backward reads is kept narrow where a product, a norm or an
// activation reads it; a difference reads @w's product as it is, and so all of
// the backward does. Statistics of a norm are no factor.
// CHECK-LABEL: func.func private @microbatch
// CHECK: %[[H:.*]] = stablehlo.exponential
// CHECK-NEXT: %[[HN:.*]] = stablehlo.convert %[[H]] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x8xf32>) -> tensor<2x8xf16>
// CHECK-NEXT: %[[Y:.*]], %[[R:.*]] = nn.layer_norm %[[H]]
// CHECK-NEXT: %[[YN:.*]] = stablehlo.convert %[[Y]]
// CHECK-NEXT: %[[S:.*]] = stablehlo.tanh %[[Y]] {{.*}}
// CHECK-NOT: stablehlo.convert %[[S]]
// CHECK: %[[YW:.*]] = stablehlo.convert %[[YN]] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<2x8xf16>) -> tensor<2x8xf32>
// CHECK: nn.layer_norm_grad %[[YW]], %[[R]],
// CHECK: stablehlo.subtract %{{.*}}, %[[S]]
// CHECK: stablehlo.multiply %{{.*}}, %[[S]]
// CHECK: %[[HW:.*]] = stablehlo.convert %[[HN]]
// CHECK: stablehlo.multiply %{{.*}}, %[[HW]]
dist.mesh @mesh = <"data"=1>
dist.state @x : tensor<2x8xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%x: tensor<2x8xf32> {dist.port = #dist.port<parameter @x>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2x8xf32> {dist.port = #dist.port<gradient @x>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %h = stablehlo.exponential %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x8xf32>
  %y, %r = nn.layer_norm %h {dims = 1 : i64, epsilon = 1.0e-5 : f64, dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2xf32>)
  %s = stablehlo.tanh %y {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<2x8xf32>
  %l = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x8xf32>, tensor<f32>) -> tensor<f32>
  %g = nn.layer_norm_grad %y, %r, %x {dims = 1 : i64, dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<2x8xf32>, tensor<2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %d = stablehlo.subtract %g, %s {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2x8xf32>
  %e = stablehlo.multiply %d, %s {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2x8xf32>
  %gx = stablehlo.multiply %e, %h {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2x8xf32>
  return %l, %zero, %gx : tensor<f32>, tensor<f32>, tensor<2x8xf32>
}
func.func private @update(%x: tensor<2x8xf32> {dist.port = #dist.port<parameter @x>}, %g: tensor<2x8xf32> {dist.port = #dist.port<gradient @x>}) -> (tensor<2x8xf32> {dist.port = #dist.port<parameter @x>}) {
  return %g : tensor<2x8xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.saved_precision = f16}

//--- as-they-are.mlir
// Integers, what is as narrow already, and what says itself how it multiplies;
// of attention the result is as narrow as the factors, the statistics and the
// bias are not.
// CHECK-LABEL: func.func @f
// CHECK: stablehlo.dot_general %{{.*}} : (tensor<2x4xi32>, tensor<4x4xi32>) -> tensor<2x4xi32>
// CHECK: stablehlo.dot_general %arg1, %arg2, {{.*}} : (tensor<2x4xf16>, tensor<4x4xf16>) -> tensor<2x4xf16>
// CHECK: stablehlo.dot_general %arg3, %arg3, {{.*}} algorithm = {{.*}} : (tensor<6x4xf32>, tensor<6x4xf32>)
// CHECK: %[[Q:.*]] = stablehlo.convert %arg3
// CHECK-NOT: convert
// CHECK: %[[O:.*]], %[[L:.*]] = nn.attention %[[Q]], %[[Q]], %[[Q]] bias %arg5 scale 5.000000e-01 : (tensor<6x4xbf16>, tensor<6x4xbf16>, tensor<6x4xbf16>, tensor<6x6xf32>) -> (tensor<6x4xbf16>, tensor<6xf32>)
// CHECK: stablehlo.convert %[[O]] : (tensor<6x4xbf16>) -> tensor<6x4xf32>
// CHECK: nn.grouped_dot %{{.*}}, %{{.*}}, %{{.*}} : (tensor<6x4xbf16>, tensor<2x4x3xbf16>, tensor<2xi32>) -> tensor<6x3xf32>
// CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) {{.*}} : (tensor<1x5x2xbf16>, tensor<3x2x4xbf16>) -> tensor<1x3x4xf32>
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  return %zero, %zero, %w : tensor<f32>, tensor<f32>, tensor<4x4xf32>
}
func.func private @update(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) {
  return %g : tensor<4x4xf32>
}
func.func @f(%i: tensor<2x4xi32> {dist.port = #dist.port<input "i">}, %h: tensor<2x4xf16> {dist.port = #dist.port<input "h">}, %k: tensor<4x4xf16> {dist.port = #dist.port<input "k">},
             %q: tensor<6x4xf32> {dist.port = #dist.port<input "q">}, %x: tensor<1x5x2xf32> {dist.port = #dist.port<input "x">}, %b: tensor<6x6xf32> {dist.port = #dist.port<input "b">}, %c: tensor<3x2x4xf32> {dist.port = #dist.port<input "c">},
             %j: tensor<4x4xi32> {dist.port = #dist.port<input "j">}, %m: tensor<2x4x3xf32> {dist.port = #dist.port<input "m">}, %s: tensor<2xi32> {dist.port = #dist.port<input "s">})
    -> (tensor<2x4xi32> {dist.port = #dist.port<output "0">}, tensor<2x4xf16> {dist.port = #dist.port<output "1">}, tensor<6x6xf32> {dist.port = #dist.port<output "2">}, tensor<6x4xf32> {dist.port = #dist.port<output "3">}, tensor<1x3x4xf32> {dist.port = #dist.port<output "4">}, tensor<6x3xf32> {dist.port = #dist.port<output "5">}) {
  %0 = stablehlo.dot_general %i, %j, contracting_dims = [1] x [0] : (tensor<2x4xi32>, tensor<4x4xi32>) -> tensor<2x4xi32>
  %1 = stablehlo.dot_general %h, %k, contracting_dims = [1] x [0] : (tensor<2x4xf16>, tensor<4x4xf16>) -> tensor<2x4xf16>
  %2 = stablehlo.dot_general %q, %q, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
  %3, %l = nn.attention %q, %q, %q bias %b scale 5.0e-1 : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x6xf32>) -> (tensor<6x4xf32>, tensor<6xf32>)
  %5 = nn.grouped_dot %q, %m, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<6x4xf32>, tensor<2x4x3xf32>, tensor<2xi32>) -> tensor<6x3xf32>
  %4 = stablehlo.convolution(%x, %c) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x2xf32>, tensor<3x2x4xf32>) -> tensor<1x3x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x4xi32>, tensor<2x4xf16>, tensor<6x6xf32>, tensor<6x4xf32>, tensor<1x3x4xf32>, tensor<6x3xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = bf16}
dist.entry @forward function(@f)
