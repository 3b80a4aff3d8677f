// RUN: llmc-opt %s --llmc-normalize --llmc-raise --llmc-find-blocks --llmc-split-contractions --llmc-differentiate | FileCheck %s

// An entry's function may be a declaration: there is nothing in it to change.
// CHECK-LABEL: module
// CHECK-NEXT: func.func private @declared(tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">})
// CHECK-NEXT: func.func private @defined
// CHECK-NEXT: stablehlo.tanh %arg0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
func.func private @declared(tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">})
func.func private @defined(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %y = stablehlo.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @a function(@declared)
dist.entry @b function(@defined)
