// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-outline-programs

// An argument must say what it is.
dist.mesh @mesh = <"data"=1>
// expected-error@+1 {{expected argument 0 to be an input, a state, a hyper value or a sum, got role 'step', which is not supported yet}}
func.func @f(%x: tensor<4xf32> {dist.role = "step"}) -> (tensor<4xf32> {dist.name = "y"}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// A result must say where it goes.
dist.mesh @mesh = <"data"=1>
// expected-error@+1 {{expected a mark of result 0 that says where it goes}}
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> tensor<4xf32> {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)

// -----

// What goes from stage to stage needs a transfer.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
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
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  // expected-error@+1 {{captures a value that no segment made}}
  %1 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %2 = stablehlo.tanh %0 : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)
