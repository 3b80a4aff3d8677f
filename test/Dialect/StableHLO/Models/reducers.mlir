// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-materialized

// Which function of two elements a reduction applies decides whether parts of
// it can be summed: an addition of both, in either order, and nothing else.
#s = #dist.layout<@mesh, [{"d"}]>
#p = #dist.layout<@mesh, [], partial = [sum{"d"}]>
#w = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
func.func @f(%x: tensor<4xf32, #s> {dist.port = #dist.port<input "x">}, %c: tensor<f32> {dist.port = #dist.port<input "c">}) -> (tensor<f32, #p> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #w>
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32, #s>, tensor<f32, #w>) -> tensor<f32, #p>
  return %0 : tensor<f32, #p>
}
dist.entry @forward function(@f) chunks([0])

// -----

#s = #dist.layout<@mesh, [{"d"}]>
#p = #dist.layout<@mesh, [], partial = [sum{"d"}]>
#w = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
func.func @f(%x: tensor<4xf32, #s> {dist.port = #dist.port<input "x">}, %c: tensor<f32> {dist.port = #dist.port<input "c">}) -> (tensor<f32, #p> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #w>
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %q, %p : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32, #s>, tensor<f32, #w>) -> tensor<f32, #p>
  return %0 : tensor<f32, #p>
}
dist.entry @forward function(@f) chunks([0])

// -----

#s = #dist.layout<@mesh, [{"d"}]>
#p = #dist.layout<@mesh, [], partial = [sum{"d"}]>
#w = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
func.func @f(%x: tensor<4xf32, #s> {dist.port = #dist.port<input "x">}, %c: tensor<f32> {dist.port = #dist.port<input "c">}) -> (tensor<f32, #p> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #w>
  // expected-error@+1 {{factor 0 must be whole, but is split by {"d"}}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %p : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32, #s>, tensor<f32, #w>) -> tensor<f32, #p>
  return %0 : tensor<f32, #p>
}
dist.entry @forward function(@f) chunks([0])

// -----

#s = #dist.layout<@mesh, [{"d"}]>
#p = #dist.layout<@mesh, [], partial = [sum{"d"}]>
#w = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
func.func @f(%x: tensor<4xf32, #s> {dist.port = #dist.port<input "x">}, %c: tensor<f32> {dist.port = #dist.port<input "c">}) -> (tensor<f32, #p> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #w>
  // expected-error@+1 {{factor 0 must be whole, but is split by {"d"}}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %q, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32, #s>, tensor<f32, #w>) -> tensor<f32, #p>
  return %0 : tensor<f32, #p>
}
dist.entry @forward function(@f) chunks([0])

// -----

#s = #dist.layout<@mesh, [{"d"}]>
#p = #dist.layout<@mesh, [], partial = [sum{"d"}]>
#w = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
func.func @f(%x: tensor<4xf32, #s> {dist.port = #dist.port<input "x">}, %c: tensor<f32> {dist.port = #dist.port<input "c">}) -> (tensor<f32, #p> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #w>
  // expected-error@+1 {{factor 0 must be whole, but is split by {"d"}}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %c : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32, #s>, tensor<f32, #w>) -> tensor<f32, #p>
  return %0 : tensor<f32, #p>
}
dist.entry @forward function(@f) chunks([0])

// -----

#s = #dist.layout<@mesh, [{"d"}]>
#p = #dist.layout<@mesh, [], partial = [sum{"d"}]>
#w = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
func.func @f(%x: tensor<4xf32, #s> {dist.port = #dist.port<input "x">}, %c: tensor<f32> {dist.port = #dist.port<input "c">}) -> (tensor<f32, #p> {dist.port = #dist.port<output "y">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32, #w>
  // expected-error@+1 {{factor 0 must be whole, but is split by {"d"}}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %c, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32, #s>, tensor<f32, #w>) -> tensor<f32, #p>
  return %0 : tensor<f32, #p>
}
dist.entry @forward function(@f) chunks([0])
