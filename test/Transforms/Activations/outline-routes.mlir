// RUN: llmc-opt %s --split-input-file --llmc-outline-programs --llmc-verify-memory | FileCheck %s

// What no segment reads arrives in the next chunk of its stage: chunk 3 for a
// value of chunk 2, not chunk 1; and what is sent on in the chunk that sends it.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK: dist.timeline @forward
// CHECK-SAME: transfers([#dist.route<@t0 : @forward.c0.F -> @forward.c1.F>, #dist.route<@t1 : @forward.c1.F -> @forward.c2.F>, #dist.route<@t2 : @forward.c2.F -> @forward.c3.F>, #dist.route<@t3 : @forward.c0.F -> @forward.c1.F>])
// CHECK-LABEL: func.func private @forward.c1.F(
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<output "d">}, tensor<4xf32> {dist.port = #dist.port<send @t1>})
// CHECK-LABEL: func.func private @forward.c3.F(
// CHECK-SAME: output "a">}, tensor<4xf32> {dist.port = #dist.port<output "b">})
func.func @passing(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "a">}, tensor<4xf32> {dist.port = #dist.port<output "b">}, tensor<4xf32> {dist.port = #dist.port<output "d">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %8 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<4xf32>
  %2 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %8 = stablehlo.negate %1 : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %3 = dist.transfer @t1 %2 along "pipe" 1 -> 0 : tensor<4xf32>
  %4 = dist.segment chunk(2) phase(forward) -> tensor<4xf32> {
    %8 = stablehlo.negate %3 : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %5 = dist.transfer @t2 %4 along "pipe" 0 -> 1 : tensor<4xf32>
  %6 = dist.segment chunk(3) phase(forward) -> tensor<4xf32> {
    %8 = stablehlo.abs %x : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %7 = dist.transfer @t3 %0 along "pipe" 0 -> 1 : tensor<4xf32>
  return %6, %5, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@passing) chunks([0, 1, 2, 3]) table(<["F0.0 . F2.0 .", ". F1.0 . F3.0"]>)

// -----

// A transfer of a transfer: the stage between receives and sends.
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
// CHECK: dist.timeline @chain
// CHECK-SAME: transfers([#dist.route<@t0 : @chain.c0.F -> @chain.c1.F>, #dist.route<@t1 : @chain.c1.F -> @chain.c2.F>])
// CHECK-LABEL: func.func private @chain.c1.F(
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<recv @t0>}
// CHECK: return %{{.*}}, %[[R]] :
func.func @links(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "a">}, tensor<4xf32> {dist.port = #dist.port<output "b">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %5 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %5 : tensor<4xf32>
  }
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<4xf32>
  %2 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %5 = stablehlo.abs %x : tensor<4xf32>
    dist.yield %5 : tensor<4xf32>
  }
  %3 = dist.transfer @t1 %1 along "pipe" 1 -> 2 : tensor<4xf32>
  %4 = dist.segment chunk(2) phase(forward) -> tensor<4xf32> {
    %5 = stablehlo.negate %3 : tensor<4xf32>
    dist.yield %5 : tensor<4xf32>
  }
  return %2, %4 : tensor<4xf32>, tensor<4xf32>
}
dist.entry @chain function(@links) chunks([0, 1, 2]) table(<["F0.0 . .", ". F1.0 .", ". . F2.0"]>)

// -----

// What a backward sends down only to be returned; an input that both halves of
// a backward read is kept once.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @v : tensor<4xf32> {role = parameter}
dist.state @w : tensor<4xf32> {role = parameter}
// CHECK: dist.timeline @train
// CHECK-SAME: transfers([#dist.route<@t0 : @train.c1.B -> @train.c0.B>])
// CHECK-LABEL: func.func private @train.c1.F(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<input "x">}
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<act "c1.a0", chunk = 1>})
// CHECK: return %{{.*}}, %{{.*}}, %[[X]]
// CHECK-LABEL: func.func private @train.c1.B(
// CHECK-SAME: %{{.*}}: tensor<4xf32> {dist.port = #dist.port<act "c1.a0", chunk = 1>}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>})
// CHECK-LABEL: func.func private @train.c0.B(
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<recv @t0>}
// CHECK-SAME: gradient @v
// CHECK: return {{.*}}%[[R]]
// CHECK-LABEL: func.func private @train.c1.W(
// CHECK-SAME: %{{.*}}: tensor<4xf32> {dist.port = #dist.port<act "c1.a0", chunk = 1>}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @w>})
func.func private @m(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @v>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %8 = stablehlo.constant dense<1.0> : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %1 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %8 = stablehlo.constant dense<1.0> : tensor<f32>
    dist.yield %8 : tensor<f32>
  }
  %2 = dist.segment chunk(1) phase(backward_input) -> tensor<4xf32> {
    %8 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %3 = dist.transfer @t0 %2 along "pipe" 1 -> 0 : tensor<4xf32>
  %4 = dist.segment chunk(0) phase(backward_input) -> tensor<4xf32> {
    %8 = stablehlo.constant dense<2.0> : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %5 = dist.segment chunk(0) phase(backward_weight) -> tensor<4xf32> {
    %8 = stablehlo.constant dense<3.0> : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  %6 = dist.segment chunk(1) phase(backward_weight) -> tensor<4xf32> {
    %8 = stablehlo.abs %x : tensor<4xf32>
    dist.yield %8 : tensor<4xf32>
  }
  return %1, %1, %3, %6 : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @u() {
  return
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<zero_bubble>) chunks([0, 1]) table(<["F0.0 . . B0.0 W0.0 U", ". F1.0 B1.0 . W1.0 U"]>)
