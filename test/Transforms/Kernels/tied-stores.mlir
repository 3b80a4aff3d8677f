// RUN: llmc-opt %s --llmc-form-library-calls --llmc-form-kernels --llmc-verify-kernels | FileCheck %s

// One result lies on an operand that the other reads: all elements are read
// before any is written.
// CHECK-LABEL: func.func @tied
// CHECK: %[[C:.*]] = dist.contract
// CHECK: dist.launch @kernels::@{{.*}}(%{{.*}}, %[[C]]) {tied = {{\[}}[0, 1]]}
// CHECK: scf.for
// CHECK: vector.load
// CHECK: vector.load
// CHECK: vector.store
// CHECK-NOT: vector.load
// CHECK: vector.store
// CHECK: scf.for
// CHECK: memref.load
// CHECK: memref.load
// CHECK: memref.store
// CHECK-NOT: memref.load
// CHECK: memref.store
func.func @tied(%a: tensor<8x70xf32>, %x: tensor<8x16xf32>, %w: tensor<16x70xf32>) -> (tensor<8x70xf32>, tensor<8x70xf32>) {
  %c = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x70xf32>) -> tensor<8x70xf32>
  %0 = stablehlo.negate %a : tensor<8x70xf32>
  %1 = stablehlo.multiply %c, %0 : tensor<8x70xf32>
  return %0, %1 : tensor<8x70xf32>, tensor<8x70xf32>
}
