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

// -----

// In an op's result too.
#a = #dist.layout<@mesh, [{"x":(2)2}]>
#w = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=4>
func.func @f(%x: tensor<4xf32, #w> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #a> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x : tensor<4xf32, #w>
  // expected-error@+1 {{expected dims split by whole axes, got a part of axis "x": declare its parts as axes of the mesh}}
  %1 = dist.reshard %0 : tensor<4xf32, #w> -> tensor<4xf32, #a>
  return %1 : tensor<4xf32, #a>
}
dist.entry @e function(@f) chunks([0])

// -----

// And in the second axis of the second dim.
#a = #dist.layout<@mesh, [{}, {"y", "x":(1)2}]>
dist.mesh @mesh = <"x"=4, "y"=2>
// expected-error@+1 {{expected dims split by whole axes, got a part of axis "x": declare its parts as axes of the mesh}}
func.func @f(%x: tensor<4x4xf32, #a> {dist.port = #dist.port<input "x">}) -> (tensor<4x4xf32, #a> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4x4xf32, #a>
}
dist.entry @e function(@f) chunks([0])

// -----

// What is no tensor is of no device.
#w = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=4>
// expected-error@+1 {{expected a tensor with a layout before phase 4, got 'f32'}}
func.func @f(%x: tensor<4xf32, #w> {dist.port = #dist.port<input "x">}, %n: f32 {dist.port = #dist.port<input "n">}) -> (tensor<4xf32, #w> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32, #w>
}
dist.entry @e function(@f) chunks([0])

// -----

#w = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=4>
func.func @f(%x: tensor<4xf32, #w> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a tensor with a layout before phase 4, got 'tensor<4xf32>'}}
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32, #w>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @e function(@f) chunks([0])

// -----

#w = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=4>
func.func @f(%x: tensor<4xf32, #w> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #w> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x : tensor<4xf32, #w>
  // expected-error@+1 {{expected a sharding rule of 'arith.addf', got none}}
  %1 = arith.addf %0, %0 : tensor<4xf32, #w>
  return %1 : tensor<4xf32, #w>
}
dist.entry @e function(@f) chunks([0])

// -----

// Each device has all of a constant that is no splat.
#split = #dist.layout<@mesh, [{"x"}]>
dist.mesh @mesh = <"x"=2>
func.func @f() -> (tensor<4xf32, #split> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32, #split>
  // expected-error@+1 {{expected a constant that is not split unless it is a splat, got local type 'tensor<2xf32>'}}
  %1 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32, #split>
  %2 = stablehlo.add %0, %1 : tensor<4xf32, #split>
  return %2 : tensor<4xf32, #split>
}
dist.entry @e function(@f) chunks([0])
