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

// CHECK-LABEL: func.func @norms
// CHECK-NEXT: %[[Y:.*]], %[[R:.*]] = nn.layer_norm %{{.*}} {dims = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<8xf32>)
// CHECK-NEXT: %[[D:.*]] = nn.layer_norm_grad %[[Y]], %[[R]], %{{.*}} {dims = 1 : i64} : (tensor<8x10xbf16>, tensor<8xf32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
// CHECK-NEXT: %[[Z:.*]], %[[S:.*]] = nn.rms_norm %[[D]] {dims = 2 : i64, epsilon = 0.000000e+00 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<f32>)
// CHECK-NEXT: nn.rms_norm_grad %[[Z]], %[[S]], %[[D]] {dims = 2 : i64} : (tensor<8x10xbf16>, tensor<f32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
func.func @norms(%x: tensor<8x10xbf16>) -> tensor<8x10xbf16> {
  %y, %r = nn.layer_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<8xf32>)
  %d = nn.layer_norm_grad %y, %r, %x {dims = 1 : i64} : (tensor<8x10xbf16>, tensor<8xf32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  %z, %s = nn.rms_norm %d {dims = 2 : i64, epsilon = 0.0 : f64} : (tensor<8x10xbf16>) -> (tensor<8x10xbf16>, tensor<f32>)
  %e = nn.rms_norm_grad %z, %s, %d {dims = 2 : i64} : (tensor<8x10xbf16>, tensor<f32>, tensor<8x10xbf16>) -> tensor<8x10xbf16>
  return %e : tensor<8x10xbf16>
}
