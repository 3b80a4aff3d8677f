// The file is written exactly as it is printed, so the text itself is the check.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  func.func @functions(%arg0: tensor<4x8xf32>, %arg1: tensor<4xui32>) {
    %0 = chlo.erf %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %1 = chlo.erfc %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %2 = chlo.square %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %3 = chlo.acos %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %4 = chlo.acosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %5 = chlo.asin %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %6 = chlo.asinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %7 = chlo.atan %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %8 = chlo.atanh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %9 = chlo.cosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %10 = chlo.sinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %11 = chlo.erf_inv %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %12 = chlo.lgamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %13 = chlo.digamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %14 = chlo.polygamma %arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %15 = chlo.next_after %arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %16 = chlo.mulhi %arg1, %arg1 : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
    return
  }
}
