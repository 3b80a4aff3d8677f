// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-outline-programs

// An argument must say what it is.
dist.mesh @mesh = <"data"=1>
// expected-error@+1 {{expected argument 0 to be an input, a state, a hyper value or a sum, got 'step', which is not supported yet}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<step>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// A state has a buffer.
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter}
// expected-error@+1 {{expected a buffer of state @w, got none}}
func.func @f(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %w : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// What goes from stage to stage needs a transfer.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  // expected-error@+1 {{on stage 1 captures a value of stage 0; expected a transfer between them}}
  %1 = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
    %3 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %3 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1]) table(<["F0.0 .", ". F1.0"]>)

// -----

// Every op stands in a segment.
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  // expected-error@+1 {{captures a value that no segment made}}
  %1 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// A sum has one term of each stage.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0:2 = dist.segment chunk(1) phase(forward) -> tensor<f32>, tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    %2 = stablehlo.negate %x : tensor<f32>
    dist.yield %1, %2 : tensor<f32>, tensor<f32>
  }
  // expected-error@+1 {{expected operands of disjoint stages, got two of stage 1}}
  %j = dist.join %0#0, %0#1 over "pipe" : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %j, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)

// -----

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

// An update reads a value of another stage as it is.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m(%x: tensor<f32> {dist.port = #dist.port<input "x">}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = dist.segment chunk(1) phase(forward) -> tensor<f32> {
    %1 = stablehlo.tanh %x : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  // expected-error@+1 {{on stage 0 captures a value that lives at [1]; expected a join or a collective between them}}
  %0 = dist.segment at(0, 1) phase(update) -> tensor<f32> {
    %1 = stablehlo.tanh %ls : tensor<f32>
    dist.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1]) table(<[". . .", "F1.0 B1.0 U"]>)
