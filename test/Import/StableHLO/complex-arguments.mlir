// A complex argument or result is two real ones, "w.real" and "w.imag"; what names "w" means both.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o -
// RUN: %{import} %t/loss.mlir --config %t/loss.toml | FileCheck %s --check-prefix=LOSS --implicit-check-not="complex<"
// RUN: %{import} %t/loss.mlir --config %t/parts.toml | FileCheck %s --check-prefix=PARTS
// RUN: not %{import} %t/loss.mlir --config %t/twice.toml 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: %{import} %t/gradients.mlir --config %t/loss.toml | FileCheck %s --check-prefix=GRADIENTS
// RUN: %{import} %t/step.mlir --config %t/step.toml 2>&1 | FileCheck %s --check-prefix=STEP

// LOSS-DAG: dist.state @w.real : tensor<8xf32> {{.*}}constant{{.*}}2.0
// LOSS-DAG: dist.state @w.imag : tensor<8xf32> {{.*}}constant{{.*}}2.0
// LOSS: func.func public @loss(
// LOSS-SAME: #dist.port<parameter @w.real>
// LOSS-SAME: #dist.port<parameter @w.imag>
// LOSS-SAME: #dist.port<input "x.real"
// LOSS-SAME: #dist.port<input "x.imag"
// LOSS-SAME: #dist.port<output "1.y.real">
// LOSS-SAME: #dist.port<output "1.y.imag">

// PARTS-DAG: dist.state @w.real : tensor<8xf32> {{.*}}constant{{.*}}2.0
// PARTS-DAG: dist.state @w.imag : tensor<8xf32> {{.*}}zeros

// TWICE: error[usage]: expected 'x.imag' of [data.b.inputs] to be there once

// JAX's gradient is the conjugate of ours.
// GRADIENTS: func.func public @loss(
// GRADIENTS-SAME: #dist.port<gradient @w.real>
// GRADIENTS-SAME: #dist.port<gradient @w.imag>
// GRADIENTS: %[[REAL:.*]] = stablehlo.multiply
// GRADIENTS: %[[IMAG:.*]] = stablehlo.multiply
// GRADIENTS: %[[CONJUGATE:.*]] = stablehlo.negate %[[IMAG]]
// GRADIENTS: return %{{.*}}, %[[REAL]], %[[CONJUGATE]]

// New states are what the text says. Both parts are parameters, though the loss has one alone.
// STEP: func.func public @step.function(
// STEP-SAME: #dist.port<parameter @w.real>
// STEP-SAME: #dist.port<parameter @w.imag>
// STEP-NOT: stablehlo.negate
// STEP: return

//--- loss.toml
[data.x]
kind = "array"
[[init]]
match = "w"
draw = "constant"
value = 2.0
[training]
drop = ["y"]

//--- parts.toml
[data.x]
kind = "array"
[[init]]
match = "w.imag"
draw = "zeros"
[[init]]
match = "w"
draw = "constant"
value = 2.0
[training]
drop = ["y.real", "y.imag"]

//--- twice.toml
[data.a]
kind = "array"
inputs = { x = 0 }
[data.b]
kind = "array"
inputs = { "x.imag" = 0 }

//--- step.toml
[data.x]
kind = "array"
[[init]]
match = "w"
draw = "zeros"

//--- loss.mlir
func.func public @main(%w: tensor<8xcomplex<f32>> loc("params['w']"), %x: tensor<4x8xcomplex<f32>> loc("x"))
    -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x8xcomplex<f32>> {jax.result_info = "result[1]['y']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  %1 = stablehlo.multiply %0, %x : tensor<4x8xcomplex<f32>>
  %2 = stablehlo.real %1 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  return %3, %1 : tensor<f32>, tensor<4x8xcomplex<f32>>
}

//--- gradients.mlir
func.func public @main(%w: tensor<8xcomplex<f32>> loc("params['w']"), %x: tensor<4x8xcomplex<f32>> loc("x"))
    -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8xcomplex<f32>> {jax.result_info = "result[1]['w']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.real %w : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.slice %x [0:1, 0:8] : (tensor<4x8xcomplex<f32>>) -> tensor<1x8xcomplex<f32>>
  %3 = stablehlo.reshape %2 : (tensor<1x8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %4 = stablehlo.convert %0 : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
  %5 = stablehlo.multiply %4, %3 : tensor<8xcomplex<f32>> loc("jit(f)/transpose(jvp())/mul")
  return %1, %5 : tensor<f32>, tensor<8xcomplex<f32>>
}

//--- step.mlir
func.func public @main(%w: tensor<8xcomplex<f32>> {tf.aliasing_output = 1 : i32} loc("params['w']"),
                       %x: tensor<4x8xcomplex<f32>> loc("x"))
    -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8xcomplex<f32>> {jax.result_info = "result[1]['w']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.real %w : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.slice %x [0:1, 0:8] : (tensor<4x8xcomplex<f32>>) -> tensor<1x8xcomplex<f32>>
  %3 = stablehlo.reshape %2 : (tensor<1x8xcomplex<f32>>) -> tensor<8xcomplex<f32>> loc("jit(f)/transpose(jvp())/reshape")
  %4 = stablehlo.subtract %w, %3 : tensor<8xcomplex<f32>>
  return %1, %4 : tensor<f32>, tensor<8xcomplex<f32>>
}
