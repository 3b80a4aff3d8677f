// RUN: llmc-opt %s --llmc-count-flops --split-input-file | FileCheck %s

// Products of the microbatch, in each of its microbatches; the update has none, and a sum of elements is no product.
dist.state @w : tensor<16x32xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @m(%x: tensor<8x16xf32> {dist.port = #dist.port<input "x">}, %w: tensor<16x32xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<16x32xf32> {dist.port = #dist.port<gradient @w>}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %z = stablehlo.add %y, %y : tensor<8x32xf32>
  %g = stablehlo.dot_general %x, %z, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  return %c, %c, %g : tensor<f32>, tensor<f32>, tensor<16x32xf32>
}
func.func private @u(%w: tensor<16x32xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<16x32xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<16x32xf32> {dist.port = #dist.port<parameter @w>}) {
  %p = stablehlo.dot_general %g, %g, contracting_dims = [1] x [1] : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x16xf32>
  %n = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  return %n : tensor<16x32xf32>
}
// Two products of 2 * 8 * 16 * 32, in 3 microbatches.
// CHECK: dist.step @train
// CHECK-SAME: {dist.model_flops = 4.915200e+04 : f64}
dist.step @train microbatch(@m) update(@u) microbatches(3) schedule(<gpipe>)

// -----

// What multiplies eight bits does so at another rate.
func.func private @m(%x: tensor<8x16xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  return %c, %c : tensor<f32>, tensor<f32>
}
func.func private @u() { return }
// CHECK: dist.step @train
// CHECK-NOT: model_flops
dist.step @train microbatch(@m) update(@u) microbatches(3) schedule(<gpipe>) {dist.precision = f8E4M3FN}

// -----

// In each trip of its loop; entries once.
func.func private @f(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "y">}) {
  %c = dist.enter carry %x of <"l", trips = 5> number(0) : tensor<8x8xf32> -> tensor<8x8xf32>
  %y = stablehlo.dot_general %c, %c, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = dist.next %c, %y : tensor<8x8xf32>
  %r = dist.leave last %n of <"l", trips = 5> : tensor<8x8xf32> -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
// CHECK: dist.entry @forward
// CHECK-SAME: {dist.model_flops = 5.120000e+03 : f64}
dist.entry @forward function(@f)
