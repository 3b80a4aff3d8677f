// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-local

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  // expected-error@+1 {{expected to stand in a segment after phase 4}}
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32, #whole> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32, #whole> {dist.name = "y"}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32, #whole> {
    // expected-error@+1 {{expected no layout in a type after phase 4, got}}
    %1 = stablehlo.tanh %x : tensor<4xf32, #whole>
    dist.yield %1 : tensor<4xf32, #whole>
  }
  return %0 : tensor<4xf32, #whole>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
// expected-error@+1 {{expected a buffer of state 'w' after phase 4}}
func.func @f(%w: tensor<4xf32> {dist.reads = @w, dist.role = "parameter"}) -> (tensor<4xf32> {dist.name = "y"}) {
  %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
    %1 = stablehlo.tanh %w : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])
