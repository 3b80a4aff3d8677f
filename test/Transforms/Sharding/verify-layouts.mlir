// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-layouts

dist.mesh @mesh = <"data"=1>
// expected-error@+1 {{expected a layout of argument 0 after phase 2}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = <@mesh, [{}]>>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
// expected-error@+1 {{expected a layout of result 0 after phase 2}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // expected-error@+1 {{expected layouts after phase 2}}
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected 'chunks' after phase 2}}
dist.entry @forward function(@f)

// -----

dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected dim 0 of size 5 to be divisible by axis "data" of size 2, which meets an extent of 5}}
func.func @f(%x: tensor<5xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}]>>}) -> (tensor<5xf32> {dist.port = #dist.port<output "y", layout = <@mesh, [{}]>>}) {
  return %x : tensor<5xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected closed dims after phase 2, got #dist.layout<@mesh, [{?}]>}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{?}]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = <@mesh, [{}]>>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected no partial value after phase 2, got #dist.layout<@mesh, [{}], partial = [sum{"data"}]>}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}], partial = [sum{"data"}]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = <@mesh, [{}]>>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// expected-error@+1 {{expected stages after phase 2, got #dist.layout<@mesh, [{}]>}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = <@mesh, [{}]>>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected closed dims after phase 2, got #dist.layout<@mesh, [{"data"}p1]>}}
func.func @priority(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}p1]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@priority) chunks([0])

// -----

#there = #dist.layout<@mesh, [{}], at = {"data" = [0]}>
dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected no stages after phase 2, got #dist.layout<@mesh, [{}], at = {"data" = [0]}>}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #there>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #there>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
func.func @legal(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}]>>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  %0 = stablehlo.tanh %x {dist.layouts = [#whole]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@legal) chunks([0])

// -----

// What is no tensor has no layout; the second op has none.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
func.func @scalar(%n: f32 {dist.port = #dist.port<input "n">}, %x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (f32 {dist.port = #dist.port<output "m">}, tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  %0 = stablehlo.tanh %x {dist.layouts = [#whole]} : tensor<4xf32>
  // expected-error@+1 {{expected layouts after phase 2}}
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %n, %1 : f32, tensor<4xf32>
}
dist.entry @forward function(@scalar) chunks([0])

// -----

// Each dim of each argument, result, op and program is looked at: the second.
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected closed dims after phase 2, got #dist.layout<@mesh, [{}, {"data", ?}]>}}
func.func @f(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %y: tensor<4x4xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{}, {"data", ?}]>>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "z", layout = #whole>}) {
  return %x : tensor<4x4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected a layout of result 1 after phase 2}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}, tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#rows = #dist.layout<@mesh, [{}]>
#partial = #dist.layout<@mesh, [{}], partial = [sum{"data"}]>
#wide = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"data"=2>
func.func @f(%x: tensor<8x10xf32> {dist.port = #dist.port<input "x", layout = #wide>}, %t: tensor<8xi32> {dist.port = #dist.port<input "t", layout = #rows>}) -> (tensor<8xf32> {dist.port = #dist.port<output "l", layout = #rows>}) {
  // expected-error@+1 {{expected no partial value after phase 2, got #dist.layout<@mesh, [{}], partial = [sum{"data"}]>}}
  %l, %lse = nn.softmax_cross_entropy %x, %t {dist.layouts = [#rows, #partial]} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %l : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a layout of argument 0 after phase 2}}
func.func @g(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  return %x : tensor<4xf32>
}
dist.entry @first function(@f) chunks([0])
dist.entry @second function(@g) chunks([0])

// -----

// An axis divides what those before it leave of a dim.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2, "t"=4>
// expected-error@+1 {{expected dim 0 of size 6 to be divisible by axis "t" of size 4, which meets an extent of 3}}
func.func @f(%x: tensor<6xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data", "t"}]>>}) -> (tensor<6xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  return %x : tensor<6xf32>
}
dist.entry @forward function(@f) chunks([0])
