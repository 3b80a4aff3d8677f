// RUN: not llmc-opt %s --llmc-form-kernels=target=abacus -o /dev/null 2>&1 | FileCheck %s

// CHECK: error: expected a target of kernels (cpu, cuda), got 'abacus'
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
