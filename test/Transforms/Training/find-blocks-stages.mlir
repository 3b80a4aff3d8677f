// RUN: llmc-opt %s --llmc-find-blocks | FileCheck %s

// Nothing repeats, and there are two stages: cut in balance, where the small
// value crosses. The transposed weight goes with the op that uses it.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w0 : tensor<64x64xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @w1 : tensor<64x8xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @w2 : tensor<64x8xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<16x64xf32> {dist.role = "input", dist.input = "x"},
                 %w0: tensor<64x64xf32> {dist.reads = @w0}, %w1: tensor<64x8xf32> {dist.reads = @w1},
                 %w2: tensor<64x8xf32> {dist.reads = @w2}) -> tensor<16x64xf32> {
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
