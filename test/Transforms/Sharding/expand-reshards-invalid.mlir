// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-expand-reshards

// A part of an axis has no way to anything else: the second of two moves fails.
#part = #dist.layout<@mesh, [{"t":(1)2}]>
#whole = #dist.layout<@mesh, [{}]>
#split = #dist.layout<@mesh, [{"t"}]>
dist.mesh @mesh = <"t"=4>
func.func @f(%x: tensor<4xf32, #split> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #part> {dist.port = #dist.port<output "y">}) {
  %0 = dist.reshard %x : tensor<4xf32, #split> -> tensor<4xf32, #whole>
  // expected-error@+1 {{expected layouts with a way between them: expected whole mesh axes, got a part of 't'}}
  %1 = dist.reshard %0 : tensor<4xf32, #whole> -> tensor<4xf32, #part>
  return %1 : tensor<4xf32, #part>
}
dist.entry @forward function(@f) chunks([0])

// -----

// Stages without a term would need the neutral element, which is zero for sums
// alone.
#two = #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1]}>
#three = #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1, 2]}>
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
func.func @f(%x: tensor<4xf32, #two> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #three> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a value that is made partial to be a sum or a product over "pipe", got #dist.layout<@mesh, [{}], partial = [max{"pipe"}], at = {"pipe" = [0, 1, 2]}>}}
  %0 = dist.reshard %x {dist.block = 0 : i64} : tensor<4xf32, #two> -> tensor<4xf32, #three>
  return %0 : tensor<4xf32, #three>
}
dist.entry @forward function(@f) chunks([0, 1, 2])
