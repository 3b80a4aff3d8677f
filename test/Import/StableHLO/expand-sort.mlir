// A sort becomes ranks over all pairs and reads at the positions in order; what its comparator may hold is said.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --compile-to=import -o -
// RUN: %{import} %t/sort.mlir | FileCheck %t/sort.mlir
// RUN: %{import} %t/one.mlir | FileCheck %t/one.mlir
// RUN: not %{import} %t/comparator.mlir 2>&1 | FileCheck %t/comparator.mlir
// RUN: not %{import} %t/large.mlir 2>&1 | FileCheck %t/large.mlir
// RUN: not %{import} %t/top.mlir 2>&1 | FileCheck %t/top.mlir

// The comparator on pairs, both ways round; its constant stays one number. The
// position of an element goes to its rank, and both inputs are read there.
//--- sort.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-DAG: %[[OWN:.*]] = stablehlo.broadcast_in_dim %[[X:.*]], dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x6xi32>
// CHECK-DAG: %[[OTHER:.*]] = stablehlo.broadcast_in_dim %[[X]], dims = [0, 2] : (tensor<4x6xi32>) -> tensor<4x6x6xi32>
// CHECK: %[[RANK:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [2] : (tensor<4x6x6xi32>, tensor<i32>) -> tensor<4x6xi32>
// CHECK: %[[ORDER:.*]] = "stablehlo.scatter"(%{{.*}}, %[[RANK]], %{{.*}})
// CHECK-COUNT-2: "stablehlo.gather"(%{{.*}}, %[[ORDER]])
// CHECK-NOT: stablehlo.sort
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['keys']"}, tensor<4x6xf32> {jax.result_info = "result['values']"}) {
  %y = stablehlo.convert %x : (tensor<4x6xi32>) -> tensor<4x6xf32>
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %seven = stablehlo.constant dense<7> : tensor<i32>
    %1 = stablehlo.remainder %a, %seven : tensor<i32>
    %2 = stablehlo.remainder %b, %seven : tensor<i32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4x6xi32>, tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>)
  return %0#0, %0#1 : tensor<4x6xi32>, tensor<4x6xf32>
}

// One element is in order.
//--- one.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-NOT: stablehlo
// CHECK: return
func.func public @main(%x: tensor<4x1xi32> loc("x")) -> (tensor<4x1xi32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x1xi32>) -> tensor<4x1xi32>
  return %0 : tensor<4x1xi32>
}

//--- comparator.mlir
// CHECK: llmc: error[unsupported]: {{.*}}comparator.mlir:6:10: {{.*}}expected element-wise ops in the body of 'stablehlo.sort', got another
// CHECK-NOT: error
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    %3 = stablehlo.compare LT, %2, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}

//--- large.mlir
// CHECK: llmc: error[unsupported]: {{.*}}large.mlir:3:8: {{.*}}expected at most 8589934592 comparisons, elements times the sorted dimension, got 'tensor<4x1000000xi32>' sorted along dimension 1
func.func public @main(%x: tensor<4x1000000xi32> loc("x")) -> (tensor<4x1000000xi32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x1000000xi32>) -> tensor<4x1000000xi32>
  return %0 : tensor<4x1000000xi32>
}

//--- top.mlir
// CHECK: llmc: error[unsupported]: {{.*}}top.mlir:{{.*}}expected at most 8589934592 comparisons
func.func public @main(%x: tensor<4x1000000xi32> loc("x")) -> (tensor<4x2xi32> {jax.result_info = "result['y']"}) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4x1000000xi32> -> (tensor<4x2xi32>, tensor<4x2xi32>)
  return %0#0 : tensor<4x2xi32>
}
