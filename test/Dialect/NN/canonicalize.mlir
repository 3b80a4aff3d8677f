// RUN: llmc-opt %s --canonicalize --cse | FileCheck %s

// The ops are pure: equal ones are one, and unused ones go.
// CHECK-LABEL: func.func @pure
// CHECK-NEXT: %[[L:.*]], %[[S:.*]] = nn.softmax_cross_entropy
// CHECK-NEXT: return %[[L]], %[[S]]
func.func @pure(%x: tensor<8x10xf32>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %l, %s = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  %l2, %s2 = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  %d = nn.softmax_cross_entropy_grad %x, %t, %s, %l : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return %l, %s2 : tensor<8xf32>, tensor<8xf32>
}
