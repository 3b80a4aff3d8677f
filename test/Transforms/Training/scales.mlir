// RUN: split-file %s %t
// RUN: llmc-opt %t/current.mlir --llmc-narrow | FileCheck %t/current.mlir
// RUN: llmc-opt %t/delayed.mlir --llmc-narrow | FileCheck %t/delayed.mlir
// RUN: llmc-opt %t/others.mlir --llmc-narrow | FileCheck %t/others.mlir
// RUN: llmc-opt %t/stem.mlir --llmc-narrow | FileCheck %t/stem.mlir

//--- current.mlir
// Each factor has a scale of its own greatest element, a weight that of the
// whole, in front of its transpose. The margin of one power of two is that of
// the largest number, 448. Forward values are e4m3, also where the backward
// reads them, cotangents e5m2; products are divided by both scales.
// CHECK-NOT: dist.scaling
// CHECK-LABEL: func.func private @microbatch
// CHECK: %[[E:.*]] = stablehlo.exponential
// CHECK: %[[A:.*]] = stablehlo.abs %[[E]] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[R:.*]] = stablehlo.reduce(%[[A]] init: %{{.*}}) across dimensions = [0, 1]
// CHECK: %[[M:.*]] = stablehlo.maximum %[[R]], %{{.*}} : tensor<f32>
// CHECK: %[[LARGEST:.*]] = stablehlo.constant {{.*}} dense<2.240000e+02> : tensor<f32>
// CHECK: %[[D:.*]] = stablehlo.divide %[[LARGEST]], %[[M]]
// CHECK: %[[B:.*]] = stablehlo.minimum %[[D]],
// CHECK: %[[I:.*]] = stablehlo.bitcast_convert %[[B]]
// CHECK: %[[P:.*]] = stablehlo.and %[[I]],
// CHECK: %[[S:.*]] = stablehlo.bitcast_convert %[[P]] {{.*}} -> tensor<f32>
// CHECK: %[[EI:.*]] = stablehlo.divide %{{.*}}, %[[S]]
// CHECK: %[[EN:.*]] = nn.quantize %[[E]], %[[S]] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf8E4M3FN>
// CHECK: %[[WS:.*]] = stablehlo.bitcast_convert %{{.*}} -> tensor<f32>
// CHECK: %[[WI:.*]] = stablehlo.divide %{{.*}}, %[[WS]]
// CHECK: %[[WN:.*]] = nn.quantize %{{.*}}, %[[WS]] {{.*}} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[WN]], dims = [1, 0] {{.*}} -> tensor<8x4xf8E4M3FN>
// CHECK: %[[Y:.*]] = stablehlo.dot_general %[[EN]], %[[T]], {{.*}} : (tensor<2x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<2x4xf32>
// CHECK: %[[F:.*]] = stablehlo.multiply %[[EI]], %[[WI]]
// CHECK: %[[FB:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = []
// CHECK: %[[YS:.*]] = stablehlo.multiply %[[Y]], %[[FB]] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>}
// CHECK: stablehlo.reduce(%[[YS]] init:
// CHECK: %[[G:.*]] = stablehlo.multiply %[[YS]], %[[YS]]
// CHECK: stablehlo.abs %[[G]] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: stablehlo.constant {{.*}} dense<2.867200e+04> : tensor<f32>
// CHECK: %[[GN:.*]] = nn.quantize %[[G]], %{{.*}} -> tensor<2x4xf8E5M2>
// CHECK-NOT: nn.quantize
// CHECK: stablehlo.dot_general %[[GN]], %[[WN]], {{.*}} : (tensor<2x4xf8E5M2>, tensor<4x8xf8E4M3FN>) -> tensor<2x8xf32>
// CHECK: stablehlo.dot_general %[[GN]], %[[EN]], {{.*}} : (tensor<2x4xf8E5M2>, tensor<2x8xf8E4M3FN>) -> tensor<4x8xf32>
// CHECK: stablehlo.multiply
// CHECK: return
// CHECK-LABEL: func.func private @update
// CHECK-NOT: f8E4M3FN
// CHECK-LABEL: func.func @evaluated
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x8xf8E4M3FN>, tensor<4x8xf8E4M3FN>) -> tensor<2x4xf32>
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
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = f8E4M3FN, dist.scaling = array<i64: 0, 1>}
dist.entry @evaluate function(@evaluated)

//--- delayed.mlir
// What is made in the microbatch has a scale of what the last ones were: the
// state's greatest, or 1. It remembers this one, unless that is not finite. The
// weight, and what an entry makes, have current scales.
// CHECK: dist.state @train.amax.0 : tensor<4xf32> {role = carried, source = #dist.draw<zeros>}
// CHECK: dist.state @train.amax.1 : tensor<4xf32>
// CHECK-NOT: dist.state @train.amax
// CHECK: func.func private @microbatch({{.*}}, %[[K0:.*]]: tensor<4xf32> {dist.port = #dist.port<carried @train.amax.0>}, %[[K1:.*]]: tensor<4xf32> {dist.port = #dist.port<carried @train.amax.1>}) -> ({{.*}}, tensor<4xf32> {dist.port = #dist.port<carried @train.amax.0>}, tensor<4xf32> {dist.port = #dist.port<carried @train.amax.1>})
// CHECK: %[[E:.*]] = stablehlo.exponential
// CHECK: %[[IS:.*]] = stablehlo.is_finite %[[M:[0-9]+]] {
// CHECK: %[[NEW:.*]] = stablehlo.select %[[IS]], %[[M]], %{{.*}}
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[NEW]] {{.*}} -> tensor<1xf32>
// CHECK: %[[OLD:.*]] = stablehlo.slice %[[K0]] [0:3]
// CHECK: %[[NEXT0:.*]] = stablehlo.concatenate %[[ROW]], %[[OLD]], dim = 0
// CHECK: %[[MOST:.*]] = stablehlo.reduce(%[[K0]] init: %{{.*}}) across dimensions = [0]
// CHECK: %[[ANY:.*]] = stablehlo.compare GT, %[[MOST]],
// CHECK: stablehlo.divide %{{.*}}, %[[MOST]]
// CHECK: %[[S:.*]] = stablehlo.select %[[ANY]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>
// CHECK: nn.quantize %[[E]], %[[S]]
// CHECK: %[[NEXT1:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: return {{.*}}, %[[NEXT0]], %[[NEXT1]] :
// CHECK-LABEL: func.func @evaluated
// CHECK-NOT: stablehlo.select
// CHECK: return
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
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = f8E4M3FN, dist.scaling = array<i64: 4, 0>}
dist.entry @evaluate function(@evaluated)

//--- others.mlir
// What is as narrow already stays; groups of rows are scaled like other
// products, and so are convolutions; the narrow result of one is made in f32;
// attention multiplies bf16.
// CHECK-LABEL: func.func @f
// CHECK: stablehlo.dot_general %{{.*}} : (tensor<2x4xi32>, tensor<4x4xi32>) -> tensor<2x4xi32>
// CHECK: %[[Y:.*]] = stablehlo.dot_general %{{.*}} : (tensor<2x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<2x4xf32>
// CHECK: %[[YS:.*]] = stablehlo.multiply %[[Y]], %{{.*}} : tensor<2x4xf32>
// CHECK: stablehlo.convert %[[YS]] : (tensor<2x4xf32>) -> tensor<2x4xf16>
// CHECK: nn.attention %{{.*}} : (tensor<6x4xbf16>, tensor<6x4xbf16>, tensor<6x4xbf16>, tensor<6x6xf32>)
// CHECK: nn.grouped_dot %{{.*}} : (tensor<6x4xf8E4M3FN>, tensor<2x4x3xf8E4M3FN>, tensor<2xi32>) -> tensor<6x3xf32>
// CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) {{.*}} : (tensor<1x5x2xf8E4M3FN>, tensor<3x2x4xf8E4M3FN>) -> tensor<1x3x4xf32>
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
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = f8E4M3FN}
dist.entry @forward function(@f)

//--- stem.mlir
// A convolution is of the type that a table says of its kernel, and of eight
// bits where none does.
// CHECK-LABEL: func.func @f
// CHECK: %[[Y:.*]] = stablehlo.convolution({{.*}} : (tensor<1x5x2xbf16>, tensor<3x2x4xbf16>) -> tensor<1x3x4xf32>
// CHECK: %[[YN:.*]] = nn.quantize %[[Y]],
// CHECK: stablehlo.convolution(%[[YN]], {{.*}} : (tensor<1x3x4xf8E4M3FN>, tensor<3x4x4xf8E4M3FN>) -> tensor<1x1x4xf32>
dist.mesh @mesh = <"data"=1>
dist.state @stem : tensor<3x2x4xf32> {role = parameter, source = #dist.draw<ones>} attributes {dist.precision = bf16}
dist.state @next : tensor<3x4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%w: tensor<3x2x4xf32> {dist.port = #dist.port<parameter @stem>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3x2x4xf32> {dist.port = #dist.port<gradient @stem>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  return %zero, %zero, %w : tensor<f32>, tensor<f32>, tensor<3x2x4xf32>
}
func.func private @update(%w: tensor<3x2x4xf32> {dist.port = #dist.port<parameter @stem>}, %g: tensor<3x2x4xf32> {dist.port = #dist.port<gradient @stem>}) -> (tensor<3x2x4xf32> {dist.port = #dist.port<parameter @stem>}) {
  return %g : tensor<3x2x4xf32>
}
func.func @f(%x: tensor<1x5x2xf32> {dist.port = #dist.port<input "x">}, %c: tensor<3x2x4xf32> {dist.port = #dist.port<parameter @stem>}, %d: tensor<3x4x4xf32> {dist.port = #dist.port<parameter @next>}) -> (tensor<1x1x4xf32> {dist.port = #dist.port<output "0">}) {
  %0 = stablehlo.convolution(%x, %c) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x2xf32>, tensor<3x2x4xf32>) -> tensor<1x3x4xf32>
  %1 = stablehlo.convolution(%0, %d) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x4xf32>, tensor<3x4x4xf32>) -> tensor<1x1x4xf32>
  return %1 : tensor<1x1x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = f8E4M3FN}
dist.entry @forward function(@f)
