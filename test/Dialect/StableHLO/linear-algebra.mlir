// The text reads as it is printed.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
module {
  func.func @factors(%arg0: tensor<3x3xf64>, %arg1: tensor<2x5x0x0xf32>, %arg2: tensor<2x1x1xbf16>) -> tensor<3x3xf64> {
    %0 = stablehlo.cholesky %arg0 : tensor<3x3xf64>
    %1 = stablehlo.cholesky %arg0, lower = true : tensor<3x3xf64>
    %2 = stablehlo.cholesky %arg1, lower = true : tensor<2x5x0x0xf32>
    %3 = stablehlo.cholesky %arg2 : tensor<2x1x1xbf16>
    return %1 : tensor<3x3xf64>
  }
  func.func @solutions(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x3x4xf32>, %arg2: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %1 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %2 = "stablehlo.triangular_solve"(%arg0, %arg2) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    return %2 : tensor<2x4x3xf32>
  }
}
