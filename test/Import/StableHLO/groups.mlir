// RUN: split-file %s %t
// RUN: %python %S/Inputs/write_safetensors.py %t/w.safetensors embed:F32:8,4 up:F32:4,16 down:F32:16,4 bias:F32:4
// DEFINE: %{import} = llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --compile-to=import -o -
// RUN: %{import} --config %t/groups.toml | FileCheck %t/groups.toml
// RUN: %{import} --set optimizer.name=muon | FileCheck %s --check-prefix=MUON
// RUN: %{import} --set training.max_value=0.5 --set training.average=0.75 | FileCheck %s --check-prefix=MARKS
// RUN: not %{import} --config %t/none.toml 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %{import} --config %t/foreign.toml 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not %{import} --config %t/word.toml 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not %{import} --set training.max_value=0.5 --set training.max_norm=1 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not %{import} --set training.average=1 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: not %{import} --set optimizer.path=%t/equal.mlir 2>&1 | FileCheck %s --check-prefix=EQUAL
// RUN: not %{import} --set optimizer.path=%t/line.mlir 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: %{import} --config %t/groups.toml --print-config | FileCheck %s --check-prefix=PRINT
// MUON-DAG: dist.state @embed : {{.*}}role = parameter{{.*}}
// MUON-DAG: dist.state @up : {{.*}}optimizer = @optimizer.muon.wide}
// MUON-DAG: dist.state @bias : {{.*}}optimizer = @optimizer.muon}
// MUON: dist.training {{.*}} optimizer(@optimizer.muon.tall)
// MARKS: dist.training @train {{.*}} {dist.average = 7.500000e-01 : f64, dist.clip_value = 5.000000e-01 : f64}
// NONE: error[usage]: {{.*}}none.toml:3:1: expected a group that matches a parameter, got match = "up", which matches none that no group before it has
// FOREIGN: error[usage]: optimizer 'lion' has no constant 'eps'
// WORD: error[usage]: {{.*}}word.toml:2:8: expected 'group[0].name' to be one of "", sgd, momentum, adamw, lion, adafactor, muon, got "lionn", did you mean "lion"?
// BOTH: error[usage]: expected one of 'training.max_norm' and 'training.max_value', got both
// SHARE: error[usage]: expected 'training.average' to be below 1, got 1
// EQUAL: error[diagnosed]: {{.*}}equal.mlir:1:1: expected sizes of a parameter that are all different beside 'dist.sizes', got tensor<2x2xf32>
// LINE: error[diagnosed]: {{.*}}line.mlir:1:1: expected a parameter of at least two dims beside dist.sizes = "wide", got tensor<2xf32>
// PRINT: group[0].max_rank {{ *}}= 1 {{ *}}# {{.*}}groups.toml:
// PRINT: group[2].constants.beta2 {{ *}}= 0.9 {{ *}}# {{.*}}groups.toml:

//--- groups.toml
# The first group that matches counts; the recipe's optimizer is that of the
# first parameter, and the others that differ name theirs.
# CHECK-DAG: dist.state @embed : {{[^>]*>}} {role = parameter, source = #dist.file<{{[^>]*>}}} loc
# CHECK-DAG: dist.state @up : {{.*}}optimizer = @optimizer.adamw_0}
# CHECK-DAG: dist.state @down : {{.*}}optimizer = @optimizer.lion}
# CHECK-DAG: dist.state @bias : {{.*}}optimizer = @optimizer.adamw_1}
# CHECK: func.func private @optimizer.adamw(
# CHECK-NEXT: stablehlo.constant dense<8.000000e-01>
# CHECK: func.func private @optimizer.adamw_0(
# CHECK: func.func private @optimizer.lion(
# CHECK-NEXT: %[[TENTH:.*]] = stablehlo.constant dense<1.000000e-01>
# CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[TENTH]]
[optimizer]
beta1 = 0.9
weight_decay = 0.1

[[group]]
max_rank = 1
weight_decay = 0.0

[[group]]
match = "down"
name = "lion"
lr_share = 0.1

[[group]]
match = "embed"
beta1 = 0.8
constants = {beta2 = 0.9}

//--- none.toml
[[group]]

[[group]]
match = "up"
max_rank = 2

//--- foreign.toml
[[group]]
name = "lion"
eps = 1.0

//--- word.toml
[[group]]
name = "lionn"

//--- equal.mlir
func.func @mine(%p: tensor<2x2xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2x2xf32> {dist.port = #dist.port<gradient>}) -> (tensor<2x2xf32> {dist.port = #dist.port<parameter>}) attributes {dist.sizes = "any"} {
  return %p : tensor<2x2xf32>
}

//--- line.mlir
func.func @mine(%p: tensor<2xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2xf32> {dist.port = #dist.port<gradient>}) -> (tensor<2xf32> {dist.port = #dist.port<parameter>}) attributes {dist.sizes = "wide"} {
  return %p : tensor<2xf32>
}

//--- model.mlir
module @m {
  func.func public @main(%embed: tensor<8x4xf32> loc("embed"), %up: tensor<4x16xf32> loc("up"), %down: tensor<16x4xf32> loc("down"), %bias: tensor<4xf32> loc("bias"), %x: tensor<2x8xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot_general %x, %embed, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.dot_general %0, %up, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<2x16xf32>
    %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
    %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.multiply %2, %b : tensor<2x4xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}
