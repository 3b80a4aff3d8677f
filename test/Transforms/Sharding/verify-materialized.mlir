// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-materialized

// Split alike on both sides: legal.
#rows = #dist.layout<@mesh, [{"data"}, {}]>
dist.mesh @mesh = <"data"=2>
func.func @legal(%x: tensor<4x2xf32, #rows> {dist.input = "x", dist.role = "input"}) -> (tensor<4x2xf32, #rows> {dist.name = "y"}) {
  %0 = stablehlo.tanh %x : tensor<4x2xf32, #rows>
  return %0 : tensor<4x2xf32, #rows>
}
dist.entry @forward function(@legal) chunks([0])

// -----

// A partial value is not read by an op that is not linear.
#full = #dist.layout<@mesh, [{}]>
#partial = #dist.layout<@mesh, [{}], partial = [sum{"data"}]>
dist.mesh @mesh = <"data"=2>
func.func @partial(%x: tensor<4xf32, #partial> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32, #full> {dist.name = "y"}) {
  // expected-error-re@+1 {{{{.*}}partial{{.*}}}}
  %0 = "stablehlo.exponential"(%x) : (tensor<4xf32, #partial>) -> tensor<4xf32, #full>
  return %0 : tensor<4xf32, #full>
}
dist.entry @forward function(@partial) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @bare(%x: tensor<4xf32, #dist.layout<@mesh, [{}]>> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  // expected-error@+1 {{expected a layout in the type of result #0 after phase 3}}
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32, #dist.layout<@mesh, [{}]>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@bare) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=1>
func.func @left(%x: tensor<4xf32, #whole> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32, #whole> {dist.name = "y"}) {
  // expected-error@+1 {{must not occur after phase 3}}
  %0 = dist.reshard %x : tensor<4xf32, #whole> -> tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}
dist.entry @forward function(@left) chunks([0])
