// Random bits become arithmetic on the number of each element; one number of a known key is known.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --compile-to=import -o -
// RUN: %{import} %t/bits.mlir | FileCheck %t/bits.mlir
// RUN: not %{import} %t/rng.mlir 2>&1 | FileCheck %t/rng.mlir
// RUN: not %{import} %t/state.mlir 2>&1 | FileCheck %t/state.mlir

//--- bits.mlir
// CHECK: func.func public @
// CHECK-NOT: stablehlo.rng_bit_generator
// CHECK-DAG: stablehlo.constant dense<1797259609> : tensor<ui32>
// CHECK-DAG: stablehlo.constant dense<[0, 1]> : tensor<2xui64>
// CHECK-DAG: stablehlo.iota dim = 0 : tensor<40x6xui64>
// CHECK-DAG: stablehlo.iota dim = 1 : tensor<40x6xui64>
// CHECK-NOT: stablehlo.rng_bit_generator
// CHECK: return
func.func public @main(%x: tensor<4x8xi32> loc("x")) -> (tensor<4x8xi32> {jax.result_info = "result['x']"}, tensor<2xui64> {jax.result_info = "result['state']"}, tensor<ui32> {jax.result_info = "result['one']"}, tensor<40x6xui32> {jax.result_info = "result['many']"}) {
  %zeros = stablehlo.constant dense<0> : tensor<2xui64>
  %state, %one = stablehlo.rng_bit_generator %zeros, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  %unread, %many = stablehlo.rng_bit_generator %zeros, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<40x6xui32>)
  return %x, %state, %one, %many : tensor<4x8xi32>, tensor<2xui64>, tensor<ui32>, tensor<40x6xui32>
}

//--- rng.mlir
// CHECK: llmc: error[unsupported]: {{.*}}rng.mlir:7:{{.*}}expected random numbers from a key ('stablehlo.rng_bit_generator'), got numbers without one
// CHECK-NOT: error
func.func public @main(%x: tensor<4x8xi32> loc("x")) -> tensor<4x8xf32> {
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<[4, 8]> : tensor<2xi64>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

//--- state.mlir
// CHECK: llmc: error[unsupported]: {{.*}}expected a state of 2 or 3 elements for DEFAULT, which is PHILOX, got 4
func.func public @main(%x: tensor<4x8xi32> loc("x")) -> tensor<4x8xui32> {
  %zeros = stablehlo.constant dense<0> : tensor<4xui64>
  %state, %bits = stablehlo.rng_bit_generator %zeros, algorithm = DEFAULT : (tensor<4xui64>) -> (tensor<4xui64>, tensor<4x8xui32>)
  return %bits : tensor<4x8xui32>
}
