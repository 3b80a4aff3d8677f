// Complex numbers and transforms, printed as they are read.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  // What makes them, takes them apart and compares them.
  func.func @parts(%arg0: tensor<4xf32>, %arg1: tensor<4xf64>) {
    %cst = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<4xcomplex<f32>>
    %0 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
    %1 = stablehlo.complex %arg1, %arg1 : tensor<4xcomplex<f64>>
    %2 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %3 = stablehlo.imag %1 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %4 = stablehlo.real %arg0 : tensor<4xf32>
    %5 = stablehlo.abs %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %6 = stablehlo.compare EQ, %0, %cst, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
    %7 = stablehlo.select %6, %0, %cst : tensor<4xi1>, tensor<4xcomplex<f32>>
    %8 = stablehlo.convert %7 : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f64>>
    %9 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xcomplex<f64>>
    %10 = stablehlo.exponential %8 : tensor<4xcomplex<f64>>
    %11 = stablehlo.power %9, %10 : tensor<4xcomplex<f64>>
    return
  }

  // Transforms over the last dimensions.
  func.func @transforms(%arg0: tensor<2x3x8xf32>, %arg1: tensor<2x3x5xcomplex<f64>>) {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<2x3x8xf32>) -> tensor<2x3x5xcomplex<f32>>
    %1 = stablehlo.fft %arg1, type = FFT, length = [3, 5] : (tensor<2x3x5xcomplex<f64>>) -> tensor<2x3x5xcomplex<f64>>
    %2 = stablehlo.fft %arg1, type = IFFT, length = [2, 3, 5] : (tensor<2x3x5xcomplex<f64>>) -> tensor<2x3x5xcomplex<f64>>
    %3 = stablehlo.fft %arg1, type = IRFFT, length = [3, 9] : (tensor<2x3x5xcomplex<f64>>) -> tensor<2x3x9xf64>
    return
  }

  // Functions of scalars, loops and branches.
  func.func @regions(%arg0: tensor<4xcomplex<f32>>, %arg1: tensor<complex<f32>>, %arg2: tensor<i1>) {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
    %1 = stablehlo.while(%iterArg = %0) : tensor<complex<f32>>
    cond {
      stablehlo.return %arg2 : tensor<i1>
    } do {
      %2 = stablehlo.multiply %iterArg, %iterArg : tensor<complex<f32>>
      stablehlo.return %2 : tensor<complex<f32>>
    }
    return
  }
}
