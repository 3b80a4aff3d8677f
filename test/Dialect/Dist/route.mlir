// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s

dist.mesh @mesh = <"x"=2, "y"=2>
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: dist.route %{{.*}} dim 0 from [3, 0, 1, 2] : tensor<4x8xf32>
  %0 = dist.route %x dim 0 from [3, 0, 1, 2] : tensor<4x8xf32>
  // CHECK-NEXT: dist.route %{{.*}} dim 0 from [-1, 0, 1, -1] split : tensor<4x8xf32>
  %1 = dist.route %x dim 0 from [-1, 0, 1, -1] split : tensor<4x8xf32>
  // CHECK-NEXT: dist.permute %{{.*}} over ["x", "y"] from [3, 0, 1, 2] on @mesh : tensor<4x8xf32>
  %2 = dist.permute %x over ["x", "y"] from [3, 0, 1, 2] on @mesh : tensor<4x8xf32>
  // CHECK-NEXT: dist.constraint %{{.*}} to #{{.*}} hint : tensor<4x8xf32>
  %3 = dist.constraint %x to <@mesh, [{"x"}, {?}]> hint : tensor<4x8xf32>
  return
}
