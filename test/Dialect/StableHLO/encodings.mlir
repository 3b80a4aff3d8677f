// Layouts live in encodings; the file is written as it is printed.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -

module {
  // Types may differ in encodings, which no verifier reads; the functional form shows
  // them, and a constant has its own type.
  func.func @encodings(%arg0: tensor<4x8xf32, "a">, %arg1: tensor<4x8xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : (tensor<4x8xf32, "a">, tensor<4x8xf32>) -> tensor<4x8xf32, "b">
    %1 = stablehlo.tanh %arg0 : (tensor<4x8xf32, "a">) -> tensor<4x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4xf32> -> tensor<4xf32, "a">
    %2 = stablehlo.optimization_barrier %arg0 : (tensor<4x8xf32, "a">) -> tensor<4x8xf32>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32, "a">) -> tensor<8x4xf32>
    %4 = stablehlo.compare EQ, %arg0, %arg1 : (tensor<4x8xf32, "a">, tensor<4x8xf32>) -> tensor<4x8xi1, "c">
    %5 = stablehlo.select %4, %arg0, %arg1 : (tensor<4x8xi1, "c">, tensor<4x8xf32, "a">, tensor<4x8xf32>) -> tensor<4x8xf32>
    return
  }
}
