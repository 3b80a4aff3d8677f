// RUN: llmc-opt %s --llmc-form-kernels --llmc-verify-kernels | FileCheck %s

// A coordinate is a scalar of the kernels that read it, and arithmetic on it is
// part of them: no launch of its own, and the code does not depend on the
// device. Kernels of axes with as many coordinates are the same.

dist.mesh @mesh = <"data"=4, "tensor"=4>

// CHECK-LABEL: func.func private @slices
func.func private @slices(%x: tensor<16x8xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}, tensor<4x8xf32> {dist.port = #dist.port<output "z">}) {
  %four = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %t = dist.coordinate ["tensor"] : tensor<i32>
  %to = stablehlo.multiply %t, %four : tensor<i32>
  // CHECK: %[[T:.*]] = dist.coordinate ["tensor"] : tensor<i32>
  // CHECK-NEXT: dist.launch @kernels::@[[$K:.*]](%[[T]], %arg0) : (tensor<i32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %y = stablehlo.dynamic_slice %x, %to, %zero, sizes = [4, 8] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[D:.*]] = dist.coordinate ["data"] : tensor<i32>
  // CHECK-NEXT: dist.launch @kernels::@[[$K]](%[[D]], %arg0) : (tensor<i32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %d = dist.coordinate ["data"] : tensor<i32>
  %do = stablehlo.multiply %d, %four : tensor<i32>
  %z = stablehlo.dynamic_slice %x, %do, %zero, sizes = [4, 8] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// A result of a collective that dies is overwritten.
// CHECK-LABEL: func.func private @reduces
func.func private @reduces(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<buffer @y>}) {
  // CHECK: %[[P:.*]] = dist.launch
  %p = stablehlo.tanh %x : tensor<8xf32>
  // CHECK-NEXT: %[[R:.*]] = dist.all_reduce %[[P]] over ["tensor"] sum
  %r = dist.all_reduce %p over ["tensor"] sum : tensor<8xf32>
  // CHECK-NEXT: dist.launch @kernels::@{{.*}}(%[[R]]) {tied = {{\[\[0, 0\]\]}}}
  %s = stablehlo.tanh %r : tensor<8xf32>
  %t = stablehlo.add %s, %s : tensor<8xf32>
  return %t : tensor<8xf32>
}

// CHECK: func.func private @[[$K]](%{{.*}}: index, %{{.*}}: memref<128xf32>, %{{.*}}: memref<32xf32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<0xi8>)
// CHECK-SAME: llmc.access = ["scalar", "read", "write"]
// CHECK-SAME: llmc.scalars = array<i64: 3>
