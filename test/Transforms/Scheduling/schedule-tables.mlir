// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-schedule | FileCheck %s

// GPipe, one stage: all forwards, then all backwards.
dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// CHECK: table(<["F0.0 F0.1 F0.2 B0.0 B0.1 B0.2 U"]>)
dist.step @train microbatch(@m) update(@u) microbatches(3) schedule(<gpipe>) chunks([0])

// -----

// A table for two stages, filled and drained.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// CHECK: table(<["F0.0 F0.1 . B0.0 . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"]>)
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0, 1])

// -----

// 1F1B has one chunk on each stage.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error@+1 {{expected one chunk on each stage for the schedule '1f1b', got 4 on 2 stages; 'interleaved' takes several}}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0, 1, 2, 3])

// -----

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error@+1 {{expected a legal schedule: cell B0.0 stands before F0.0, on which it depends}}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<file table <["B0.0 F0.0 U"]>>) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error@+1 {{expected a legal schedule: expected one update on stage 0, got 0}}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<file table <["F0.0 B0.0"]>>) chunks([0])

// -----

// Interleaved: the same chunks, in rounds of as many microbatches as there are stages.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// CHECK: table(<["F0.0 F0.1 F2.0 F2.1 . B2.0 . B2.1 B0.0 B0.1 U", ". F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 B1.0 B1.1 . U"]>)
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<interleaved with {chunks = 2}>) chunks([0, 1, 2, 3])
