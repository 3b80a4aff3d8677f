// RUN: llmc-opt %s --llmc-recompute | FileCheck %s

// What is made of nothing that the forward keeps needs no fence. A mark that the
// op had not is not made up.
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: %[[I:.*]] = stablehlo.iota dim = 0 {dist.block = 0 : i64} : tensor<4xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[I]] {dist.block = 0 : i64, dist.phase = #dist.phase<backward>} : tensor<4xf32>
// CHECK-NEXT: stablehlo.multiply %[[T]], %[[T]]
// CHECK-NEXT: dist.yield
func.func private @train.microbatch() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %f:2 = dist.segment chunk(0) phase(forward) -> tensor<4xf32>, tensor<f32> {
    %i = stablehlo.iota dim = 0 {dist.block = 0 : i64} : tensor<4xf32>
    %t = stablehlo.tanh %i {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %one = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
    dist.yield %t, %one : tensor<4xf32>, tensor<f32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<4xf32> {
    %0 = stablehlo.multiply %f#0, %f#0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
    dist.yield %0 : tensor<4xf32>
  }
  return %f#1, %f#1, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
}
func.func private @train.update() {
  return
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>) recompute(<all>) chunks([0]) table(<["F0.0 B0.0 U"]>)
