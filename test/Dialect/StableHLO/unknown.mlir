// What a newer producer prints is kept; the file is written as it is printed.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  // What a newer producer prints is kept: an op in its generic form, an attribute,
  // also of an op that a reduction applies.
  func.func @unknown(%arg0: tensor<4xf32>) {
    %0 = "stablehlo.novel"(%arg0) <{a = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.add %arg0, %arg0 {mhlo.sharding = "{replicated}", novel = #stablehlo.novel<x = [1, {a}], "text">} : tensor<4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
     reducer(%arg1: tensor<f32>, %arg2: tensor<f32>) {
      %3 = stablehlo.add %arg1, %arg2 {note = 1 : i32} : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }
    return
  }
}
