// Tuples are taken apart where their elements are read, and where they are returned.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/tuples.mlir | FileCheck %s
// RUN: not %{import} %t/argument.mlir 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not %{import} %t/taken.mlir 2>&1 | FileCheck %s --check-prefix=TAKEN

// A function that returns a tuple, a tuple of one, and one that is returned; names of
// results stay at what is none.
// CHECK: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32> {{.*}}) -> (tensor<4xf32> {dist.port = #dist.port<output "first">}, tensor<4xf32> {dist.port = #dist.port<output "result1">}, tensor<4xi1> {dist.port = #dist.port<output "result2">}, tensor<4xf32> {dist.port = #dist.port<output "last">})
// CHECK-NEXT: %[[SINE:.*]] = stablehlo.sine %[[X]]
// CHECK-NEXT: %[[FINITE:.*]] = stablehlo.is_finite %[[X]]
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[SINE]]
// CHECK-NEXT: return %[[ABS]], %[[X]], %[[FINITE]], %[[SINE]]

// ARGUMENT: {{^}}llmc: error[unsupported]: {{.*}}expected an element of what 'stablehlo.tuple' makes, got one of another tuple{{$}}
// TAKEN: {{^}}llmc: error[unsupported]: {{.*}}taken.mlir:2:8: expected tensors of numbers without encodings in a function, got tuple<tensor<4xf32>>{{$}}

//--- tuples.mlir
func.func private @both(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xi1>> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.tuple %0, %1 : tuple<tensor<4xf32>, tensor<4xi1>>
  return %2 : tuple<tensor<4xf32>, tensor<4xi1>>
}
func.func public @main(%x: tensor<4xf32> loc("x")) -> (tensor<4xf32> {jax.result_info = "result['first']"}, tuple<tuple<tensor<4xf32>>, tensor<4xi1>> {jax.result_info = "result['both']"}, tensor<4xf32> {jax.result_info = "result['last']"}) {
  %0 = call @both(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xi1>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, tensor<4xi1>>) -> tensor<4xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<4xi1>>) -> tensor<4xi1>
  %3 = stablehlo.tuple %x : tuple<tensor<4xf32>>
  %4 = stablehlo.tuple %3, %2 : tuple<tuple<tensor<4xf32>>, tensor<4xi1>>
  %5 = stablehlo.abs %1 : tensor<4xf32>
  return %5, %4, %1 : tensor<4xf32>, tuple<tuple<tensor<4xf32>>, tensor<4xi1>>, tensor<4xf32>
}

//--- argument.mlir
func.func public @main(%x: tuple<tensor<4xf32>> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- taken.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.tuple %x : tuple<tensor<4xf32>>
  %1 = stablehlo.custom_call @f(%0) : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
