// A transform is products with small matrices of roots of unity.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/one.mlir | FileCheck %s --check-prefix=ONE --implicit-check-not="complex<"
// RUN: %{import} %t/two.mlir | FileCheck %s --check-prefix=TWO --implicit-check-not="complex<"
// RUN: %{import} %t/inverse.mlir | FileCheck %s --check-prefix=INVERSE --implicit-check-not="complex<"
// RUN: %{import} %t/large.mlir | FileCheck %s --check-prefix=LARGE --implicit-check-not="complex<"

//--- one.mlir
// Four real numbers: a product for each part, of which half of the columns are there. No type narrows it.
// ONE: func.func public @{{.*}}(%[[X:.*]]: tensor<2x4xf32>
// ONE-DAG: %[[COS:.*]] = stablehlo.constant dense<{{\[}}[1.000000e+00, 1.000000e+00, 1.000000e+00], [1.000000e+00, 0.000000e+00, -1.000000e+00], [1.000000e+00, -1.000000e+00, 1.000000e+00], [1.000000e+00, 0.000000e+00, -1.000000e+00]]>
// ONE-DAG: %[[SIN:.*]] = stablehlo.constant dense<{{\[}}[{{.*}}], [{{.*}}, -1.000000e+00, {{.*}}], [{{.*}}], [{{.*}}, 1.000000e+00, {{.*}}]]>
// ONE: %[[REAL:.*]] = stablehlo.dot_general %[[X]], %[[COS]], contracting_dims = [1] x [0]{{.*}}algorithm
// ONE: %[[IMAG:.*]] = stablehlo.dot_general %[[X]], %[[SIN]], contracting_dims = [1] x [0]
// ONE-NOT: dot_general
// ONE: return %[[REAL]], %[[IMAG]]
func.func public @main(%x: tensor<2x4xf32> loc("x")) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<2x4xf32>) -> tensor<2x3xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %2 = stablehlo.imag %0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

//--- two.mlir
// 64 = 8 * 8: two steps with roots of unity between them, digits in reverse order at the end.
// TWO: func.func public @{{.*}}(%[[X:.*]]: tensor<2x64xf32>
// TWO: %[[ROWS:.*]] = stablehlo.reshape %[[X]] : (tensor<2x64xf32>) -> tensor<2x8x8xf32>
// TWO: stablehlo.dot_general %[[ROWS]], %{{.*}}, contracting_dims = [1] x [0]{{.*}} -> tensor<2x8x8xf32>
// TWO: stablehlo.broadcast_in_dim %{{.*}}, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<2x8x8xf32>
// TWO: stablehlo.dot_general %{{.*}}, contracting_dims = [1] x [0]{{.*}} -> tensor<2x8x5xf32>
// TWO: stablehlo.transpose %{{.*}}, dims = [0, 2, 1] : (tensor<2x8x5xf32>) -> tensor<2x5x8xf32>
// TWO: stablehlo.reshape %{{.*}} -> tensor<2x40xf32>
// TWO: stablehlo.slice %{{.*}} [0:2, 0:33]
func.func public @main(%x: tensor<2x64xf32> loc("x")) -> tensor<2x33xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [64] : (tensor<2x64xf32>) -> tensor<2x33xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2x33xcomplex<f32>>) -> tensor<2x33xf32>
  return %1 : tensor<2x33xf32>
}

//--- inverse.mlir
// Of an inverse with real results only the real parts are computed.
// INVERSE: stablehlo.concatenate
// INVERSE: %[[A:.*]] = stablehlo.dot_general
// INVERSE-NEXT: %[[B:.*]] = stablehlo.dot_general
// INVERSE-NEXT: %[[REAL:.*]] = stablehlo.subtract %[[A]], %[[B]]
// INVERSE-NOT: dot_general
// INVERSE: %[[Y:.*]] = stablehlo.divide %[[REAL]]
// INVERSE: return %[[Y]]
func.func public @main(%x: tensor<2x5xf32> loc("x")) -> tensor<2x8xf32> {
  %0 = stablehlo.complex %x, %x : tensor<2x5xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [8] : (tensor<2x5xcomplex<f32>>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

//--- large.mlir
// The matrix of a great prime is computed by the run, in f64.
// LARGE-DAG: stablehlo.iota dim = 0 : tensor<257x129xi64>
// LARGE-DAG: stablehlo.iota dim = 1 : tensor<257x129xi64>
// LARGE: stablehlo.remainder
// LARGE: stablehlo.cosine %{{.*}} : tensor<257x129xf64>
// LARGE: stablehlo.dot_general
func.func public @main(%x: tensor<257xf32> loc("x")) -> tensor<129xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [257] : (tensor<257xf32>) -> tensor<129xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<129xcomplex<f32>>) -> tensor<129xf32>
  return %1 : tensor<129xf32>
}
