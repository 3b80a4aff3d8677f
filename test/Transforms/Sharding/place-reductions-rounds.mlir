// RUN: llmc-opt %s --split-input-file --llmc-place-reductions | FileCheck %s

// Two sums of one value, of which none waits for the other, travel together: a
// latency less than each by itself, so that the value is not gathered for both.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2> machine <links = [#dist.link<"l", latency = 1.0e-5, bandwidth = 1.0e10>]>
// CHECK-DAG: #[[SUM:.*]] = #dist.layout<@mesh, [{}], partial = [sum{"t"}]>
// CHECK: func.func @together
func.func @together(%x: tensor<64x16xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<16x32xf32> {dist.port = #dist.port<input "w", layout = #columns>}) -> (tensor<64xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<64x32xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  // CHECK-NOT: dist.constraint
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce({{.*}}dist.layouts = [#[[SUM]]]
  %one = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  %e = stablehlo.exponential %v {dist.layouts = [#columns]} : tensor<64x32xf32>
  // CHECK: stablehlo.reduce({{.*}}dist.layouts = [#[[SUM]]]
  %two = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  %l = stablehlo.log %two {dist.layouts = [#list]} : tensor<64xf32>
  %t = stablehlo.tanh %one {dist.layouts = [#list]} : tensor<64xf32>
  %y = stablehlo.multiply %l, %t {dist.layouts = [#list]} : tensor<64xf32>
  return %y, %v : tensor<64xf32>, tensor<64x32xf32>
}
dist.entry @forward function(@together) chunks([0])

// -----

// The second waits for the first: two latencies are more than a gather.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2> machine <links = [#dist.link<"l", latency = 1.0e-5, bandwidth = 1.0e10>]>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK: func.func @in_turn
func.func @in_turn(%x: tensor<64x16xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<16x32xf32> {dist.port = #dist.port<input "w", layout = #columns>}) -> (tensor<64xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<64x32xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  // CHECK-COUNT-2: dist.constraint {{.*}} to #[[WHOLE]]
  // CHECK-NOT: partial
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %one = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  %t = stablehlo.tanh %one {dist.layouts = [#list]} : tensor<64xf32>
  %s = stablehlo.broadcast_in_dim %t, dims = [0] {dist.layouts = [#columns]} : (tensor<64xf32>) -> tensor<64x32xf32>
  %c = stablehlo.multiply %v, %s {dist.layouts = [#columns]} : tensor<64x32xf32>
  %two = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  %y = stablehlo.log %two {dist.layouts = [#list]} : tensor<64xf32>
  return %y, %v : tensor<64xf32>, tensor<64x32xf32>
}
dist.entry @forward function(@in_turn) chunks([0])
