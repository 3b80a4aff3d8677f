// Calls of Python, as JAX prints them: what only looks is left out with a
// warning, what returns something is refused, and so are ordered effects.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/print.mlir 2>&1 | FileCheck %s --check-prefix=PRINT
// RUN: not %{import} %t/pure.mlir 2>&1 | FileCheck %s --check-prefix=PURE
// RUN: not %{import} %t/ordered.mlir 2>&1 | FileCheck %s --check-prefix=ORDERED
// RUN: not %{import} %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO

// PRINT: model.py:5:8: a call of Python without results is left out (jax.debug.print and jax.debug.callback)
// PRINT: func.func public
// PRINT-NOT: custom_call
// PRINT: stablehlo.tanh
// PURE: {{^}}llmc: error[unsupported]: {{.*}}pure.mlir:3:8: 'stablehlo.custom_call' op expected ops, got a call of Python ('xla_ffi_python_cpu_callback', as jax.pure_callback and io_callback print it), which a plan cannot make: write the function in jax.numpy, or compute its result before the model and give it as an input{{$}}
// ORDERED: {{^}}llmc: error[unsupported]: {{.*}}ordered.mlir:1:{{.*}}: expected tensors, got '!stablehlo.token', which llmc does not have (it stands for ordered effects: print the model without jax.debug.print(..., ordered=True) and io_callback){{$}}
// TWO: {{^}}llmc: error[malformed]: {{.*}}'stablehlo.custom_call' op expected a sharding for each of 0 results, got 2{{$}}

//--- print.mlir
sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [], sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> () loc("jit(f)/debug_callback"("f"("model.py":5:8)))
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- pure.mlir
sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
func.func public @main(%x: tensor<8x4xf32> loc("x")) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {backend_config = "", mhlo.backend_config = {index = 0 : ui64}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- ordered.mlir
func.func public @main(%t: !stablehlo.token, %x: tensor<4xf32> loc("x")) -> (!stablehlo.token, tensor<4xf32>) {
  return %t, %x : !stablehlo.token, tensor<4xf32>
}

//--- two.mlir
sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>, <@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}
