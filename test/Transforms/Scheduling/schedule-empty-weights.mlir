// RUN: llmc-opt %s --llmc-schedule --llmc-verify-scheduled | FileCheck %s

// A table with weight cells runs one for every chunk: what has no weight part
// gets an empty one, in front of that of the chunk below.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK-LABEL: func.func private @microbatch
// CHECK: dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(1) phase(forward)
// CHECK: dist.segment chunk(1) phase(backward_input)
// CHECK: dist.transfer @t1
// CHECK: dist.segment chunk(0) phase(backward_input)
// CHECK: dist.segment chunk(1) phase(backward_weight) {
// CHECK-NEXT: dist.yield
// CHECK-NEXT: }
// CHECK-NEXT: dist.segment chunk(0) phase(backward_weight) {
// CHECK-NEXT: dist.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NOT: dist.segment
func.func private @microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %6 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %6 : tensor<4xf32>
  }
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<4xf32>
  %2 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %6 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %6 : tensor<f32>
  }
  %3 = dist.segment chunk(1) phase(backward_input) -> tensor<4xf32> {
    %6 = stablehlo.negate %1 : tensor<4xf32>
    dist.yield %6 : tensor<4xf32>
  }
  %4 = dist.transfer @t1 %3 along "pipe" 1 -> 0 : tensor<4xf32>
  %5 = dist.segment chunk(0) phase(backward_input) -> tensor<4xf32> {
    %6 = stablehlo.negate %4 : tensor<4xf32>
    dist.yield %6 : tensor<4xf32>
  }
  return %2, %2, %5 : tensor<f32>, tensor<f32>, tensor<4xf32>
}
func.func private @update() {
  return
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<file table <["F0.0 . . B0.0 W0.0 U", ". F1.0 B1.0 W1.0 . U"]>>) chunks([0, 1])
