// RUN: split-file %s %t
// RUN: %python %S/Inputs/write_safetensors.py %t/w.safetensors w:F32:4
// RUN: llmc compile %t/model.mlir --weights %t/w.safetensors --config %t/momentum.toml --compile-to=import -o - | FileCheck %t/momentum.toml
// RUN: llmc compile %t/model.mlir --weights %t/w.safetensors --config %t/own.toml --compile-to=import -o - | FileCheck %t/own.toml
// RUN: llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --set optimizer.name=adamw --set optimizer.eps=0.5 --compile-to=import -o - | FileCheck %t/model.mlir
// RUN: not llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --set optimizer.name=sgd --set optimizer.eps=0.5 --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not llmc compile %t/model.mlir --weights %t/w.safetensors --config %t/own.toml --set optimizer.constants.gian=2 --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --set optimizer.path=%t/own.mlir --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --set optimizer.path=%t/hyper.mlir --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=HYPER
// RUN: not llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --set optimizer.path=%t/constant.mlir --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --set optimizer.path=%t/two.mlir --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=TWO
// FOREIGN: llmc: error[usage]: optimizer 'sgd' has no constant 'eps'
// NEAR: llmc: error[usage]: {{.*}}has no constant 'gian', did you mean 'gain'?
// ABSENT: llmc: error[usage]: expected a value for 'optimizer.constants.gain', got none
// HYPER: llmc: error[diagnosed]: {{.*}}hyper.mlir:1:1: expected one of the hyper values lr, t, step and seed, got 'temperature'
// SCALAR: llmc: error[diagnosed]: {{.*}}constant.mlir:1:1: expected constant 'gain' to be a float scalar
// TWO: llmc: error[diagnosed]: {{.*}}two.mlir:1:1: expected a function that fits parameter 'w' of tensor<4xf32>, got none (a function on tensor<1xf32> fits every parameter; {{.*}}group{{.*}} gives some another optimizer)
// DEFINE: %{refused} = not llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --compile-to=import -o - --set optimizer.path=%t
// RUN: %{refused}/constant-int.mlir 2>&1 | FileCheck %t/constant-int.mlir
// RUN: %{refused}/constant-scalar.mlir 2>&1 | FileCheck %t/constant-scalar.mlir
// RUN: %{refused}/hyper-scalar.mlir 2>&1 | FileCheck %t/hyper-scalar.mlir
// RUN: %{refused}/hyper-rank.mlir 2>&1 | FileCheck %t/hyper-rank.mlir
// RUN: %{refused}/hyper-unsigned.mlir 2>&1 | FileCheck %t/hyper-unsigned.mlir
// RUN: %{refused}/hyper-encoding.mlir 2>&1 | FileCheck %t/hyper-encoding.mlir
// RUN: %{refused}/blocks.mlir 2>&1 | FileCheck %t/blocks.mlir
// RUN: %{refused}/declared.mlir 2>&1 | FileCheck %t/declared.mlir
// RUN: %{refused}/call.mlir 2>&1 | FileCheck %t/call.mlir

//--- momentum.toml
# The learning rate's rule comes from [schedule], constants from [optimizer].
# CHECK: dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 1.000000e-02, last = 1.000000e-03, warmup = 5, total = 50>
# CHECK-NOT: dist.hyper
# CHECK: func.func private @optimizer.momentum(%arg0: tensor<1xf32> {dist.port = #dist.port<parameter>} {{.*}}, %arg1: tensor<1xf32> {dist.port = #dist.port<gradient>} {{.*}}, %arg2: tensor<1xf32> {dist.port = #dist.port<moment "v">} {{.*}}, %arg3: tensor<f32> {dist.port = #dist.port<hyper @lr>} loc({{[^)]*}}))
# CHECK-NEXT: stablehlo.constant dense<5.000000e-01> : tensor<f32>
# CHECK-NEXT: stablehlo.constant dense<0.000000e+00> : tensor<f32>
# CHECK: dist.training @train forward(@loss) optimizer(@optimizer.momentum) microbatches(4) schedule(<1f1b>) clip(2.000000e+00) recompute(<every, 2>)
[data.inputs]
x = 0

[optimizer]
name = "momentum"
lr = 0.01
momentum = 0.5

[schedule]
name = "cosine"
warmup_steps = 5
min_lr = 0.001

[training]
steps = 50
microbatches = 4
max_norm = 2.0
recompute = "2"

//--- own.toml
# An own function, by a path relative to the configuration; it names t and
# step, which get their rules.
# CHECK-DAG: dist.hyper @lr : tensor<f32> = <warmup_linear, base = 3.000000e-04, total = 7>
# CHECK-DAG: dist.hyper @t : tensor<f32> = <step, base = 1.000000e+00>
# CHECK-DAG: dist.hyper @step : tensor<i32> = <step>
# CHECK-DAG: dist.hyper @seed : tensor<i64> = <seed>
# CHECK: func.func private @mine(
# CHECK-NEXT: stablehlo.constant dense<3.000000e+00> : tensor<f32>
# CHECK: optimizer(@mine)
[data.inputs]
x = 0

[optimizer]
path = "own.mlir"

[optimizer.constants]
gain = 3.0

[schedule]
name = "linear"
decay_steps = 7

//--- own.mlir
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %t: tensor<f32> {dist.port = #dist.port<hyper @t>}, %step: tensor<i32> {dist.port = #dist.port<hyper @step>}, %seed: tensor<i64> {dist.port = #dist.port<hyper @seed>}, %gain: tensor<f32> {dist.port = #dist.port<setting "gain">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %0 = stablehlo.broadcast_in_dim %gain, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.multiply %0, %g : tensor<1xf32>
  %2 = stablehlo.subtract %p, %1 : tensor<1xf32>
  return %2 : tensor<1xf32>
}

//--- hyper.mlir
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %t: tensor<f32> {dist.port = #dist.port<hyper @temperature>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- constant.mlir
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %t: tensor<1xf32> {dist.port = #dist.port<setting "gain">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- two.mlir
func.func @mine(%p: tensor<3xf32> {dist.port = #dist.port<parameter>}, %g: tensor<3xf32> {dist.port = #dist.port<gradient>}) -> (tensor<3xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<3xf32>
}
func.func @yours(%p: tensor<2x3xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2x3xf32> {dist.port = #dist.port<gradient>}) -> (tensor<2x3xf32> {dist.port = #dist.port<parameter>}) attributes {dist.sizes = "any"} {
  return %p : tensor<2x3xf32>
}

//--- constant-int.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}constant-int.mlir:2:1: expected constant 'gain' to be a float scalar{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %a: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<i32> {dist.port = #dist.port<setting "gain">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- constant-scalar.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}constant-scalar.mlir:2:1: expected constant 'gain' to be a float scalar{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %t: f32 {dist.port = #dist.port<setting "gain">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- hyper-scalar.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}hyper-scalar.mlir:2:1: expected hyper value 't' to be a scalar of a float or signless integer, got f32{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %a: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: f32 {dist.port = #dist.port<hyper @t>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- hyper-rank.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}hyper-rank.mlir:2:1: expected hyper value 't' to be a scalar of a float or signless integer, got tensor<1xf32>{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %a: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<1xf32> {dist.port = #dist.port<hyper @t>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- hyper-unsigned.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}hyper-unsigned.mlir:2:1: expected hyper value 't' to be a scalar of a float or signless integer, got tensor<ui32>{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %a: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<ui32> {dist.port = #dist.port<hyper @t>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- hyper-encoding.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}hyper-encoding.mlir:2:1: expected hyper value 't' to be a scalar of a float or signless integer, got tensor<f32, 1 : i32>{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %a: tensor<f32> {dist.port = #dist.port<hyper @lr>}, %t: tensor<f32, 1 : i32> {dist.port = #dist.port<hyper @t>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}

//--- blocks.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}blocks.mlir:2:1: expected an optimizer with one block, got 2{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
^after:
  return %p : tensor<1xf32>
}

//--- declared.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}declared.mlir:2:1: expected an optimizer with one block, got 0{{$}}
func.func private @mine(tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<gradient>}, tensor<f32> {dist.port = #dist.port<setting "gain">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>})

//--- call.mlir
// CHECK: {{^}}llmc: error[diagnosed]: {{.*}}call.mlir:2:1: expected an optimizer without calls, got one of 'mine'{{$}}
func.func @mine(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %0 = call @mine(%p, %g) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- model.mlir
// Given constants replace defaults.
// CHECK: func.func private @optimizer.adamw
// CHECK-NEXT: stablehlo.constant dense<0.899999976> : tensor<f32>
// CHECK-NEXT: stablehlo.constant dense<0.949999988> : tensor<f32>
// CHECK-NEXT: stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: stablehlo.constant dense<0.000000e+00> : tensor<f32>
func.func public @main(%arg0: tensor<4xf32> loc("x"), %arg1: tensor<4xf32> loc("p['w']")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
