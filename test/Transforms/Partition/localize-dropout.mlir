// RUN: llmc-opt %s --split-input-file --llmc-localize --canonicalize --cse | FileCheck %s

// Each device's part begins at another counter: 64 weights of a batch, three batches.
#q = #dist.layout<@mesh, [{"t"}, {}, {}]>
#l = #dist.layout<@mesh, [{"t"}, {}]>
#r = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @batches(
// CHECK-SAME: %[[STATE:[a-z0-9]*]]: tensor<2xui64> {
// CHECK-DAG: %[[COORDINATE:.*]] = dist.coordinate ["t"]
// CHECK-DAG: stablehlo.constant dense<64> : tensor<ui64>
// CHECK: %[[MOVED:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<1xui64>, tensor<1xui64>) -> tensor<2xui64>
// CHECK: %[[OWN:.*]] = stablehlo.add %[[STATE]], %[[MOVED]] : tensor<2xui64>
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %[[OWN]] strides [64, 8, 1] <jax32 below 7 factor 2.000000e+00>
func.func @batches(%q: tensor<6x8x4xf32, #q> {dist.port = #dist.port<input "q">}, %s: tensor<2xui64, #r> {dist.port = #dist.port<input "s">}) -> (tensor<6x8x4xf32, #q> {dist.port = #dist.port<output "y">}) {
  %y, %l = nn.attention %q, %q, %q dropout %s strides [64, 8, 1] <jax32 below 7 factor 2.0> scale 1.0 : (tensor<6x8x4xf32, #q>, tensor<6x8x4xf32, #q>, tensor<6x8x4xf32, #q>, tensor<2xui64, #r>) -> (tensor<6x8x4xf32, #q>, tensor<6x8xf32, #l>)
  return %y : tensor<6x8x4xf32, #q>
}
dist.entry @e function(@batches) chunks([0])

// -----

// Batches that share their draws are the same on all devices.
#q = #dist.layout<@mesh, [{"t"}, {}, {}]>
#l = #dist.layout<@mesh, [{"t"}, {}]>
#r = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @alike(
// CHECK-SAME: %[[STATE:[a-z0-9]*]]: tensor<2xui64> {
// CHECK-NEXT: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %[[STATE]] strides [0, 8, 1]
func.func @alike(%q: tensor<6x8x4xf32, #q> {dist.port = #dist.port<input "q">}, %s: tensor<2xui64, #r> {dist.port = #dist.port<input "s">}) -> (tensor<6x8x4xf32, #q> {dist.port = #dist.port<output "y">}) {
  %y, %l = nn.attention %q, %q, %q dropout %s strides [0, 8, 1] <jax32 below 7 factor 2.0> scale 1.0 : (tensor<6x8x4xf32, #q>, tensor<6x8x4xf32, #q>, tensor<6x8x4xf32, #q>, tensor<2xui64, #r>) -> (tensor<6x8x4xf32, #q>, tensor<6x8xf32, #l>)
  return %y : tensor<6x8x4xf32, #q>
}
dist.entry @e function(@alike) chunks([0])

// -----

// Two samples of three heads each, with a fourth as padding: counters skip it, which no first counter says, so the op is
// written out.
#q = #dist.layout<@mesh, [{"t"}:[2, 3:4], {}, {}]>
#l = #dist.layout<@mesh, [{"t"}:[2, 3:4], {}]>
#r = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @scattered(
// CHECK-NOT: nn.attention
// CHECK: stablehlo.remainder %{{.*}} : tensor<4xi32>
// CHECK: stablehlo.xor %{{.*}} : tensor<4x8x8xui32>
// CHECK-NOT: nn.attention
// CHECK: return
func.func @scattered(%q: tensor<6x8x4xf32, #q> {dist.port = #dist.port<input "q">}, %s: tensor<2xui64, #r> {dist.port = #dist.port<input "s">}) -> (tensor<6x8x4xf32, #q> {dist.port = #dist.port<output "y">}) {
  %y, %l = nn.attention %q, %q, %q dropout %s strides [64, 8, 1] <jax32 below 7 factor 2.0> scale 1.0 : (tensor<6x8x4xf32, #q>, tensor<6x8x4xf32, #q>, tensor<6x8x4xf32, #q>, tensor<2xui64, #r>) -> (tensor<6x8x4xf32, #q>, tensor<6x8xf32, #l>)
  return %y : tensor<6x8x4xf32, #q>
}
dist.entry @e function(@scattered) chunks([0])
