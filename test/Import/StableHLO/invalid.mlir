// RUN: split-file %s %t
// RUN: %python %S/Inputs/write_safetensors.py %t/none.safetensors v:F32:4
// RUN: %python %S/Inputs/write_safetensors.py %t/shape.safetensors w:F32:2,2
// RUN: %python %S/Inputs/write_safetensors.py %t/dtype.safetensors w:BF16:4
// DEFINE: %{import} = not llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/good.mlir 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: %{import} %t/good.mlir --weights %t/none.safetensors 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %{import} %t/good.mlir --weights %t/shape.safetensors 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: %{import} %t/good.mlir --weights %t/dtype.safetensors 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: %{import} %t/good.mlir --config %t/init.toml --set data.inputs.xs=0 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: %{import} %t/good.mlir --mesh dta=2 --config %t/init.toml 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: %{import} %t/good.mlir --config %t/init.toml --set training.recompute=some 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RUN: %{import} %t/good.mlir --config %t/init.toml --set training.recompute=0 2>&1 | FileCheck %s --check-prefix=NONE-OF
// NONE-OF: {{^}}llmc: error[usage]: expected 'training.recompute' to be "none", "all" or a number of blocks, got "0"{{$}}
// RUN: llmc compile --compile-to=import -o - --set data.inputs.x=0 %t/good.mlir --config %t/init.toml --set training.recompute=1 | FileCheck %s --check-prefix=EACH
// EACH: recompute(<every, 1>)
// RUN: %{import} %t/good.mlir --config %t/init.toml --set data.inputs.one=0 --set data.inputs.two=0 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: {{^}}llmc: error[usage]: expected an argument for 'data.inputs.one', got none of that name{{$}}
// RUN: %{import} %t/tokens.mlir 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: {{^}}llmc: error[diagnosed]: "tokens": argument 0 ('tokens') expected to be an input of [data.inputs] or a float parameter, got tensor<4xi32> (integers that are weights are named in training.frozen){{$}}
// RUN: not llmc train --set data.inputs.x=0 %t/count.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: {{^}}llmc: error[diagnosed]: {{.*}}count.mlir:1:1: expected the first result to be the loss, a float scalar, got tensor<i32> (a graph without loss or parameters runs by --entry forward){{$}}
// RUN: llmc compile --compile-to=import -o - --set data.inputs.x=0 %t/count.mlir | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: -> (tensor<i32> {dist.port = #dist.port<output "result0">})
// RUN: %{import} %t/names.mlir 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: %{import} %t/again.mlir --config %t/init.toml 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: %{import} %t/tokens.mlir --set data.inputs.token=0 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: %{import} %t/scalar.mlir 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not llmc train --set data.inputs.x=0 %t/vector.mlir 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: %{import} %t/nothing.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %{import} %t/several.mlir 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: %{import} %t/private.mlir 2>&1 | FileCheck %s --check-prefix=PRIVATE
// RUN: %{import} %t/recursive.mlir 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: %{import} %t/extern.mlir 2>&1 | FileCheck %s --check-prefix=EXTERN
// INIT: llmc: error[usage]: expected an {{\[\[init\]\]}} pattern for parameter 'w', got none that matches (add {{\[\[init\]\]}} match = "*" draw = "normal", or give --weights)
// NONE: llmc: error[malformed]: {{.*}}none.safetensors: expected a tensor 'w', got none of that name
// SHAPE: llmc: error[malformed]: {{.*}}shape.safetensors: expected 'w' to have the shape of tensor<4xf32>, got [2, 2]
// DTYPE: llmc: error[malformed]: {{.*}}dtype.safetensors: expected 'w' of f32, got bf16
// INPUT: llmc: error[usage]: expected an argument for 'data.inputs.xs', got none of that name; did you mean 'x'?
// AXIS: llmc: error[usage]: --mesh: expected an axis of 'mesh.axes' (data), got 'dta', did you mean 'data'?
// RECOMPUTE: llmc: error[usage]: expected 'training.recompute' to be "none", "all" or a number of blocks, got "some"
// NAMES: llmc: error[diagnosed]: {{.*}}names.mlir:1:24: argument 0 expected to have a name in its location, got none (print the module with lowered.as_text(debug_info=True))
// AGAIN: llmc: error[diagnosed]: {{.*}}: argument 1 expected to have a name of its own, got 'p.w' again
// TOKENS: llmc: error[diagnosed]: {{.*}}: argument 0 ('tokens') expected to be an input of [data.inputs] or a float parameter, got tensor<4xi32>; did you mean input 'token'?
// SCALAR: llmc: error[diagnosed]: {{.*}}: argument 0 ('x') expected to have a batch dimension, got tensor<f32>
// VECTOR: llmc: error[diagnosed]: {{.*}}: expected the first result to be the loss, a float scalar, got tensor<4xf32>
// NOTHING: llmc: error[diagnosed]: {{.*}}: expected the first result to be the loss, a float scalar, got no result
// SEVERAL: llmc: error[diagnosed]: {{.*}}several.mlir:4:1: expected one public function or '@main', got several
// PRIVATE: llmc: error[diagnosed]: {{.*}}: expected a public function with a body, got none
// RECURSIVE: llmc: error[unsupported]: {{.*}}recursive.mlir:6:8: expected functions that do not call themselves, got 'f'
// EXTERN: llmc: error[unsupported]: {{.*}}extern.mlir:3:8: expected a call of a function with one block, got 'g'

//--- init.toml
[[init]]
match = "*"
draw = "ones"

//--- good.mlir
func.func public @main(%arg0: tensor<4xf32> loc("p['w']"), %arg1: tensor<4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

//--- names.mlir
func.func public @main(%arg0: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  return %zero : tensor<f32>
}

//--- again.mlir
func.func public @main(%arg0: tensor<4xf32> loc("p['w']"), %arg1: tensor<4xf32> loc("p.w"), %arg2: tensor<4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  return %zero : tensor<f32>
}

//--- tokens.mlir
func.func public @main(%arg0: tensor<4xi32> loc("tokens"), %arg1: tensor<4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  return %zero : tensor<f32>
}

//--- scalar.mlir
func.func public @main(%arg0: tensor<f32> loc("x")) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

//--- vector.mlir
func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}

//--- count.mlir
func.func public @main(%arg0: tensor<4xi32> loc("x")) -> tensor<i32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  return %0 : tensor<i32>
}

//--- nothing.mlir
func.func public @main(%arg0: tensor<4xf32> loc("x")) {
  return
}

//--- several.mlir
func.func public @one(%arg0: tensor<f32> loc("x")) -> tensor<f32> {
  return %arg0 : tensor<f32>
}
func.func public @two(%arg0: tensor<f32> loc("x")) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

//--- private.mlir
func.func private @main(%arg0: tensor<f32> loc("x")) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

//--- recursive.mlir
func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- extern.mlir
func.func private @g(tensor<4xf32>) -> tensor<4xf32>
func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = call @g(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
