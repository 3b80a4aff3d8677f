// Inputs are bound to sources of data, by their own name or by those that a source lists.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile %t/model.mlir --config %t/strategy.toml --compile-to=import -o -
// RUN: %{import} | FileCheck %t/model.mlir
// RUN: not %{import} --set data.series.inputs.earlier=0 2>&1 | FileCheck %t/model.mlir --check-prefix=NONE
// RUN: not %{import} --set data.inputs.mask=0 2>&1 | FileCheck %t/model.mlir --check-prefix=TWICE
// RUN: not %{import} --set data.mask.shuffle=true 2>&1 | FileCheck %t/model.mlir --check-prefix=ORDER
// RUN: not %{import} --set 'training.parameters=["mask", "params*"]' 2>&1 | FileCheck %t/model.mlir --check-prefix=PARAMETER

//--- strategy.toml
[data.mask]
kind = "array"
file = "rows.safetensors"
shuffle = false

[data.series]
kind = "array"
file = "rows.safetensors"
tensor = "values"
shuffle = false
inputs = {now = 0, next = 1}

[data.corpus]
file = "text.bin"
dtype = "u8"
inputs = {tokens = 2}

[[init]]
match = "*"

//--- model.mlir
// CHECK: func.func public @loss(
// CHECK-SAME: tensor<3x2xi1> {dist.port = #dist.port<input "mask", data = <"mask", kind = array, tensor = "mask", shuffle = false>>
// CHECK-SAME: tensor<3x2xf32> {dist.port = #dist.port<input "next", data = <"series", kind = array, tensor = "values", shuffle = false, offset = 1>>
// CHECK-SAME: tensor<3x2xf32> {dist.port = #dist.port<input "now", data = <"series", kind = array, tensor = "values", shuffle = false>>
// CHECK-SAME: tensor<3x2xi32> {dist.port = #dist.port<input "tokens", data = <"corpus", dtype = ui8, offset = 2>>
// NONE: expected an argument for 'data.series.inputs.earlier', got none of that name
// TWICE: expected one source of input 'mask', got 'data' and 'mask'
// ORDER: strategy.toml:10:11: expected 'data.series.shuffle' to be true as of 'mask', since row i of all arrays is one sample, got false
// PARAMETER: expected 'mask' of [data.mask.inputs] to be no parameter, got it in 'training.parameters' too
func.func public @main(%w: tensor<3x2xf32> loc("params['w']"), %mask: tensor<3x2xi1> loc("mask"),
                       %next: tensor<3x2xf32> loc("next"), %now: tensor<3x2xf32> loc("now"),
                       %tokens: tensor<3x2xi32> loc("tokens")) -> tensor<f32> {
  %0 = stablehlo.convert %tokens : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %1 = stablehlo.select %mask, %now, %next : tensor<3x2xi1>, tensor<3x2xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x2xf32>
  %3 = stablehlo.multiply %2, %w : tensor<3x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}
