// RUN: llmc-opt %s --split-input-file --llmc-distribute-ops | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-distribute-ops --remarks-filter=layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: {{.*}}2 rounds of sums over {"data"} made one: 2.00e-05 s, one round of the parts' terms 1.00e-05 s, a gather of the operand 1.19e-05 s
// REMARK: remark: {{.*}}2 rounds of sums over {"data", "places"} made one
// REMARK: remark: {{.*}}2 rounds of sums over {"tensor"} made one
// REMARK-NOT: remark: {{.*}}made one
// REMARK: remark: {{.*}}2 rounds of sums over {"tensor"} left: 1.53e-05 s, one round of the parts' terms 3.21e-05 s
// REMARK-NOT: remark: {{.*}}made one

// Two latencies against one: each device computes sum and centred squares of
// its part, and gets those of all parts.
#batch = #dist.layout<@mesh, [{"data"}, {}, {}]>
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2> machine <links = [#dist.link<"l", latency = 1.0e-5, bandwidth = 1.0e10>]>
// CHECK-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{"data"}, {}, {}, {}]>
// CHECK-DAG: #[[PARTS:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
// CHECK-DAG: #[[ALL:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}]>
// CHECK: func.func @norm
func.func @norm(%x: tensor<8x75x16xf32> {dist.port = #dist.port<input "x", layout = #batch>}, %w: tensor<16xf32> {dist.port = #dist.port<input "w", layout = #whole>})
    -> (tensor<8x75x16xf32> {dist.port = #dist.port<output "y", layout = #batch>}, tensor<16xf32> {dist.port = #dist.port<output "v", layout = #whole>}) {
  // CHECK-NOT: nn.
  // CHECK: %[[CUT:.*]] = stablehlo.reshape %arg0 {dist.block = 3 : i64, dist.layouts = [#[[BOTH]]], dist.phase = #dist.phase<forward>} : (tensor<8x75x16xf32>) -> tensor<2x4x75x16xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[CUT]] {{.*}} applies stablehlo.add across dimensions = [1, 2] {{.*}}dist.layouts = [#[[PARTS]]]
  // CHECK: %[[SQUARES:.*]] = stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [1, 2] {{.*}}dist.layouts = [#[[PARTS]]]
  // CHECK: %[[SUMS:.*]] = dist.constraint %[[SUM]] to #[[ALL]] {dist.block = 3 : i64, dist.layouts = [#[[ALL]]], dist.phase = #dist.phase<forward>} : tensor<2x16xf32>
  // CHECK: dist.constraint %[[SQUARES]] to #[[ALL]]
  // CHECK: stablehlo.slice %[[SUMS]] [0:1, 0:16]
  // CHECK-NOT: stablehlo.reduce
  // CHECK: return
  %y, %m, %v = nn.batch_norm %x, %w, %w {dim = 2 : i64, epsilon = 1.0e-5 : f64, dist.layouts = [#batch, #whole, #whole], dist.block = 3 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x75x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x75x16xf32>, tensor<16xf32>, tensor<16xf32>)
  return %y, %v : tensor<8x75x16xf32>, tensor<16xf32>
}
dist.entry @forward function(@norm) chunks([0])

// -----

// Batch and places are split, by an axis each, and features by a third: parts
// are numbered by one dim, so that one gather brings them. What is stored split
// is made whole, and cut by who stores it.
#batch = #dist.layout<@mesh, [{"data"}, {"features"}, {"places"}]>
#list = #dist.layout<@mesh, [{"features"}]>
#stored = #dist.layout<@mesh, [{"features", "data"}]>
dist.mesh @mesh = <"data"=2, "places"=2, "features"=2> machine <links = [#dist.link<"l", latency = 1.0e-5, bandwidth = 1.0e10>]>
// CHECK-DAG: #[[PARTS:.*]] = #dist.layout<@mesh, [{"data", "places"}, {"features"}]>
// CHECK-DAG: #[[ALL:.*]] = #dist.layout<@mesh, [{}, {"features"}]>
// CHECK-DAG: #[[LIST:.*]] = #dist.layout<@mesh, [{"features"}]>
// CHECK: func.func @places
func.func @places(%x: tensor<8x16x64xf32> {dist.port = #dist.port<input "x", layout = #batch>}, %w: tensor<16xf32> {dist.port = #dist.port<input "w", layout = #list>})
    -> (tensor<8x16x64xf32> {dist.port = #dist.port<output "y", layout = #batch>}, tensor<16xf32> {dist.port = #dist.port<output "v", layout = #stored>}) {
  // CHECK: stablehlo.reshape %arg0 {{.*}} -> tensor<2x4x16x2x32xf32>
  // CHECK: stablehlo.transpose {{.*}}dims = [0, 2, 1]
  // CHECK: stablehlo.reshape {{.*}}dist.layouts = [#[[PARTS]]]{{.*}} -> tensor<4x16xf32>
  // CHECK: dist.constraint {{.*}} to #[[ALL]]
  // CHECK: dist.constraint {{.*}} to #[[ALL]]
  // CHECK: stablehlo.divide {{.*}}dist.layouts = [#[[LIST]]]
  // CHECK: return
  %y, %m, %v = nn.batch_norm %x, %w, %w {dim = 1 : i64, epsilon = 1.0e-5 : f64, dist.layouts = [#batch, #list, #stored]} : (tensor<8x16x64xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16x64xf32>, tensor<16xf32>, tensor<16xf32>)
  return %y, %v : tensor<8x16x64xf32>, tensor<16xf32>
}
dist.entry @forward function(@places) chunks([0])

// -----

// A maximum and two sums of a loss; the logits of unequal parts have two rounds.
#rows = #dist.layout<@mesh, [{}]>
#split = #dist.layout<@mesh, [{}, {"tensor"}]>
#padded = #dist.layout<@mesh, [{}, {"tensor"}:102]>
dist.mesh @mesh = <"tensor"=3> machine <links = [#dist.link<"l", latency = 1.0e-5, bandwidth = 1.0e10>]>
// CHECK-LABEL: func.func @loss
func.func @loss(%x: tensor<8x99xf32> {dist.port = #dist.port<input "x", layout = #split>}, %z: tensor<8x100xf32> {dist.port = #dist.port<input "z", layout = #padded>}, %t: tensor<8xi32> {dist.port = #dist.port<input "t", layout = #rows>})
    -> (tensor<8xf32> {dist.port = #dist.port<output "l", layout = #rows>}, tensor<8xf32> {dist.port = #dist.port<output "m", layout = #rows>}) {
  // CHECK-COUNT-3: dist.constraint
  // CHECK-NOT: dist.constraint
  // CHECK: stablehlo.reduce(%arg1 {{.*}} applies stablehlo.maximum
  %l, %s = nn.softmax_cross_entropy %x, %t {dist.layouts = [#rows, #rows]} : (tensor<8x99xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  %m, %u = nn.softmax_cross_entropy %z, %t {dist.layouts = [#rows, #rows]} : (tensor<8x100xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %l, %m : tensor<8xf32>, tensor<8xf32>
}
dist.entry @forward function(@loss) chunks([0])

// -----

// A mean of squares waits for no mean; a product that could have its rows whole
// for nothing is placement's.
#batch = #dist.layout<@mesh, [{"data"}, {}]>
#columns = #dist.layout<@mesh, [{}, {"data"}]>
#all = #dist.layout<@mesh, [{}, {}]>
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2> machine <links = [#dist.link<"l", latency = 1.0e-5, bandwidth = 1.0e10>]>
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<64x8xf32> {dist.port = #dist.port<input "x", layout = #batch>}, %w: tensor<8xf32> {dist.port = #dist.port<input "w", layout = #whole>}, %r: tensor<8x64xf32> {dist.port = #dist.port<input "r", layout = #all>}, %q: tensor<64x8xf32> {dist.port = #dist.port<input "q", layout = #all>})
    -> (tensor<64x8xf32> {dist.port = #dist.port<output "y", layout = #batch>}, tensor<8x8xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  // CHECK-NOT: dist.constraint
  %y, %m, %v = nn.batch_norm %x, %w, %w {dim = 1 : i64, epsilon = 1.0e-5 : f64, squares, dist.layouts = [#batch, #whole, #whole]} : (tensor<64x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<64x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %p = stablehlo.dot_general %r, %q, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %z = nn.softmax %p {dim = 1 : i64, dist.layouts = [#columns]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y, %z : tensor<64x8xf32>, tensor<8x8xf32>
}
dist.entry @forward function(@others) chunks([0])

// -----

// Many parts of long lists: their terms are more than two latencies carry.
#split = #dist.layout<@mesh, [{}, {"tensor"}]>
dist.mesh @mesh = <"tensor"=16> machine <links = [#dist.link<"l", latency = 6.0e-6, bandwidth = 1.0e10>]>
// CHECK-LABEL: func.func @long
func.func @long(%x: tensor<2176x1600xf32> {dist.port = #dist.port<input "x", layout = #split>})
    -> (tensor<2176x1600xf32> {dist.port = #dist.port<output "y", layout = #split>}) {
  // CHECK-NOT: dist.constraint
  %y = nn.softmax %x {dim = 1 : i64, dist.layouts = [#split]} : (tensor<2176x1600xf32>) -> tensor<2176x1600xf32>
  return %y : tensor<2176x1600xf32>
}
dist.entry @forward function(@long) chunks([0])

// -----

// Without latencies a round saves nothing.
#split = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#rows = #dist.layout<@mesh, [{"data"}]>
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK-LABEL: func.func @free
func.func @free(%x: tensor<8x10xf32> {dist.port = #dist.port<input "x", layout = #split>})
    -> (tensor<8x10xf32> {dist.port = #dist.port<output "y", layout = #split>}) {
  // CHECK-NOT: dist.constraint
  %y, %r = nn.layer_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64, dist.layouts = [#split, #rows]} : (tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<8xf32>)
  return %y : tensor<8x10xf32>
}
dist.entry @forward function(@free) chunks([0])
