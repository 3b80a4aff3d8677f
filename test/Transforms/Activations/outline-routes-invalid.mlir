// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-outline-programs

// A value that goes down in the forward, with no backward to take it along.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{cannot be routed: expected values to go upward in the forward and downward in the backward, got one of chunk 1 for chunk 0}}
  %1 = dist.transfer @t0 %0 along "pipe" 1 -> 0 : tensor<4xf32>
  %3 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %4 = stablehlo.tanh %1 : tensor<4xf32>
    dist.yield %4 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1]) table(<["F0.0 .", ". F1.0"]>)

// -----

// A transfer comes from a stage that runs something.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{cannot be routed: expected a segment at stage 0}}
  %0 = dist.transfer @t0 %x along "pipe" 0 -> 1 : tensor<4xf32>
  %1 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1]) table(<[". .", ". F1.0"]>)

// -----

// What a transfer takes to a stage is read there.
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{cannot be routed: expected a use at stage 1, got one at 2}}
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 : tensor<4xf32>
  %3 = dist.segment chunk(2) phase(forward) -> tensor<4xf32> {
    %4 = stablehlo.tanh %1 : tensor<4xf32>
    dist.yield %4 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1, 2]) table(<["F0.0 . .", ". . .", ". . F2.0"]>)

// -----

// A transfer takes the value from where it is made.
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{cannot be routed: expected a value of stage 1, got one of stage 0}}
  %1 = dist.transfer @t0 %0 along "pipe" 1 -> 2 : tensor<4xf32>
  %3 = dist.segment chunk(2) phase(forward) -> tensor<4xf32> {
    %4 = stablehlo.tanh %1 : tensor<4xf32>
    dist.yield %4 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1, 2]) table(<["F0.0 . .", ". . .", ". . F2.0"]>)

// -----

// What goes down in the backward comes from its first half.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<f32> {role = parameter}
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  %2 = dist.segment chunk(1) phase(backward_weight) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  // expected-error@+1 {{cannot be routed: expected values to go upward in the forward and downward in the backward, got one of chunk 1 for chunk 0}}
  %t = dist.transfer @t0 %2 along "pipe" 1 -> 0 : tensor<f32>
  %3 = dist.segment chunk(0) phase(backward_input) -> tensor<f32> {
    %1 = stablehlo.tanh %t : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0, %3 : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u() {
  return
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<zero_bubble>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)

// -----

// Nothing goes up in the backward.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<f32> {role = parameter}
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  %2 = dist.segment chunk(0) phase(backward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  // expected-error@+1 {{cannot be routed: expected values to go upward in the forward and downward in the backward, got one of chunk 0 for chunk 1}}
  %t = dist.transfer @t0 %2 along "pipe" 0 -> 1 : tensor<f32>
  %3 = dist.segment chunk(1) phase(backward) -> tensor<f32> {
    %1 = stablehlo.tanh %t : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0, %3 : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u() {
  return
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)

// -----

// What goes down arrives in a backward.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<f32> {role = parameter}
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<gradient @w>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  %2 = dist.segment chunk(1) phase(backward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  // expected-error@+1 {{cannot be routed: expected values to go upward in the forward and downward in the backward, got one of chunk 1 for chunk 0}}
  %t = dist.transfer @t0 %2 along "pipe" 1 -> 0 : tensor<f32>
  %3 = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %t : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0, %3 : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @u() {
  return
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)

// -----

// An argument that is sent down in the forward is of the chunk of its stage.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{cannot be routed: expected values to go upward in the forward and downward in the backward, got one of chunk 1 for chunk 0}}
  %1 = dist.transfer @t0 %x along "pipe" 1 -> 0 : tensor<4xf32>
  %3 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %4 = stablehlo.tanh %1 : tensor<4xf32>
    dist.yield %4 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1]) table(<["F0.0 .", ". F1.0"]>)
