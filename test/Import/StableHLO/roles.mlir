// What each argument is, and how its name becomes a symbol that cannot meet one of ours.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile %t/model.mlir --compile-to=import -o - --set data.inputs.x=0
// A float that nothing names is neither input nor parameter, unless one root argument alone is left.
// RUN: not %{import} --config %t/star.toml 2>&1 | FileCheck %t/model.mlir --check-prefix=OPEN
// RUN: %{import} --config %t/star.toml --set data.inputs.mask=0 | FileCheck %t/model.mlir --check-prefix=FED
// RUN: not %{import} --config %t/star.toml --set 'training.parameters=["params*"]' 2>&1 | FileCheck %t/model.mlir --check-prefix=HALF
// RUN: %{import} --config %t/star.toml --set 'training.parameters=["params.*", "mask"]' | FileCheck %t/model.mlir --check-prefix=BOTH
// RUN: %{import} --config %t/patterns.toml | FileCheck %t/model.mlir --check-prefix=BOTH
// RUN: %python %S/Inputs/write_safetensors.py %t/weights.safetensors w:F32:4 loss:F32:4 mask:F32:4
// RUN: %{import} --weights %t/weights.safetensors | FileCheck %t/model.mlir --check-prefix=BOTH
// RUN: not %{import} --config %t/star.toml --set 'training.parameters=["parms*"]' 2>&1 | FileCheck %t/model.mlir --check-prefix=PATTERN
// RUN: not %{import} --config %t/star.toml --set 'training.parameters=["*"]' 2>&1 | FileCheck %t/model.mlir --check-prefix=TWICE

// Names: those of states are their own even where an input, or a symbol of ours, has them; equal paths get their roots.
// RUN: llmc compile %t/names.mlir --compile-to=import -o - --config %t/star.toml --set data.inputs.x=0 --set 'training.parameters=["p*", "q*"]' --set 'training.drop=["b"]' | FileCheck %t/names.mlir
// RUN: not llmc compile %t/names.mlir --compile-to=import -o - --config %t/star.toml --set data.inputs.x=0 2>&1 | FileCheck %t/names.mlir --check-prefix=CARRIED
// RUN: not llmc compile %t/names.mlir --compile-to=import -o - --config %t/star.toml --set data.inputs.b=0 --set 'training.parameters=["p*"]' 2>&1 | FileCheck %t/names.mlir --check-prefix=INPUT

// An input named by its root and without it is one argument; an input, or a value of another type, is not carried.
// RUN: not %{import} --config %t/once.toml 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: {{^}}llmc: error[usage]: expected 'w' of [data.inputs] to be there once{{$}}
// RUN: llmc compile %t/carried.mlir --compile-to=import -o - --config %t/fed.toml | FileCheck %t/carried.mlir

// A leaf beside an input below the same root is not known to be a parameter.
// RUN: not llmc compile %t/root.mlir --compile-to=import -o - --config %t/star.toml --set data.inputs.x=0 2>&1 | FileCheck %t/root.mlir
// RUN: %python %S/Inputs/write_safetensors.py %t/full.safetensors p.w:F32:4 q.w:F32:4
// RUN: llmc compile %t/full.mlir --compile-to=import -o - --set data.inputs.x=0 --weights %t/full.safetensors | FileCheck %t/full.mlir

//--- once.toml
[[init]]
match = "*"

[data.inputs]
w = 0
"params.w" = 1

//--- fed.toml
[[init]]
match = "*"

[data.inputs]
"b.x" = 0

//--- carried.mlir
// CHECK-DAG: dist.state @p.n : tensor<4xf32> {role = parameter
// CHECK-DAG: dist.state @x : tensor<4xf32> {role = carried
// CHECK-DAG: dist.state @s.n : tensor<2xf32> {role = carried
// CHECK: #dist.port<parameter @p.n>
// CHECK-SAME: #dist.port<input "b.x"
// CHECK-SAME: #dist.port<carried @x>
// CHECK-SAME: #dist.port<carried @s.n>
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4xf32> {dist.port = #dist.port<carried @x>}, tensor<2xf32> {dist.port = #dist.port<carried @s.n>})
func.func public @main(%p: tensor<4xf32> loc("p['n']"), %x: tensor<4xf32> loc("b['x']"), %s: tensor<4xf32> loc("s['x']"), %n: tensor<2xf32> loc("s['n']"))
    -> (tensor<f32>, tensor<4xf32> {jax.result_info = "result[1]['x']"}, tensor<2xf32> {jax.result_info = "result[2]['n']"}) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0, %p, %n : tensor<f32>, tensor<4xf32>, tensor<2xf32>
}

//--- root.mlir
// CHECK: {{^}}llmc: error[diagnosed]: "b['w']": expected to know whether float arguments are inputs or parameters, got neither for b.w (name inputs in [data.inputs], parameters in training.parameters, for example {{\["b\*"\]}}){{$}}
func.func public @main(%w: tensor<4xf32> loc("b['w']"), %x: tensor<4xf32> loc("b['x']")) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}

//--- full.mlir
// The names of a file of weights may have the roots.
// CHECK: dist.state @p.w : tensor<4xf32> {role = parameter, source = #dist.file<"{{.*}}full.safetensors", [[#OFFSET:]], 16>}
// CHECK: dist.state @q.w : tensor<4xf32> {role = parameter, source = #dist.file<"{{.*}}full.safetensors", [[#OFFSET+16]], 16>}
func.func public @main(%w: tensor<4xf32> loc("p['w']"), %v: tensor<4xf32> loc("q['w']"), %x: tensor<4xf32> loc("x")) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}

//--- star.toml
[[init]]
match = "*"

//--- patterns.toml
[[init]]
match = "mas?"

[[init]]
match = "w"

[[init]]
match = "loss"

//--- model.mlir
// OPEN: llmc: error[diagnosed]: {{.*}}: expected to know whether float arguments are inputs or parameters, got neither for params.* (2), mask (name inputs in [data.inputs], parameters in training.parameters, for example {{\["params\*"\]}})
// HALF: got neither for mask (name inputs
// FED-DAG: dist.state @w : {{.*}}role = parameter
// FED-DAG: dist.state @loss$ : {{.*}}role = parameter
// FED: #dist.port<input "mask"
// BOTH-DAG: dist.state @w : {{.*}}role = parameter
// BOTH-DAG: dist.state @mask : {{.*}}role = parameter
// PATTERN: llmc: error[usage]: --set training.parameters: expected 'training.parameters' to match arguments, got "parms*", which matches none (there are params.* (2), mask, x)
// TWICE: llmc: error[usage]: expected 'x' of [data.inputs] to be no parameter, got it in 'training.parameters' too
module @jit_f {
  func.func public @main(%arg0: tensor<4xf32> loc("params['w']"), %arg1: tensor<4xf32> loc("params['loss']"), %arg2: tensor<4xf32> loc("mask"), %arg3: tensor<4xf32> loc("x")) -> tensor<f32> {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.multiply %arg0, %arg3 : tensor<4xf32>
    %2 = stablehlo.multiply %1, %arg2 : tensor<4xf32>
    %3 = stablehlo.add %2, %arg1 : tensor<4xf32>
    %4 = stablehlo.reduce(%3 init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}

//--- names.mlir
// CHECK-DAG: dist.state @x : {{.*}}role = parameter
// CHECK-DAG: dist.state @t$ : {{.*}}role = parameter
// CHECK-DAG: dist.state @train$.w : {{.*}}role = parameter
// CHECK-DAG: dist.state @p.b : {{.*}}role = parameter
// CHECK-DAG: dist.state @q.b : {{.*}}role = parameter
// CHECK-DAG: dist.state @seen : {{.*}}role = carried
// CHECK-DAG: dist.hyper @t :
// CHECK: #dist.port<parameter @x>
// CHECK-SAME: #dist.port<parameter @train$.w>
// CHECK-SAME: #dist.port<input "x"
// CARRIED: expected one argument that result 'result[1]['b']' replaces, got 'p.b' and 'q.b' (name the parameters in training.parameters)
// INPUT: llmc: error[usage]: expected an argument for 'data.inputs.b', got 'p.b' and 'q.b'
module @jit_f {
  func.func public @main(%arg0: tensor<4xf32> loc("p['x']"), %arg1: tensor<4xf32> loc("p['t']"), %arg2: tensor<4xf32> loc("p['train']['w']"), %arg3: tensor<4xf32> loc("p['b']"), %arg4: tensor<4xf32> loc("q['b']"), %arg5: tensor<4xf32> loc("s['seen']"), %arg6: tensor<4xf32> loc("x"))
      -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]['seen']"}, tensor<4xf32> {jax.result_info = "result[1]['b']"}) {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.multiply %arg0, %arg6 : tensor<4xf32>
    %2 = stablehlo.multiply %arg1, %arg2 : tensor<4xf32>
    %3 = stablehlo.multiply %arg3, %arg4 : tensor<4xf32>
    %4 = stablehlo.add %1, %2 : tensor<4xf32>
    %5 = stablehlo.add %3, %4 : tensor<4xf32>
    %6 = stablehlo.reduce(%5 init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %7 = stablehlo.add %arg5, %5 : tensor<4xf32>
    return %6, %7, %5 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
}
