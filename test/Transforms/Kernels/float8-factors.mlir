// RUN: llmc-opt %s --llmc-form-library-calls | FileCheck %s
// RUN: sed s/sm_90/sm_80/ %s | llmc-opt - --llmc-form-library-calls | FileCheck %s --check-prefix=OLD
// RUN: sed s/cuda:sm_90/cpu/ %s | llmc-opt - --llmc-form-library-calls | FileCheck %s --check-prefix=CPU
// RUN: llmc-opt %s --llmc-form-library-calls --remarks-filter=kernels --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: llmc-opt %s --llmc-form-library-calls --llmc-form-kernels --llmc-verify-kernels | FileCheck %s --check-prefix=KERNELS

// Floats of eight bits as the tensor cores of sm_90 take them: what is added up
// is contiguous in both factors. Those of sm_80 have none, and multiply bf16,
// which has every number of eight bits.
module {
dist.execution seed(1) threads(1) target("cuda:sm_90")

// The forward of a layer reads its weight from a transposed copy.
// CHECK-LABEL: func.func @forward
// CHECK: %[[W:.*]] = stablehlo.transpose %arg1, dims = [1, 0]
// CHECK: dist.contract %arg0, %[[W]] batch [] x [] contracting [2] x [1] : (tensor<2x16x32xf8E4M3FN>, tensor<48x32xf8E4M3FN>) -> tensor<2x16x48xf32>
// WHY: float8-factors.mlir:[[# @LINE + 11]]:8: remark: [Missed] factor | Category:kernels | Remark="copies a factor of 1536 bytes: tensor cores multiply floats of 8 bits where what is added up is contiguous"
// OLD-LABEL: func.func @forward
// OLD-DAG: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<2x16x32xf8E4M3FN>) -> tensor<2x16x32xbf16>
// OLD-DAG: %[[W:.*]] = stablehlo.convert %arg1 : (tensor<32x48xf8E4M3FN>) -> tensor<32x48xbf16>
// OLD: dist.contract %[[X]], %[[W]] batch [] x [] contracting [2] x [0]
// CPU-LABEL: func.func @forward
// CPU: dist.contract %arg0, %arg1
// KERNELS-LABEL: func.func @forward
// KERNELS: %[[W:.*]] = dist.launch @kernels::@{{.*}}(%arg1)
// KERNELS: dist.contract %arg0, %[[W]]
func.func @forward(%x: tensor<2x16x32xf8E4M3FN>, %w: tensor<32x48xf8E4M3FN>) -> tensor<2x16x48xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x16x32xf8E4M3FN>, tensor<32x48xf8E4M3FN>) -> tensor<2x16x48xf32>
  return %0 : tensor<2x16x48xf32>
}

// Of the backward, the gradient of the input has both factors as they are; that
// of the weight copies both, and adds to what is there. A factor that two calls
// want is copied once.
// CHECK-LABEL: func.func @backward
// CHECK: dist.contract %arg0, %arg1 batch [] x [] contracting [2] x [1]
// CHECK: %[[X:.*]] = stablehlo.transpose %arg2, dims = [2, 0, 1]
// CHECK: %[[Y:.*]] = stablehlo.transpose %arg0, dims = [2, 0, 1]
// CHECK: dist.contract %[[X]], %[[Y]] plus %arg3 batch [] x [] contracting [1, 2] x [1, 2] : (tensor<32x2x16xf8E4M3FN>, tensor<48x2x16xf8E5M2>, tensor<32x48xf32>)
// CHECK: %[[Z:.*]] = stablehlo.transpose %arg5, dims = [2, 0, 1]
// CHECK-NOT: stablehlo.transpose
// CHECK: dist.contract %[[Z]], %[[Y]] batch
// CPU-LABEL: func.func @backward
// CPU: dist.contract %arg0, %arg1
// CPU: dist.contract %arg2, %arg0 plus
func.func @backward(%dy: tensor<2x16x48xf8E5M2>, %w: tensor<32x48xf8E4M3FN>, %x: tensor<2x16x32xf8E4M3FN>, %a: tensor<32x48xf32> {dist.port = #dist.port<gradient @w>}, %s: tensor<f32>, %z: tensor<2x16x32xf8E4M3FN>) -> (tensor<2x16x32xf32>, tensor<32x48xf32> {dist.port = #dist.port<gradient @w>}, tensor<32x48xf32>) {
  %0 = stablehlo.dot_general %dy, %w, contracting_dims = [2] x [1] : (tensor<2x16x48xf8E5M2>, tensor<32x48xf8E4M3FN>) -> tensor<2x16x32xf32>
  %1 = stablehlo.dot_general %x, %dy, contracting_dims = [0, 1] x [0, 1] : (tensor<2x16x32xf8E4M3FN>, tensor<2x16x48xf8E5M2>) -> tensor<32x48xf32>
  %2 = stablehlo.add %a, %1 : tensor<32x48xf32>
  %3 = stablehlo.dot_general %z, %dy, contracting_dims = [0, 1] x [0, 1] : (tensor<2x16x32xf8E4M3FN>, tensor<2x16x48xf8E5M2>) -> tensor<32x48xf32>
  return %0, %2, %3 : tensor<2x16x32xf32>, tensor<32x48xf32>, tensor<32x48xf32>
}

// Two cotangents, and sizes that are no multiple of 16, are multiplied as bf16.
// A bias stays a kernel's: beside f32 cuBLASLt would have one of bf16.
// CHECK-LABEL: func.func @others
// CHECK: dist.contract {{.*}} : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xf32>
// CHECK: dist.contract {{.*}} : (tensor<16x32xbf16>, tensor<32x10xbf16>) -> tensor<16x10xf32>
// CHECK: dist.contract {{.*}} : (tensor<16x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<16x32xf32>
// CHECK: stablehlo.add
// WHY: remark: [Missed] factor | Category:kernels | Remark="multiplies bf16, not floats of 8 bits: cuBLASLt cannot compute contraction 'contraction': expected of factors of 8 bits at least one f8E4M3FN and a result of f32, bf16 or f16 with sums in f32, got f8E5M2 times f8E5M2 into f32 with sums in f32"
// WHY: remark: [Missed] factor | Category:kernels | Remark="multiplies bf16, not floats of 8 bits: cuBLASLt cannot compute contraction 'contraction': expected, beside factors of 8 bits, an m, n and k that are multiples of 16 and begin at multiples of 16 bytes, got 16, 10 and 32"
func.func @others(%dy: tensor<16x32xf8E5M2>, %dz: tensor<32x16xf8E5M2>, %x: tensor<16x32xf8E4M3FN>, %w: tensor<32x10xf8E4M3FN>, %v: tensor<32x32xf8E4M3FN>, %b: tensor<32xf32>) -> (tensor<16x16xf32>, tensor<16x10xf32>, tensor<16x32xf32>) {
  %0 = stablehlo.dot_general %dy, %dz, contracting_dims = [1] x [0] : (tensor<16x32xf8E5M2>, tensor<32x16xf8E5M2>) -> tensor<16x16xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x32xf8E4M3FN>, tensor<32x10xf8E4M3FN>) -> tensor<16x10xf32>
  %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<16x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>) -> tensor<16x32xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<16x32xf32>
  %4 = stablehlo.add %2, %3 : tensor<16x32xf32>
  return %0, %1, %4 : tensor<16x16xf32>, tensor<16x10xf32>, tensor<16x32xf32>
}

// A factor without dims is one too.
// CHECK-LABEL: func.func @scalar
// CHECK: dist.contract {{.*}} : (tensor<bf16>, tensor<16xbf16>) -> tensor<16xf32>
// CPU-LABEL: func.func @scalar
// CPU: dist.contract %arg0, %arg1
func.func @scalar(%x: tensor<f8E5M2>, %y: tensor<16xf8E4M3FN>) -> tensor<16xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<f8E5M2>, tensor<16xf8E4M3FN>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
}
