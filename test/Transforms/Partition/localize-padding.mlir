// RUN: llmc-opt %s --split-input-file --llmc-localize --canonicalize --cse | FileCheck %s

// 8 rows over 3 devices. Inputs hold anything in their padding: both sides of a
// contraction are masked, and the operand of a maximum with its own neutral
// element.
#d = #dist.layout<@mesh, [{"d"}:9, {}]>
#p = #dist.layout<@mesh, [{}, {}], partial = [sum{"d"}]>
#m = #dist.layout<@mesh, [{}], partial = [max{"d"}]>
#s = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=3>
// CHECK-LABEL: func.func @masks
func.func @masks(%x: tensor<8x4xf32, #d> {dist.port = #dist.port<input "x">}, %y: tensor<8x2xf32, #d> {dist.port = #dist.port<input "y">}) -> (tensor<4x2xf32, #p> {dist.port = #dist.port<output "z">}, tensor<4xf32, #m> {dist.port = #dist.port<output "m">}) {
  // CHECK-DAG: %[[EIGHT:.*]] = stablehlo.constant dense<8> : tensor<3xi32>
  // CHECK-DAG: %[[LOWEST:.*]] = stablehlo.constant dense<0xFF800000> : tensor<3x4xf32>
  // CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<3x4xf32>
  // CHECK: %[[IS:.*]] = stablehlo.compare LT, %{{.*}}, %[[EIGHT]]
  // CHECK: %[[ISX:.*]] = stablehlo.broadcast_in_dim %[[IS]], dims = [0] : (tensor<3xi1>) -> tensor<3x4xi1>
  // CHECK: %[[X:.*]] = stablehlo.select %[[ISX]], %arg0, %[[ZERO]]
  // CHECK: %[[ISY:.*]] = stablehlo.broadcast_in_dim %[[IS]], dims = [0] : (tensor<3xi1>) -> tensor<3x2xi1>
  // CHECK: %[[Y:.*]] = stablehlo.select %[[ISY]], %arg1
  // CHECK: stablehlo.dot_general %[[X]], %[[Y]], contracting_dims = [0] x [0]
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x4xf32, #d>, tensor<8x2xf32, #d>) -> tensor<4x2xf32, #p>
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32, #s>
  // CHECK: %[[M:.*]] = stablehlo.select %[[ISX]], %arg0, %[[LOWEST]]
  // CHECK: stablehlo.reduce(%[[M]]
  %1 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xf32, #d>, tensor<f32, #s>) -> tensor<4xf32, #m>
  return %0, %1 : tensor<4x2xf32, #p>, tensor<4xf32, #m>
}
dist.entry @e function(@masks) chunks([0])

// -----

// Heads 6 over 4 devices: 2 for each, the last has padding alone. The padding
// of weights is zero, and so is that of what is made of them, through the exp
// and the sum of a softmax: no mask.
#x = #dist.layout<@mesh, [{}, {}]>
#w = #dist.layout<@mesh, [{}, {"t"}:16]>
#o = #dist.layout<@mesh, [{"t"}:16, {}]>
#h = #dist.layout<@mesh, [{}, {"t"}:8, {}]>
#a = #dist.layout<@mesh, [{"t"}:8, {}, {}]>
#r = #dist.layout<@mesh, [{"t"}:8, {}]>
#y = #dist.layout<@mesh, [{}, {}], partial = [sum{"t"}]>
#s = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=4>
dist.state @w : tensor<8x12xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @o : tensor<12x8xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
// CHECK-LABEL: func.func @heads
// CHECK-NOT: stablehlo.select
// CHECK: return
func.func @heads(%x: tensor<5x8xf32, #x> {dist.port = #dist.port<input "x">}, %w: tensor<8x12xf32, #w> {dist.port = #dist.port<parameter @w>}, %o: tensor<12x8xf32, #o> {dist.port = #dist.port<parameter @o>}) -> (tensor<5x8xf32, #y> {dist.port = #dist.port<output "y">}) {
  %q = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<5x8xf32, #x>, tensor<8x12xf32, #w>) -> tensor<5x12xf32, #w>
  %qh = stablehlo.reshape %q : (tensor<5x12xf32, #w>) -> tensor<5x6x2xf32, #h>
  %z = stablehlo.constant dense<0.0> : tensor<f32, #s>
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32, #s>
  %a = stablehlo.dot_general %qh, %qh, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<5x6x2xf32, #h>, tensor<5x6x2xf32, #h>) -> tensor<6x5x5xf32, #a>
  %m = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [2] : (tensor<6x5x5xf32, #a>, tensor<f32, #s>) -> tensor<6x5xf32, #r>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<6x5xf32, #r>) -> tensor<6x5x5xf32, #a>
  %d = stablehlo.subtract %a, %mb : tensor<6x5x5xf32, #a>
  %e = stablehlo.exponential %d : tensor<6x5x5xf32, #a>
  %n = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<6x5x5xf32, #a>, tensor<f32, #s>) -> tensor<6x5xf32, #r>
  %nb = stablehlo.broadcast_in_dim %n, dims = [0, 1] : (tensor<6x5xf32, #r>) -> tensor<6x5x5xf32, #a>
  %p = stablehlo.divide %e, %nb : tensor<6x5x5xf32, #a>
  %v = stablehlo.dot_general %p, %qh, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<6x5x5xf32, #a>, tensor<5x6x2xf32, #h>) -> tensor<6x5x2xf32, #a>
  %t = stablehlo.transpose %v, dims = [1, 0, 2] : (tensor<6x5x2xf32, #a>) -> tensor<5x6x2xf32, #h>
  %c = stablehlo.reshape %t : (tensor<5x6x2xf32, #h>) -> tensor<5x12xf32, #w>
  %y = stablehlo.dot_general %c, %o, contracting_dims = [1] x [0] : (tensor<5x12xf32, #w>, tensor<12x8xf32, #o>) -> tensor<5x8xf32, #y>
  return %y : tensor<5x8xf32, #y>
}
dist.entry @e function(@heads) chunks([0])

// -----

// States keep zeros in their padding: sgd does, what adds one needs a mask.
// Ops of an update say at which stages they run.
#w = #dist.layout<@mesh, [{"t"}:12], at = {"pipe" = [1]}>
#g = #dist.layout<@mesh, [{"t"}:12], at = {"pipe" = [1]}>
#s = #dist.layout<@mesh, [], at = {"pipe" = [1]}>
#e = #dist.layout<@mesh, []>
dist.mesh @mesh = <"pipe"=2, "t"=4> pipeline "pipe"
dist.state @w : tensor<10xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @v : tensor<10xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func @micro
func.func @micro(%w: tensor<10xf32, #w> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32, #e> {dist.port = #dist.port<loss_sum>}, tensor<f32, #e> {dist.port = #dist.port<count>}, tensor<10xf32, #g> {dist.port = #dist.port<gradient @w>}) {
  %c = stablehlo.constant dense<1.0> : tensor<f32, #e>
  return %c, %c, %w : tensor<f32, #e>, tensor<f32, #e>, tensor<10xf32, #g>
}
// What is fetched by its slot's name, a gradient or sum, says how it lies.
// CHECK-LABEL: func.func @update
// CHECK-SAME: {dist.port = #dist.port<count, layout = {{.*}}>
func.func @update(%w: tensor<10xf32, #w> {dist.port = #dist.port<parameter @w>}, %v: tensor<10xf32, #w> {dist.port = #dist.port<optimizer @v>}, %g: tensor<10xf32, #g> {dist.port = #dist.port<gradient @w>}, %n: tensor<f32, #e> {dist.port = #dist.port<count>}) -> (tensor<10xf32, #w> {dist.port = #dist.port<parameter @w>}, tensor<10xf32, #w> {dist.port = #dist.port<optimizer @v>}) {
  %lr = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32, #e>) -> tensor<10xf32, #w>
  // CHECK: %[[D:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} {dist.at = array<i64: 1>} : tensor<3xf32>
  %0 = stablehlo.multiply %g, %lr : tensor<10xf32, #w>
  // CHECK: %[[W:.*]] = stablehlo.subtract %{{.*}}, %[[D]] {dist.at = array<i64: 1>}
  %1 = stablehlo.subtract %w, %0 : tensor<10xf32, #w>
  // CHECK: %[[E:.*]] = stablehlo.exponential
  %2 = stablehlo.exponential %v : tensor<10xf32, #w>
  // CHECK: dist.coordinate ["t"] {dist.at = array<i64: 1>}
  // CHECK: %[[V:.*]] = stablehlo.select %{{.*}}, %[[E]], %{{.*}} {dist.at = array<i64: 1>}
  // CHECK: return %[[W]], %[[V]]
  return %1, %2 : tensor<10xf32, #w>, tensor<10xf32, #w>
}
dist.step @train microbatch(@micro) update(@update) microbatches(2) schedule(<1f1b>)

// -----

// Rows hold zero in the padding of %u alone and columns in that of %v alone:
// their product is zero outside of either, but nothing is known outside of
// both, so a sum over both masks both. Where one of them is known the other
// one needs its mask alone.
#u = #dist.layout<@mesh, [{"d"}:9]>
#v = #dist.layout<@mesh, [{"t"}:6]>
#uv = #dist.layout<@mesh, [{"d"}:9, {"t"}:6]>
#p = #dist.layout<@mesh, [], partial = [sum{"d", "t"}]>
#s = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=3, "t"=2>
dist.state @u : tensor<8xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @v : tensor<5xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
// CHECK-LABEL: func.func @corner
// CHECK: %[[P:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<3x3xf32>
// CHECK: stablehlo.and
// CHECK: %[[M:.*]] = stablehlo.select %{{.*}}, %[[P]], %{{.*}} : tensor<3x3xi1>, tensor<3x3xf32>
// CHECK: stablehlo.reduce(%[[M]] init
func.func @corner(%u: tensor<8xf32, #u> {dist.port = #dist.port<parameter @u>}, %v: tensor<5xf32, #v> {dist.port = #dist.port<parameter @v>}) -> (tensor<f32, #p> {dist.port = #dist.port<output "s">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #s>
  %ub = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<8xf32, #u>) -> tensor<8x5xf32, #uv>
  %vb = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<5xf32, #v>) -> tensor<8x5xf32, #uv>
  %0 = stablehlo.multiply %ub, %vb : tensor<8x5xf32, #uv>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x5xf32, #uv>, tensor<f32, #s>) -> tensor<f32, #p>
  return %1 : tensor<f32, #p>
}
// CHECK-LABEL: func.func @side
// CHECK: stablehlo.compare LT
// CHECK-NOT: stablehlo.compare
// CHECK-NOT: stablehlo.and
// CHECK: stablehlo.select
// CHECK: return
func.func @side(%u: tensor<8xf32, #u> {dist.port = #dist.port<parameter @u>}) -> (tensor<f32, #p> {dist.port = #dist.port<output "s">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #s>
  %0 = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<8xf32, #u>) -> tensor<8x5xf32, #uv>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x5xf32, #uv>, tensor<f32, #s>) -> tensor<f32, #p>
  return %1 : tensor<f32, #p>
}
// A parameter holds zero outside of both.
// CHECK-LABEL: func.func @known
// CHECK-NOT: stablehlo.select
// CHECK: return
func.func @known(%w: tensor<8x5xf32, #uv> {dist.port = #dist.port<parameter @uv>}) -> (tensor<f32, #p> {dist.port = #dist.port<output "s">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #s>
  %1 = stablehlo.reduce(%w init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x5xf32, #uv>, tensor<f32, #s>) -> tensor<f32, #p>
  return %1 : tensor<f32, #p>
}
dist.state @uv : tensor<8x5xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.entry @e3 function(@known) chunks([0])
dist.entry @e function(@corner) chunks([0])
dist.entry @e2 function(@side) chunks([0])
