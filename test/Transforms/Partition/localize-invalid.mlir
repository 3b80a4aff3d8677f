// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-localize

// expected-error@+1 {{expected a state 'w' that is read in a layout}}
module {
  dist.mesh @mesh = <"data"=1>
  dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
  func.func @f(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
    return %w : tensor<4xf32>
  }
  dist.entry @forward function(@f) chunks([0])
}

// -----

#a = #dist.layout<@mesh, [{"x"}]>
#b = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @f(%w: tensor<4xf32, #a> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32, #a> {dist.port = #dist.port<output "y">}) {
  return %w : tensor<4xf32, #a>
}
// expected-error@+1 {{expected state @w in the layout #dist.layout<@mesh, [{"x"}]> of another program, got #dist.layout<@mesh, [{}]>}}
func.func @g(%w: tensor<4xf32, #b> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32, #b> {dist.port = #dist.port<output "y">}) {
  return %w : tensor<4xf32, #b>
}
dist.entry @e function(@f) chunks([0])
dist.entry @h function(@g) chunks([0])

// -----

#a = #dist.layout<@mesh, [{"x":(2)2}]>
dist.mesh @mesh = <"x"=4>
// expected-error@+1 {{expected dims split by whole axes, got a part of axis "x": declare its parts as axes of the mesh}}
func.func @f(%x: tensor<4xf32, #a> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #a> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32, #a>
}
dist.entry @e function(@f) chunks([0])
