// RUN: llmc-opt %s --split-input-file --llmc-place-reductions | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-place-reductions --remarks-filter=layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-NOT: stays split
// REMARK: remark: {{.*}}stays split over "t": whole it would multiply for 5.24e+05 s more, and save sums of 2.56e+02 s
// REMARK: remark: {{.*}}stays split over "t": whole it would multiply for 1.72e+00 s more, and save sums of 2.66e-05 s
// REMARK-NOT: stays split

// Scores that could be whole are split as what reads them is, and a maximum of
// each row is wanted: the product runs whole, and nothing is sent.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK-DAG: #[[LIST:.*]] = #dist.layout<@mesh, [{}]>
// CHECK: func.func @router
func.func @router(%x: tensor<64x16xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<16x2xf32> {dist.port = #dist.port<input "w", layout = #whole>}) -> (tensor<64xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<64x2xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[WHOLE]]]
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x16xf32>, tensor<16x2xf32>) -> tensor<64x2xf32>
  %low = stablehlo.constant {dist.layouts = [#scalar]} dense<0xFF800000> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[LIST]]]
  // CHECK-NOT: partial
  %y = stablehlo.reduce(%v init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x2xf32>, tensor<f32>) -> tensor<64xf32>
  return %y, %v : tensor<64xf32>, tensor<64x2xf32>
}
dist.entry @forward function(@router) chunks([0])

// -----

// Nobody adds up along the part: each device multiplies its part alone.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"t"}]>
// CHECK: func.func @in_parts
func.func @in_parts(%x: tensor<64x16xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<16x2xf32> {dist.port = #dist.port<input "w", layout = #whole>}) -> (tensor<64x2xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[COLUMNS]]]
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x16xf32>, tensor<16x2xf32>) -> tensor<64x2xf32>
  %z = stablehlo.tanh %v {dist.layouts = [#columns]} : tensor<64x2xf32>
  return %z : tensor<64x2xf32>
}
dist.entry @forward function(@in_parts) chunks([0])

// -----

// A machine that multiplies for longer than it would receive: 2 x 4096 flops
// for each element of four bytes at a flop a second, a byte a second.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2> machine <links = [#dist.link<"l", latency = 0.0, bandwidth = 1.0>], flops = 1.0>
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"t"}]>
// CHECK: func.func @slow
func.func @slow(%x: tensor<64x4096xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<4096x2xf32> {dist.port = #dist.port<input "w", layout = #whole>}) -> (tensor<64xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<64x2xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[COLUMNS]]]
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x4096xf32>, tensor<4096x2xf32>) -> tensor<64x2xf32>
  %low = stablehlo.constant {dist.layouts = [#scalar]} dense<0xFF800000> : tensor<f32>
  %y = stablehlo.reduce(%v init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x2xf32>, tensor<f32>) -> tensor<64xf32>
  return %y, %v : tensor<64xf32>, tensor<64x2xf32>
}
dist.entry @forward function(@slow) chunks([0])

// -----

// The same where products of f32 have a rate of their own, and are short.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2> machine <links = [#dist.link<"l", latency = 0.0, bandwidth = 1.0>], flops = 1.0, rates = {bf16 = 1.0, f32 = 1.0e6}>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK: func.func @quick
func.func @quick(%x: tensor<64x4096xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<4096x2xf32> {dist.port = #dist.port<input "w", layout = #whole>}) -> (tensor<64xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<64x2xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[WHOLE]]]
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x4096xf32>, tensor<4096x2xf32>) -> tensor<64x2xf32>
  %low = stablehlo.constant {dist.layouts = [#scalar]} dense<0xFF800000> : tensor<f32>
  %y = stablehlo.reduce(%v init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x2xf32>, tensor<f32>) -> tensor<64xf32>
  return %y, %v : tensor<64xf32>, tensor<64x2xf32>
}
dist.entry @forward function(@quick) chunks([0])

// -----

// Of a machine of which nothing is said, a device is a core: the scores of a
// vocabulary stay in parts, whose maximum and sum of each row are added up.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<@mesh, [{}, {"t"}]>
// CHECK: func.func @vocabulary
func.func @vocabulary(%x: tensor<8192x2048xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<2048x10240xf32> {dist.port = #dist.port<input "w", layout = #whole>}) -> (tensor<8192xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<8192xf32> {dist.port = #dist.port<output "z", layout = #list>}) {
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[COLUMNS]]]
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<8192x2048xf32>, tensor<2048x10240xf32>) -> tensor<8192x10240xf32>
  %low = stablehlo.constant {dist.layouts = [#scalar]} dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%v init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#list]} : (tensor<8192x10240xf32>, tensor<f32>) -> tensor<8192xf32>
  %e = stablehlo.exponential %v {dist.layouts = [#columns]} : tensor<8192x10240xf32>
  %z = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#list]} : (tensor<8192x10240xf32>, tensor<f32>) -> tensor<8192xf32>
  return %y, %z : tensor<8192xf32>, tensor<8192xf32>
}
dist.entry @forward function(@vocabulary) chunks([0])

// -----

// Few scores: a collective takes longer than all of them.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK: func.func @few
func.func @few(%x: tensor<64x512xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<512x8xf32> {dist.port = #dist.port<input "w", layout = #whole>}) -> (tensor<64xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<64xf32> {dist.port = #dist.port<output "z", layout = #list>}) {
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[WHOLE]]]
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x512xf32>, tensor<512x8xf32>) -> tensor<64x8xf32>
  %low = stablehlo.constant {dist.layouts = [#scalar]} dense<0xFF800000> : tensor<f32>
  %y = stablehlo.reduce(%v init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
  %e = stablehlo.negate %v {dist.layouts = [#columns]} : tensor<64x8xf32>
  %z = stablehlo.reduce(%e init: %low) applies stablehlo.maximum across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
  return %y, %z : tensor<64xf32>, tensor<64xf32>
}
dist.entry @forward function(@few) chunks([0])
