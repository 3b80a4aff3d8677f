// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-materialize

// Every argument has a layout.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected a layout of argument 1, got none}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %y: tensor<4xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z", layout = #whole>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// Every result has one.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
// expected-error@+1 {{expected a layout of result 1, got none}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}, tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// And every op.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  %0 = stablehlo.tanh %x {dist.layouts = [#whole]} : tensor<4xf32>
  // expected-error@+1 {{expected a layout of each result, got none}}
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// What an op wants of its operands follows from its rule.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  %0 = stablehlo.tanh %x {dist.layouts = [#whole]} : tensor<4xf32>
  // expected-error@+1 {{expected a sharding rule of 'arith.addf', got none}}
  %1 = arith.addf %0, %x {dist.layouts = [#whole]} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// A part of an axis has no way to anything else: for the second op's operand,
#part = #dist.layout<@mesh, [{"t":(1)2}]>
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"t"=4>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #part>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  %0 = stablehlo.tanh %x {dist.layouts = [#part]} : tensor<4xf32>
  // expected-error@+1 {{expected an operand of layout #dist.layout<@mesh, [{}]>, got #dist.layout<@mesh, [{"t":(1)2}]>, and no way between them: expected whole mesh axes, got a part of 't'}}
  %1 = stablehlo.tanh %0 {dist.layouts = [#whole]} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// for the second value that is returned,
#part = #dist.layout<@mesh, [{"t":(1)2}]>
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"t"=4>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #part>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #part>}, tensor<4xf32> {dist.port = #dist.port<output "z", layout = #whole>}) {
  // expected-error@+1 {{expected an operand of layout #dist.layout<@mesh, [{}]>, got #dist.layout<@mesh, [{"t":(1)2}]>, and no way between them: expected whole mesh axes, got a part of 't'}}
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// and for one that is returned from fewer stages than have it.
#both = #dist.layout<@mesh, [{"t":(1)2}], at = {"pipe" = [0, 1]}>
#one = #dist.layout<@mesh, [{"t":(1)2}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2, "t"=4> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #both>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #one>}) {
  // expected-error@+1 {{expected an operand of layout #dist.layout<@mesh, [{"t":(1)2}], at = {"pipe" = [0]}>, got #dist.layout<@mesh, [{"t":(1)2}], at = {"pipe" = [0, 1]}>, and no way between them: expected whole mesh axes, got a part of 't'}}
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// A partial value that goes to another stage reduced has no way there either.
#part1 = #dist.layout<@mesh, [{"t":(1)2}], partial = [sum{"x"}], at = {"pipe" = [1]}>
#part0 = #dist.layout<@mesh, [{"t":(1)2}], partial = [sum{"x"}], at = {"pipe" = [0]}>
#full0 = #dist.layout<@mesh, [{"t":(1)2}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2, "x"=2, "t"=4> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #part1>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #full0>}, tensor<4xf32> {dist.port = #dist.port<output "z", layout = #part0>}) {
  // expected-error@+1 {{expected an operand of layout #dist.layout<@mesh, [{"t":(1)2}], at = {"pipe" = [0]}>, got #dist.layout<@mesh, [{"t":(1)2}], partial = [sum{"x"}], at = {"pipe" = [1]}>, and no way between them: expected whole mesh axes, got a part of 't'}}
  %0 = stablehlo.negate %x {dist.layouts = [#part0], dist.block = 0 : i64} : tensor<4xf32>
  %1 = stablehlo.tanh %x {dist.layouts = [#full0], dist.block = 0 : i64} : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// Stages without a term would need the neutral element, which is zero for sums
// alone.
#two = #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1]}>
#three = #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1, 2]}>
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
// expected-error@+1 {{expected a value that is made partial to be a sum or a product over "pipe", got #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1, 2]}>}}
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #two>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #three>}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1, 2])
