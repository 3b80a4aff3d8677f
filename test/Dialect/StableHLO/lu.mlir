// The text reads as it is printed. StableHLO has no such ops.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
module {
  func.func @pivoted(%arg0: tensor<3x3xf64>, %arg1: tensor<2x5x0x0xf32>, %arg2: tensor<2x1x1xbf16>, %arg3: tensor<2x5x4xf64>) -> tensor<3xi32> {
    %factors, %pivots, %permutation = stablehlo.lu %arg0 : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<3xi32>)
    %factors_0, %pivots_1, %permutation_2 = stablehlo.lu %arg1 : (tensor<2x5x0x0xf32>) -> (tensor<2x5x0x0xf32>, tensor<2x5x0xi32>, tensor<2x5x0xi32>)
    %factors_3, %pivots_4, %permutation_5 = stablehlo.lu %arg2 : (tensor<2x1x1xbf16>) -> (tensor<2x1x1xbf16>, tensor<2x1xi32>, tensor<2x1xi32>)
    %0 = stablehlo.lu_in_place %arg3 : tensor<2x5x4xf64>
    return %pivots : tensor<3xi32>
  }
}
