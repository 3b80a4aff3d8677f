// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @convolve
func.func @convolve(%x: tensor<8x32x32x4xf32>, %w: tensor<3x3x4x16xf32>, %dy: tensor<8x16x32x16xf32>, %acc: tensor<3x3x4x16xf32>, %b: tensor<16xf32>) {
  // CHECK: dist.convolve %{{.*}}, %{{.*}} bias %{{.*}} dims [0, 3, 1, 2] x [2, 3, 0, 1] -> [0, 3, 1, 2] windows [#dist.window<stride = 2, low = 1>, #dist.window<low = 1>] :
  %0 = dist.convolve %x, %w bias %b dims [0, 3, 1, 2] x [2, 3, 0, 1] -> [0, 3, 1, 2]
      windows [#dist.window<stride = 2, low = 1>, #dist.window<low = 1>]
      : (tensor<8x32x32x4xf32>, tensor<3x3x4x16xf32>, tensor<16xf32>) -> tensor<8x16x32x16xf32>
  // CHECK: dist.convolve %{{.*}}, %{{.*}} plus %{{.*}} dims [3, 0, 1, 2] x [0, 3, 1, 2] -> [2, 3, 0, 1] windows [#dist.window<low = 1, rhs_dilation = 2>, #dist.window<low = 1>] :
  %1 = dist.convolve %x, %dy plus %acc dims [3, 0, 1, 2] x [0, 3, 1, 2] -> [2, 3, 0, 1]
      windows [#dist.window<low = 1, rhs_dilation = 2>, #dist.window<low = 1>]
      : (tensor<8x32x32x4xf32>, tensor<8x16x32x16xf32>, tensor<3x3x4x16xf32>) -> tensor<3x3x4x16xf32>
  // CHECK: dist.convolve %{{.*}}, %{{.*}} dims [0, 3, 1, 2] x [3, 2, 0, 1] -> [0, 3, 1, 2] windows [#dist.window<low = 1, lhs_dilation = 2, reversed = true>, #dist.window<low = 1, reversed = true>] :
  %2 = dist.convolve %dy, %w dims [0, 3, 1, 2] x [3, 2, 0, 1] -> [0, 3, 1, 2]
      windows [#dist.window<low = 1, lhs_dilation = 2, reversed = true>, #dist.window<low = 1, reversed = true>]
      : (tensor<8x16x32x16xf32>, tensor<3x3x4x16xf32>) -> tensor<8x32x32x4xf32>
  return
}

// CHECK-LABEL: func.func @groups
func.func @groups(%x: tensor<4x6xf32>, %w: tensor<3x8xf32>, %v: tensor<6x8xf32>, %s: tensor<4x6xf8E4M3FN>, %t: tensor<6x8xf8E5M2>) {
  // CHECK: dist.convolve %{{.*}}, %{{.*}} dims [0, 1] x [0, 1] -> [0, 1] windows [] feature_groups(2) :
  %0 = dist.convolve %x, %w dims [0, 1] x [0, 1] -> [0, 1] windows [] feature_groups(2) : (tensor<4x6xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  // CHECK: dist.convolve %{{.*}}, %{{.*}} dims [0, 1] x [0, 1] -> [0, 1] windows [] batch_groups(4) :
  %1 = dist.convolve %x, %v dims [0, 1] x [0, 1] -> [0, 1] windows [] batch_groups(4) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<1x8xf32>
  // CHECK: dist.convolve %{{.*}}, %{{.*}} dims [0, 1] x [0, 1] -> [0, 1] windows [] : (tensor<4x6xf8E4M3FN>, tensor<6x8xf8E5M2>) -> tensor<4x8xf32>
  %2 = dist.convolve %s, %t dims [0, 1] x [0, 1] -> [0, 1] windows [] : (tensor<4x6xf8E4M3FN>, tensor<6x8xf8E5M2>) -> tensor<4x8xf32>
  return
}
