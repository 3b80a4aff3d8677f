// RUN: llmc-opt %s --split-input-file --llmc-distribute-ops | FileCheck %s

// The elements of the rows are split: their means are over devices, as is the
// mean of the cotangent; the rest is local.
#rows = #dist.layout<@mesh, [{"data"}]>
#split = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK: #[[SPLIT:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
// CHECK: #[[ROWS:.*]] = #dist.layout<@mesh, [{"data"}]>
// CHECK: func.func @norm
func.func @norm(%x: tensor<8x10xf32> {dist.port = #dist.port<input "x", layout = #split>}, %g: tensor<8x10xf32> {dist.port = #dist.port<input "g", layout = #split>})
    -> (tensor<8x10xf32> {dist.port = #dist.port<output "d", layout = #split>}) {
  // CHECK-NOT: nn.
  // CHECK: stablehlo.reduce(%arg0 {{.*}} applies stablehlo.add across dimensions = [1] {dist.layouts = [#[[ROWS]]]}
  // CHECK: stablehlo.subtract %arg0, {{.*}}dist.layouts = [#[[SPLIT]]]
  // CHECK: applies stablehlo.add across dimensions = [1] {dist.layouts = [#[[ROWS]]]}
  // CHECK: stablehlo.rsqrt {{.*}}dist.layouts = [#[[ROWS]]]
  %y, %r = nn.layer_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64, dist.layouts = [#split, #rows]} : (tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<8xf32>)
  // CHECK-COUNT-2: applies stablehlo.add across dimensions = [1] {dist.layouts = [#[[ROWS]]]}
  // CHECK: stablehlo.multiply {{.*}}{dist.layouts = [#[[SPLIT]]]}
  %d = nn.layer_norm_grad %y, %r, %g {dims = 1 : i64, dist.layouts = [#split]} : (tensor<8x10xf32>, tensor<8xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
  // CHECK: return
  return %d : tensor<8x10xf32>
}
dist.entry @forward function(@norm) chunks([0])

// -----

// A softmax along the split dimension has a maximum and a sum over devices; one
// along the other stays.
#split = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#turned = #dist.layout<@mesh, [{}, {"data"}]>
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<8x10xf32> {dist.port = #dist.port<input "x", layout = #split>}, %z: tensor<8x10xf32> {dist.port = #dist.port<input "z", layout = #turned>})
    -> (tensor<8x10xf32> {dist.port = #dist.port<output "y", layout = #split>}, tensor<8x10xf32> {dist.port = #dist.port<output "w", layout = #turned>}) {
  // CHECK-NOT: nn.
  // CHECK: applies stablehlo.maximum across dimensions = [1]
  // CHECK: applies stablehlo.add across dimensions = [1]
  // CHECK: stablehlo.divide
  %y = nn.softmax %x {dim = 1 : i64, dist.layouts = [#split]} : (tensor<8x10xf32>) -> tensor<8x10xf32>
  // CHECK-NEXT: nn.log_softmax %arg1 {dim = 0 : i64,
  %w = nn.log_softmax %z {dim = 0 : i64, dist.layouts = [#turned]} : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return %y, %w : tensor<8x10xf32>, tensor<8x10xf32>
}
dist.entry @forward function(@softmax) chunks([0])

// -----

// A mean over samples is stored split by the axis of the samples. The samples
// stay where they are: what is as large as they are follows them.
#batch = #dist.layout<@mesh, [{"data"}, {}]>
#stored = #dist.layout<@mesh, [{"data"}]>
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @statistics
func.func @statistics(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #batch>}, %w: tensor<4xf32> {dist.port = #dist.port<input "w", layout = #whole>})
    -> (tensor<8x4xf32> {dist.port = #dist.port<output "y", layout = #batch>}, tensor<4xf32> {dist.port = #dist.port<output "m", layout = #stored>}, tensor<4xf32> {dist.port = #dist.port<output "v", layout = #stored>}) {
  // CHECK-NOT: nn.
  // CHECK: stablehlo.subtract %arg0, {{.*}}dist.layouts = [#[[BATCH:[a-z0-9]*]]]
  // CHECK: stablehlo.multiply {{.*}}dist.layouts = [#[[BATCH]]]
  %y, %m, %v = nn.batch_norm %x, %w, %w {dim = 1 : i64, epsilon = 1.0e-5 : f64, dist.layouts = [#batch, #stored, #stored]} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: stablehlo.add {{.*}}dist.layouts = [#[[BATCH]]]} : tensor<8x4xf32>
  // CHECK: return
  return %y, %m, %v : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@statistics) chunks([0])
