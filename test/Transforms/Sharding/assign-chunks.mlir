// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-assign-chunks | FileCheck %s

// Two stages, three blocks: the dear block in the middle stands alone as far as
// it can, and consecutive blocks form a chunk.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// CHECK: dist.entry @forward function(@f) chunks([0, 0, 1])
dist.entry @forward function(@f)

// -----

// Prologue and block 3 are empty (constants go anywhere): no chunk is.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  %c = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<8xf32>
  %0 = stablehlo.add %x, %c {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<8xf32>
  %1 = stablehlo.tanh %0 {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<8xf32>
  %d = stablehlo.constant {dist.block = 3 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// CHECK: dist.entry @forward function(@f) chunks([0, 0, 1, 1])
dist.entry @forward function(@f)

// -----

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-error@+1 {{expected at least 2 blocks, one for each chunk of the pipeline, got 1}}
dist.entry @forward function(@f)
