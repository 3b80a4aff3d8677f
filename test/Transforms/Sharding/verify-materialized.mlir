// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-materialized

// Split alike on both sides: legal.
#rows = #dist.layout<@mesh, [{"data"}, {}]>
dist.mesh @mesh = <"data"=2>
func.func @legal(%x: tensor<4x2xf32, #rows> {dist.port = #dist.port<input "x">}) -> (tensor<4x2xf32, #rows> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x : tensor<4x2xf32, #rows>
  return %0 : tensor<4x2xf32, #rows>
}
dist.entry @forward function(@legal) chunks([0])

// -----

// A partial value is not read by an op that is not linear.
#full = #dist.layout<@mesh, [{}]>
#partial = #dist.layout<@mesh, [{}], partial = [sum{"data"}]>
dist.mesh @mesh = <"data"=2>
func.func @partial(%x: tensor<4xf32, #partial> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #full> {dist.port = #dist.port<output "y">}) {
  // expected-error-re@+1 {{{{.*}}partial{{.*}}}}
  %0 = "stablehlo.exponential"(%x) : (tensor<4xf32, #partial>) -> tensor<4xf32, #full>
  return %0 : tensor<4xf32, #full>
}
dist.entry @forward function(@partial) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @bare(%x: tensor<4xf32, #dist.layout<@mesh, [{}]>> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a layout in the type of result #0 after phase 3}}
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32, #dist.layout<@mesh, [{}]>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@bare) chunks([0])

// -----

// What is left of reshards moves nothing.
#whole = #dist.layout<@mesh, [{}]>
#split = #dist.layout<@mesh, [{"data"}]>
dist.mesh @mesh = <"data"=2>
func.func @left(%x: tensor<4xf32, #whole> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #whole> {dist.port = #dist.port<output "y">}) {
  %0 = dist.reshard %x : tensor<4xf32, #whole> -> tensor<4xf32, #split>
  // expected-error@+1 {{expected a local change of layout after phase 3, got one that needs all-gather}}
  %1 = dist.reshard %0 : tensor<4xf32, #split> -> tensor<4xf32, #whole>
  return %1 : tensor<4xf32, #whole>
}
dist.entry @forward function(@left) chunks([0])

// -----

// An operand lives where its op does.
#at0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#at1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @elsewhere(%x: tensor<4xf32, #at0> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #at1> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{#0 lives at [0], the op at [1]}}
  %0 = "stablehlo.exponential"(%x) : (tensor<4xf32, #at0>) -> tensor<4xf32, #at1>
  return %0 : tensor<4xf32, #at1>
}
dist.entry @forward function(@elsewhere) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @bare(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4xf32, #dist.layout<@mesh, [{}]>> {dist.port = #dist.port<input "y">}) -> (tensor<4xf32, #dist.layout<@mesh, [{}]>> {dist.port = #dist.port<output "z">}) {
  // expected-error@+1 {{expected a layout in the type of operand #1 after phase 3}}
  %0 = "stablehlo.add"(%y, %x) : (tensor<4xf32, #dist.layout<@mesh, [{}]>>, tensor<4xf32>) -> tensor<4xf32, #dist.layout<@mesh, [{}]>>
  return %0 : tensor<4xf32, #dist.layout<@mesh, [{}]>>
}
dist.entry @forward function(@bare) chunks([0])

// -----

// A whole value as a summand needs a keep, though nothing moves.
#full = #dist.layout<@mesh, [{}]>
#partial = #dist.layout<@mesh, [{}], partial = [sum{"data"}]>
dist.mesh @mesh = <"data"=2>
func.func @lift(%x: tensor<4xf32, #full> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #partial> {dist.port = #dist.port<output "y">}) {
  // expected-error-re@+1 {{expected a local change of layout after phase 3, got one that needs {{.+}}}}
  %0 = dist.reshard %x : tensor<4xf32, #full> -> tensor<4xf32, #partial>
  return %0 : tensor<4xf32, #partial>
}
dist.entry @forward function(@lift) chunks([0])

// -----

// A move that nobody can make.
#part = #dist.layout<@mesh, [{"t":(1)2}]>
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"t"=4>
func.func @f(%x: tensor<4xf32, #whole> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #part> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a local change of layout, got none: expected whole mesh axes, got a part of 't'}}
  %1 = dist.reshard %x : tensor<4xf32, #whole> -> tensor<4xf32, #part>
  return %1 : tensor<4xf32, #part>
}
dist.entry @forward function(@f) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
func.func @rule(%x: tensor<4xf32, #whole> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #whole> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a sharding rule of 'arith.addf', got none}}
  %0 = arith.addf %x, %x : tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}
dist.entry @forward function(@rule) chunks([0])

// -----

// What is no tensor has no layout.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
func.func @scalar(%x: f32 {dist.port = #dist.port<input "x">}) -> (f32 {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a sharding rule of 'arith.addf', got none}}
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
dist.entry @forward function(@scalar) chunks([0])

// -----

// Each result of an op has a layout, in each program.
#rows = #dist.layout<@mesh, [{}]>
#wide = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"data"=1>
func.func @first(%x: tensor<8xf32, #rows> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32, #rows> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<8xf32, #rows>
}
func.func @second(%x: tensor<8x10xf32, #wide> {dist.port = #dist.port<input "x">}, %t: tensor<8xi32, #rows> {dist.port = #dist.port<input "t">}) -> (tensor<8xf32, #rows> {dist.port = #dist.port<output "l">}) {
  // expected-error@+1 {{expected a layout in the type of result #1 after phase 3}}
  %l, %lse = "nn.softmax_cross_entropy"(%x, %t) : (tensor<8x10xf32, #wide>, tensor<8xi32, #rows>) -> (tensor<8xf32, #rows>, tensor<8xf32>)
  return %l : tensor<8xf32, #rows>
}
dist.entry @a function(@first) chunks([0])
dist.entry @b function(@second) chunks([0])

// -----

// The first step of the way is local, the second is not.
#a = #dist.layout<@mesh, [{"x"}, {}]>
#b = #dist.layout<@mesh, [{}, {"y"}]>
dist.mesh @mesh = <"x"=2, "y"=2>
func.func @ways(%x: tensor<4x4xf32, #a> {dist.port = #dist.port<input "x">}) -> (tensor<4x4xf32, #b> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a local change of layout after phase 3, got one that needs all-gather}}
  %0 = dist.reshard %x : tensor<4x4xf32, #a> -> tensor<4x4xf32, #b>
  return %0 : tensor<4x4xf32, #b>
}
dist.entry @forward function(@ways) chunks([0])
