// Factors and equations of more rows than a block are written out in halves of
// halves, and those of a block stay. Their products are calls of the library.
// RUN: llmc-opt %s --llmc-decompose | FileCheck %s
// RUN: llmc-opt %s --llmc-decompose --llmc-form-library-calls | FileCheck %s --check-prefix=CALL

// A block is one kernel.
// CHECK-LABEL: func.func @block
// CHECK: stablehlo.cholesky
// CHECK-NOT: stablehlo.dot_general
// CHECK: return
func.func @block(%a: tensor<32x32xf64>) -> tensor<32x32xf64> {
  %l = stablehlo.cholesky %a, lower = true : tensor<32x32xf64>
  return %l : tensor<32x32xf64>
}

// CHECK-LABEL: func.func @factor
// CHECK: %[[FIRST:.*]] = stablehlo.cholesky {{.*}} : tensor<2x32x32xf64>
// CHECK: %[[BESIDE:.*]] = "stablehlo.triangular_solve"(%[[FIRST]], {{.*}}) {{.*}} -> tensor<2x10x32xf64>
// CHECK: %[[PRODUCT:.*]] = stablehlo.dot_general %[[BESIDE]], %[[BESIDE]], batching_dims = [0] x [0], contracting_dims = [2] x [2]
// CHECK: %[[REST:.*]] = stablehlo.subtract %{{.*}}, %[[PRODUCT]]
// CHECK: stablehlo.cholesky %[[REST]], lower = true : tensor<2x10x10xf64>
// CALL-LABEL: func.func @factor
// CALL-NOT: stablehlo.dot_general
// CALL: dist.contract
// CALL: return
func.func @factor(%a: tensor<2x42x42xf64>) -> tensor<2x42x42xf64> {
  %l = stablehlo.cholesky %a, lower = true : tensor<2x42x42xf64>
  return %l : tensor<2x42x42xf64>
}

// The last rows of an upper equation are found first.
// CHECK-LABEL: func.func @equation
// CHECK: %[[LAST:.*]] = "stablehlo.triangular_solve"{{.*}} -> tensor<10x5xf32>
// CHECK: %[[PRODUCT:.*]] = stablehlo.dot_general %{{.*}}, %[[LAST]], contracting_dims = [1] x [0]
// CHECK: %[[RIGHT:.*]] = stablehlo.subtract %{{.*}}, %[[PRODUCT]]
// CHECK: "stablehlo.triangular_solve"(%{{.*}}, %[[RIGHT]]){{.*}} -> tensor<32x5xf32>
func.func @equation(%a: tensor<42x42xf32>, %b: tensor<42x5xf32>) -> tensor<42x5xf32> {
  %x = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<42x42xf32>, tensor<42x5xf32>) -> tensor<42x5xf32>
  return %x : tensor<42x5xf32>
}

// Halves of the columns, each with all rows that are left.
// CHECK-LABEL: func.func @panels
// CHECK: stablehlo.lu_in_place %{{.*}} : tensor<44x33xf32>
// CHECK: stablehlo.gather
// CHECK: "stablehlo.triangular_solve"{{.*}} -> tensor<32x10xf32>
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.lu_in_place %{{.*}} : tensor<12x11xf32>
func.func @panels(%a: tensor<42x42xf32>) -> tensor<42x42xf32> {
  %f, %p, %o = stablehlo.lu %a : (tensor<42x42xf32>) -> (tensor<42x42xf32>, tensor<42xi32>, tensor<42xi32>)
  return %f : tensor<42x42xf32>
}
