// RUN: llmc-opt %s --verify-diagnostics --llmc-localize

// expected-error@+1 {{expected a state 'w' that is read in a layout}}
module {
  dist.mesh @mesh = <"data"=1>
  dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
  func.func @f(%w: tensor<4xf32> {dist.reads = @w, dist.role = "parameter"}) -> (tensor<4xf32> {dist.name = "y"}) {
    return %w : tensor<4xf32>
  }
  dist.entry @forward function(@f) chunks([0])
}
