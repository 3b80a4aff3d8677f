// RUN: llmc-opt %s --llmc-find-blocks | FileCheck %s

// Nothing repeats, and there are two stages: cut in balance, where the small
// value crosses. The transposed weight goes with the op that uses it.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w0 : tensor<64x64xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @w1 : tensor<64x8xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @w2 : tensor<64x8xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<16x64xf32> {dist.port = #dist.port<input "x">},
                 %w0: tensor<64x64xf32> {dist.port = #dist.port<parameter @w0>}, %w1: tensor<64x8xf32> {dist.port = #dist.port<parameter @w1>},
                 %w2: tensor<64x8xf32> {dist.port = #dist.port<parameter @w2>}) -> (tensor<16x64xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.transpose {{.*}} {dist.block = 1 : i64}
  %t = stablehlo.transpose %w2, dims = [1, 0] : (tensor<64x8xf32>) -> tensor<8x64xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 0 : i64}
  %a = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 0 : i64}
  %b = stablehlo.dot_general %a, %w1, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 1 : i64}
  %c = stablehlo.dot_general %b, %t, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 1 : i64}
  %d = stablehlo.dot_general %c, %w0, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  return %d : tensor<16x64xf32>
}
dist.entry @forward function(@chain)

// Equal work on either side of the conversion or of the op before it, within
// an eighth: half as many bytes cross between the two conversions.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: tensor<16x64xf32> {dist.port = #dist.port<input "x">},
                  %w: tensor<16x64xf32> {dist.port = #dist.port<parameter @w3>}) -> (tensor<16x64xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-COUNT-7: {dist.block = 0 : i64} : tensor
  // CHECK: stablehlo.convert {{.*}} {dist.block = 0 : i64} : (tensor<16x64xf32>) -> tensor<16x64xbf16>
  // CHECK: stablehlo.convert {{.*}} {dist.block = 1 : i64}
  // CHECK-COUNT-7: {dist.block = 1 : i64} : tensor
  %a0 = stablehlo.multiply %x, %w : tensor<16x64xf32>
  %a1 = stablehlo.add %a0, %w : tensor<16x64xf32>
  %a2 = stablehlo.subtract %a1, %w : tensor<16x64xf32>
  %a3 = stablehlo.maximum %a2, %w : tensor<16x64xf32>
  %a4 = stablehlo.minimum %a3, %w : tensor<16x64xf32>
  %a5 = stablehlo.subtract %a4, %w : tensor<16x64xf32>
  %a6 = stablehlo.multiply %a5, %w : tensor<16x64xf32>
  %h = stablehlo.convert %a6 : (tensor<16x64xf32>) -> tensor<16x64xbf16>
  %f = stablehlo.convert %h : (tensor<16x64xbf16>) -> tensor<16x64xf32>
  %b0 = stablehlo.add %f, %w : tensor<16x64xf32>
  %b1 = stablehlo.maximum %b0, %w : tensor<16x64xf32>
  %b2 = stablehlo.multiply %b1, %w : tensor<16x64xf32>
  %b3 = stablehlo.minimum %b2, %w : tensor<16x64xf32>
  %b4 = stablehlo.subtract %b3, %w : tensor<16x64xf32>
  %b5 = stablehlo.maximum %b4, %w : tensor<16x64xf32>
  %b6 = stablehlo.add %b5, %w : tensor<16x64xf32>
  return %b6 : tensor<16x64xf32>
}
dist.state @w3 : tensor<16x64xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.entry @narrow_forward function(@narrow)
