// Calls of LAPACK as JAX prints them on CPUs.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/calls.mlir | FileCheck %s
// RUN: %{import} %t/pivoted.mlir | FileCheck %s --check-prefix=PIVOTED
// RUN: not %{import} %t/oblong.mlir 2>&1 | FileCheck %s --check-prefix=OBLONG
// RUN: not %{import} %t/count.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not %{import} %t/eigen.mlir 2>&1 | FileCheck %s --check-prefix=EIGEN
// RUN: not %{import} %t/singular.mlir 2>&1 | FileCheck %s --check-prefix=SINGULAR
// RUN: not %{import} %t/orthogonal.mlir 2>&1 | FileCheck %s --check-prefix=ORTHOGONAL
// RUN: not %{import} %t/letter.mlir 2>&1 | FileCheck %s --check-prefix=LETTER
// RUN: not %{import} %t/silent.mlir 2>&1 | FileCheck %s --check-prefix=SILENT
// RUN: not %{import} %t/old.mlir 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not %{import} %t/info.mlir 2>&1 | FileCheck %s --check-prefix=INFO
// RUN: not %{import} %t/shape.mlir 2>&1 | FileCheck %s --check-prefix=SHAPE

// The second result of a factor is 0 where its last element is a number.
// CHECK: %[[L:.*]] = stablehlo.cholesky %{{.*}}, lower = true : tensor<2x4x4xf32>
// CHECK: stablehlo.slice %[[L]] [0:2, 3:4, 3:4]
// CHECK: stablehlo.compare EQ
// CHECK: stablehlo.select
// CHECK: "stablehlo.triangular_solve"(%[[L]], %{{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
// CHECK: %[[U:.*]] = stablehlo.cholesky %{{.*}} : tensor<2x4x4xf32>
// CHECK: "stablehlo.triangular_solve"(%[[U]], %{{.*}}) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}>

// LAPACK numbers rows from 1 on; the last result is the number of the first pivot that is 0.
// PIVOTED: %[[F:.*]], %[[P:.*]], %{{.*}} = stablehlo.lu %{{.*}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2x4xi32>)
// PIVOTED: %[[N:.*]] = stablehlo.add %[[P]],
// PIVOTED: stablehlo.compare EQ, %[[F]],
// PIVOTED: %[[FIRST:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.minimum across dimensions = [1, 2]
// PIVOTED: %[[LAST:.*]] = stablehlo.select
// PIVOTED: return %[[F]], %[[N]], %[[LAST]]
// OBLONG: {{^}}llmc: error[unsupported]: {{.*}}oblong.mlir:2:10: 'stablehlo.custom_call' op expected 'lapack_dgetrf_ffi' of matrices with as many rows as columns, got 'tensor<4x3xf64>'{{$}}
// COUNT: {{^}}llmc: error[unsupported]: {{.*}}count.mlir:2:8: 'stablehlo.custom_call' op expected 'lapack_sgetrf_ffi' of tensors, 1 operands and 3 results, got 1 and 1{{$}}
// EIGEN: {{^}}llmc: error[unsupported]: {{.*}}eigen.mlir:2:10: 'stablehlo.custom_call' op expected a custom call that annotates a value, got 'lapack_ssyevd_ffi', which llmc does not have (it has no eigenvalues: use jnp.linalg.slogdet, jnp.trace or powers of the matrix, or compute them before the model){{$}}
// SINGULAR: {{^}}llmc: error[unsupported]: {{.*}}singular.mlir:2:10: 'stablehlo.custom_call' op expected a custom call that annotates a value, got 'lapack_dgesdd_ffi', which llmc does not have (it has no singular values: for least squares use jnp.linalg.solve(x.T @ x, x.T @ y), else powers of x.T @ x, or compute them before the model){{$}}
// ORTHOGONAL: {{^}}llmc: error[unsupported]: {{.*}}orthogonal.mlir:2:10: 'stablehlo.custom_call' op expected a custom call that annotates a value, got 'lapack_sgeqrf_ffi', which llmc does not have (it has no QR: use jnp.linalg.cholesky(x.T @ x) and jax.scipy.linalg.solve_triangular){{$}}
// LETTER: {{^}}llmc: error[unsupported]: {{.*}}letter.mlir:2:8: 'stablehlo.custom_call' op expected 'uplo' of 'lapack_strsm_ffi' to be the code of a letter of 'LU', got 78{{$}}
// SILENT: {{^}}llmc: error[unsupported]: {{.*}}silent.mlir:2:10: 'stablehlo.custom_call' op expected 'uplo' of 'lapack_spotrf_ffi' to be the code of a letter of 'LU', got nothing{{$}}
// OLD: {{^}}llmc: error[unsupported]: {{.*}}old.mlir:2:8: 'stablehlo.custom_call' op expected 'lapack_spotrf_ffi' of tensors, 1 operands and 2 results, got 1 and 1{{$}}
// INFO: {{^}}llmc: error[unsupported]: {{.*}}info.mlir:2:10: 'stablehlo.custom_call' op expected a last result of 'lapack_spotrf_ffi' of i32 that has an element for each matrix, got 'tensor<4xi32>'{{$}}
// SHAPE: {{^}}llmc: error[malformed]: {{.*}}shape.mlir:2:8: 'stablehlo.custom_call' op expected 'lapack_strsm_ffi' of types that fit, got others: 'stablehlo.triangular_solve' op expected an operand b of shape [4, 4], got [3, 4]{{$}}

//--- calls.mlir
func.func public @main(%x: tensor<2x4x4xf32> loc("x")) -> (tensor<2xi32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=2, j=4, k=4, l=4, m=4}, custom>} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  %1 = stablehlo.custom_call @lapack_strsm_ffi(%0#0, %x) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]} : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %2:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {api_version = 4 : i32, backend_config = {uplo = 85 : ui8}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  %3 = stablehlo.custom_call @lapack_strsm_ffi(%2#0, %x) {mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}} : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %0#1, %1, %3 : tensor<2xi32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
}

//--- pivoted.mlir
func.func public @main(%x: tensor<2x4x4xf32> loc("x")) -> (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2xi32>
}

//--- oblong.mlir
func.func public @main(%x: tensor<4x3xf64> loc("x")) -> tensor<4x3xf64> {
  %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%x) : (tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<3xi32>, tensor<i32>)
  return %0#0 : tensor<4x3xf64>
}

//--- count.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- eigen.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4xf32> {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%x) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>)
  return %0#1 : tensor<4xf32>
}

//--- singular.mlir
func.func public @main(%x: tensor<4x4xf64> loc("x")) -> tensor<4xf64> {
  %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%x) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>, tensor<4x4xf64>, tensor<4x4xf64>, tensor<i32>)
  return %0#1 : tensor<4xf64>
}

//--- orthogonal.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

//--- letter.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%x, %x) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 78 : ui8}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- silent.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}

//--- old.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- info.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>)
  return %0#0 : tensor<4x4xf32>
}

//--- shape.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %y: tensor<3x4xf32> loc("y")) -> tensor<3x4xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%x, %y) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
