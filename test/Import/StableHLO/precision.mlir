// RUN: split-file %s %t
// RUN: %python %S/Inputs/write_safetensors.py %t/w.safetensors a:F32:4,4 b:F32:4,4
// DEFINE: %{import} = llmc compile %t/model.mlir --weights %t/w.safetensors --set data.inputs.x=0 --compile-to=import -o -
// RUN: %{import} --config %t/tables.toml | FileCheck %t/tables.toml
// RUN: %{import} --set training.precision=f16 | FileCheck %s --check-prefix=HALF
// RUN: %{import} --set training.precision=f16 --set training.loss_scale=4 --set training.loss_scale_steps=7 | FileCheck %s --check-prefix=GIVEN
// RUN: %{import} --set training.loss_scale=8 | FileCheck %s --check-prefix=ALONE
// RUN: %{import} --set training.precision=bf16 --set training.saved=narrow | FileCheck %s --check-prefix=SAVED
// RUN: not %{import} --set training.saved=narrow 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not %{import} --set training.loss_scale=3 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not %{import} --config %t/none.toml 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %{import} --set training.precision=f8 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: %{import} --set training.precision=fp8 --set training.fp8_scaling=delayed --set training.fp8_margin=1 | FileCheck %s --check-prefix=EIGHT
// RUN: %{import} --set training.precision=fp8 --set training.fp8_history=4 --set training.saved=narrow | FileCheck %s --check-prefix=CURRENT
// RUN: not %{import} --set training.fp8_history=4 2>&1 | FileCheck %s --check-prefix=NOFP8
// EIGHT: dist.training @train {{.*}} {dist.scaling = array<i64: 16, 1>, precision = f8E4M3FN}
// CURRENT: dist.training @train {{.*}} {dist.saved_precision = bf16, dist.scaling = array<i64: 0, 0>, precision = f8E4M3FN}
// NOFP8: error[usage]: {{.*}}: expected 'training.fp8_history' beside a precision of fp8, got none
// HALF: dist.training @train {{.*}} {loss_scale = array<f64: 6.553600e+04, 2.000000e+03>, precision = f16}
// GIVEN: dist.training @train {{.*}} {loss_scale = array<f64: 4.000000e+00, 7.000000e+00>, precision = f16}
// ALONE: dist.training @train {{.*}} {loss_scale = array<f64: 8.000000e+00, 2.000000e+03>}
// SAVED: dist.training @train {{.*}} {dist.saved_precision = bf16, precision = bf16}
// WIDE: error[usage]: expected 'training.precision' to be bf16, f16 or fp8 beside 'training.saved' narrow, got "model"
// POWER: error[usage]: expected 'training.loss_scale' to be a power of two from 1 to 2^63, got 3
// NONE: error[usage]: expected 'precision[1].match' to match a parameter, got "c*", which matches none
// WORD: expected {{.*}}training.precision{{.*}} to be one of model, f64, bf16, f16, fp8, got "f8"

//--- tables.toml
# The first table that matches counts; inputs have no mark.
# CHECK: dist.state @a : tensor<4x4xf32> {role = parameter, {{.*}}} attributes {dist.precision = f16}
# CHECK: dist.state @b : tensor<4x4xf32> {role = parameter, {{.*}}} attributes {dist.precision = f32}
# CHECK: dist.training @train {{.*}} {precision = bf16}
[training]
precision = "bf16"

[[precision]]
match = "a"
type = "f16"

[[precision]]
match = "*"

//--- none.toml
[[precision]]
match = "a"

[[precision]]
match = "c*"
type = "bf16"

//--- model.mlir
module @m {
  func.func public @main(%a: tensor<4x4xf32> loc("a"), %b: tensor<4x4xf32> loc("b"), %x: tensor<2x4xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}
