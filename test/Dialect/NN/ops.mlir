// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// CHECK-LABEL: func.func @cross_entropy
// CHECK-NEXT: %[[L:.*]], %[[S:.*]] = nn.softmax_cross_entropy %{{.*}}, %{{.*}} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: nn.softmax_cross_entropy_grad %{{.*}}, %{{.*}}, %[[S]], %[[L]] : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
func.func @cross_entropy(%x: tensor<8x10xf32>, %t: tensor<8xi32>) -> tensor<8x10xf32> {
  %l, %s = nn.softmax_cross_entropy %x, %t : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  %d = nn.softmax_cross_entropy_grad %x, %t, %s, %l : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  return %d : tensor<8x10xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK: %[[Y:.*]], %[[S:.*]] = nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 causal -1 : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} offset %{{.*}} scale 1.000000e+00 causal 0 safe :
// CHECK: nn.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %[[S]], %[[S]], %[[Y]] bias %{{.*}} scale 1.250000e-01 safe :
func.func @attention(%q: tensor<2x3x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %b: tensor<2x1x8x1xf32>, %o: tensor<i32>) -> tensor<2x3x8x4xf32> {
  %y, %s = nn.attention %q, %k, %v scale 0.125 causal -1
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  %y1, %s1 = nn.attention %q, %k, %v bias %b offset %o scale 1.0 causal 0 safe
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x1x8x1xf32>, tensor<i32>) -> (tensor<2x3x8x6xf32>, tensor<2x3x8xf32>)
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %s, %s, %y bias %b scale 0.125 safe
      : (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8x6xf32>, tensor<2x1x8x1xf32>) -> (tensor<2x3x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>)
  return %dq : tensor<2x3x8x4xf32>
}
