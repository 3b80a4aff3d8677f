// The file is written exactly as it is printed, so the text itself is the check.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -

module {
  func.func @one(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.compare LT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }

  // A key and a payload; the dimension counted from the last.
  func.func @two(%arg0: tensor<8xui8>, %arg1: tensor<8xbf16>) -> (tensor<8xui8>, tensor<8xbf16>) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = -1 : i64}> ({
    ^bb0(%arg2: tensor<ui8>, %arg3: tensor<ui8>, %arg4: tensor<bf16>, %arg5: tensor<bf16>):
      %1 = stablehlo.compare GT, %arg2, %arg3 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<8xui8>, tensor<8xbf16>) -> (tensor<8xui8>, tensor<8xbf16>)
    return %0#0, %0#1 : tensor<8xui8>, tensor<8xbf16>
  }

  func.func @greatest(%arg0: tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
    return %values, %indices : tensor<4x3xf32>, tensor<4x3xi32>
  }
}
