// RUN: split-file %s %t
// RUN: llmc compile %t/model.mlir --config %t/strategy.toml --compile-to=import -o - | FileCheck %t/model.mlir
// RUN: %python %S/Inputs/write_safetensors.py %t/weights.safetensors layers.0.b:F32:4 layers.0.w:F32:2,4 scale:F32:
// RUN: llmc compile %t/model.mlir --config %t/strategy.toml --weights %t/weights.safetensors --compile-to=import -o - | FileCheck %t/model.mlir --check-prefix=WEIGHTS

//--- strategy.toml
[data.inputs]
x = 0
y = 3

[[init]]
match = "*.b"
draw = "zeros"

[[init]]
match = "layers.*"
draw = "truncated_normal"
std = 0.5
mean = 2.0

[[init]]
match = "scale"
draw = "uniform"
low = -1.0
high = 4.0

# A tensor that is no state and no metric is left out of training.
[training]
drop = ["logits"]

//--- model.mlir
// Names are the paths of the leaves; the first pattern that matches a name
// draws it; what a result of the same path replaces is carried. What the text
// says to other tools is gone.

// CHECK-DAG: dist.state @layers.0.b : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
// CHECK-DAG: dist.state @layers.0.w : tensor<2x4xf32> {role = parameter, source = #dist.draw<truncated_normal, 5.000000e-01, 2.000000e+00>}
// CHECK-DAG: dist.state @scale : tensor<f32> {role = parameter, source = #dist.draw<uniform, -1.000000e+00, 4.000000e+00>}
// CHECK-DAG: dist.state @seen : tensor<f32> {role = carried, source = #dist.draw<zeros>}
// CHECK: func.func public @loss(
// CHECK-SAME: %arg0: tensor<4xf32> {dist.port = #dist.port<parameter @layers.0.b>}
// CHECK-SAME: %arg1: tensor<2x4xf32> {dist.port = #dist.port<parameter @layers.0.w>}
// CHECK-SAME: %arg2: tensor<f32> {dist.port = #dist.port<parameter @scale>}
// CHECK-SAME: %arg3: tensor<f32> {dist.port = #dist.port<carried @seen>}
// CHECK-SAME: %arg4: tensor<3x2xf32> {dist.port = #dist.port<input "x", data = <"data">>}
// CHECK-SAME: %arg5: tensor<3xi32> {dist.port = #dist.port<input "y", data = <"data", offset = 3>>}
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<f32> {dist.port = #dist.port<carried @seen>}, tensor<3x4xf32> {dist.port = #dist.port<output "2.logits">})
// CHECK: dist.training @train forward(@loss) optimizer(@optimizer.adamw)
// CHECK: dist.entry @forward function(@loss)

// Bytes of the file, its header of 8 + 200 B before them.
// WEIGHTS-DAG: dist.state @layers.0.b : tensor<4xf32> {role = parameter, source = #dist.file<"{{.*}}weights.safetensors", [[#OFFSET:]], 16>}
// WEIGHTS-DAG: dist.state @layers.0.w : tensor<2x4xf32> {role = parameter, source = #dist.file<"{{.*}}weights.safetensors", [[#OFFSET+16]], 32>}
// WEIGHTS-DAG: dist.state @scale : tensor<f32> {role = parameter, source = #dist.file<"{{.*}}weights.safetensors", [[#OFFSET+48]], 4>}
// WEIGHTS-DAG: dist.state @seen : tensor<f32> {role = carried, source = #dist.draw<zeros>}
module @jit_f {
  func.func public @main(%arg0: tensor<4xf32> loc("params['layers'][0]['b']"), %arg1: tensor<2x4xf32> loc("params['layers'][0].w"), %arg2: tensor<f32> {mhlo.memory_kind = "device"} loc("params['scale']"), %arg3: tensor<f32> loc("state['seen']"), %arg4: tensor<3x2xf32> loc("x"), %arg5: tensor<3xi32> loc("batch['y']"))
      -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]['seen']", mhlo.memory_kind = "device"}, tensor<3x4xf32> {jax.result_info = "result[2]['logits']"}) {
    %0 = stablehlo.dot_general %arg4, %arg1, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<3x4xf32>
    %3 = stablehlo.add %arg3, %arg2 : tensor<f32>
    return %arg2, %3, %2 : tensor<f32>, tensor<f32>, tensor<3x4xf32>
  }
}
