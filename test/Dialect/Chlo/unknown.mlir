// What a newer producer prints is kept: an op in its generic form, an attribute.
// RUN: llmc-opt %s | llmc-opt | FileCheck %s
// CHECK: %0 = "chlo.novel"(%arg0) <{a = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.negate %arg0 {novel = #chlo.novel} : tensor<4xf32>
func.func @unknown(%x: tensor<4xf32>) {
  %0 = "chlo.novel"(%x) <{a = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.negate %x {novel = #chlo.novel} : tensor<4xf32>
  return
}
