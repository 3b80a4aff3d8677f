// A sort is an argsort by the keys that its comparator names, or ranks over all pairs, and reads at the positions.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.x=0 --compile-to=import -o -
// RUN: %{import} %t/sort.mlir | FileCheck %t/sort.mlir
// RUN: %{import} %t/keys.mlir | FileCheck %t/keys.mlir
// RUN: %{import} %t/choices.mlir | FileCheck %t/choices.mlir
// RUN: %{import} %t/jax.mlir | FileCheck %t/jax.mlir
// RUN: %{import} %t/numbers.mlir | FileCheck %t/numbers.mlir
// RUN: %{import} %t/pairs.mlir | FileCheck %t/pairs.mlir
// RUN: %{import} %t/sides.mlir | FileCheck %t/sides.mlir
// RUN: %{import} %t/equal.mlir | FileCheck %t/equal.mlir
// RUN: %{import} %t/half.mlir | FileCheck %t/half.mlir
// RUN: %{import} %t/crossed.mlir | FileCheck %t/crossed.mlir
// RUN: %{import} %t/outside.mlir | FileCheck %t/outside.mlir
// RUN: %{import} %t/one.mlir | FileCheck %t/one.mlir
// RUN: not %{import} %t/comparator.mlir 2>&1 | FileCheck %t/comparator.mlir
// RUN: not %{import} %t/large.mlir 2>&1 | FileCheck %t/large.mlir
// RUN: %{import} %t/top.mlir | FileCheck %t/top.mlir

// The key is what both sides of the comparison are of their element.
//--- sort.mlir
// CHECK-LABEL: func.func public @loss
// CHECK: %[[KEY:.*]] = stablehlo.remainder %[[X:.*]], %{{.*}} : tensor<4x6xi32>
// CHECK-NEXT: %[[ORDER:.*]] = nn.argsort %[[KEY]] dim 1 descending [false] : (tensor<4x6xi32>) -> tensor<4x6xi32>
// CHECK-NEXT: "stablehlo.gather"(%[[X]], %[[ORDER]])
// CHECK-NEXT: "stablehlo.gather"(%{{.*}}, %[[ORDER]])
// CHECK-NEXT: return
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

// The second input decides first, falling: the greater side comes first, or the
// sides are exchanged.
//--- keys.mlir
// CHECK-LABEL: func.func public @loss
// CHECK: %[[Y:.*]] = stablehlo.bitcast_convert %[[X:.*]] : (tensor<4x6xi32>) -> tensor<4x6xui32>
// CHECK-NEXT: nn.argsort %[[Y]], %[[X]], %[[X]] dim 0 descending [true, true, false] : (tensor<4x6xui32>, tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
// CHECK-NOT: nn.argsort
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %y = stablehlo.bitcast_convert %x : (tensor<4x6xi32>) -> tensor<4x6xui32>
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<ui32>, %d: tensor<ui32>):
    %1 = stablehlo.compare GT, %c, %d : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %c, %d : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %3 = stablehlo.compare LT, %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare EQ, %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare GT, %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %5, %4 : tensor<i1>
    %7 = stablehlo.or %6, %3 : tensor<i1>
    %8 = stablehlo.and %2, %7 : tensor<i1>
    %9 = stablehlo.or %1, %8 : tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<4x6xi32>, tensor<4x6xui32>) -> (tensor<4x6xi32>, tensor<4x6xui32>)
  return %0#0 : tensor<4x6xi32>
}

// The same by choices.
//--- choices.mlir
// CHECK-LABEL: func.func public @loss
// CHECK: nn.argsort %[[X:.*]], %{{.*}}, %[[X]] dim 0 descending [true, false, true]
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %y = stablehlo.negate %x : tensor<4x6xi32>
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare NE, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.select %4, %3, %1 : tensor<i1>, tensor<i1>
    %6 = stablehlo.select %2, %5, %1 : tensor<i1>, tensor<i1>
    stablehlo.return %6 : tensor<i1>
  }) : (tensor<4x6xi32>, tensor<4x6xi32>) -> (tensor<4x6xi32>, tensor<4x6xi32>)
  return %0#0 : tensor<4x6xi32>
}

// As JAX has it: zeros are 0 and NaN is one NaN, each once for all elements.
//--- jax.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-COUNT-2: stablehlo.select
// CHECK-NOT: stablehlo.select
// CHECK: nn.argsort %{{.*}} dim 0 descending [false] : (tensor<6xf32>) -> tensor<6xi32>
func.func public @main(%x: tensor<6xf32> loc("x")) -> (tensor<6xf32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %zero, %a : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.select %3, %nan, %2 : tensor<i1>, tensor<f32>
    %other = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.compare EQ, %b, %other, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %other, %b : tensor<i1>, tensor<f32>
    %7 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %7, %nan, %6 : tensor<i1>, tensor<f32>
    %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// Numbers are compared, so the key makes zeros equal and NaN the greatest.
//--- numbers.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.compare EQ, %[[X:.*]], %{{.*}}, FLOAT
// CHECK-DAG: %[[NUMBER:.*]] = stablehlo.compare EQ, %[[X]], %[[X]], FLOAT
// CHECK: %[[NEAR:.*]] = stablehlo.select %[[ZERO]], %{{.*}}, %[[X]]
// CHECK: %[[KEY:.*]] = stablehlo.select %[[NUMBER]], %[[NEAR]], %{{.*}}
// CHECK: nn.argsort %[[KEY]] dim 0 descending [true]
func.func public @main(%x: tensor<6xf32> loc("x")) -> (tensor<6xf32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// Even numbers first, which is no comparison of two keys: the comparator on
// pairs, both ways round; its constant stays one number. The position of an
// element goes to its rank.
//--- pairs.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-DAG: %[[OWN:.*]] = stablehlo.broadcast_in_dim %[[X:.*]], dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x6xi32>
// CHECK-DAG: %[[OTHER:.*]] = stablehlo.broadcast_in_dim %[[X]], dims = [0, 2] : (tensor<4x6xi32>) -> tensor<4x6x6xi32>
// CHECK: %[[RANK:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [2] : (tensor<4x6x6xi32>, tensor<i32>) -> tensor<4x6xi32>
// CHECK: %[[ORDER:.*]] = "stablehlo.scatter"(%{{.*}}, %[[RANK]], %{{.*}})
// CHECK: "stablehlo.gather"(%{{.*}}, %[[ORDER]])
// CHECK-NOT: {{stablehlo.sort|nn.argsort}}
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.and %a, %one : tensor<i32>
    %2 = stablehlo.and %b, %one : tensor<i32>
    %3 = stablehlo.compare NE, %1, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare EQ, %2, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.and %3, %4 : tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}

// Two functions of the two sides are no key.
//--- sides.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-NOT: nn.argsort
// CHECK: stablehlo.scatter
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.divide %a, %two : tensor<i32>
    %2 = stablehlo.divide %b, %one : tensor<i32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}

// What is asked whether it is equal is not what is compared.
//--- equal.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-NOT: nn.argsort
// CHECK: stablehlo.scatter
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %0:2 = "stablehlo.sort"(%x, %x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.and %2, %3 : tensor<i1>
    %5 = stablehlo.or %1, %4 : tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4x6xi32>, tensor<4x6xi32>) -> (tensor<4x6xi32>, tensor<4x6xi32>)
  return %0#0 : tensor<4x6xi32>
}

// One of its two sides is.
//--- half.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-NOT: nn.argsort
// CHECK: stablehlo.scatter
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %0:2 = "stablehlo.sort"(%x, %x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %d, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.and %2, %3 : tensor<i1>
    %5 = stablehlo.or %1, %4 : tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4x6xi32>, tensor<4x6xi32>) -> (tensor<4x6xi32>, tensor<4x6xi32>)
  return %0#0 : tensor<4x6xi32>
}

// The sides are of two inputs.
//--- crossed.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-NOT: nn.argsort
// CHECK: stablehlo.scatter
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %0:2 = "stablehlo.sort"(%x, %x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %b, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x6xi32>, tensor<4x6xi32>) -> (tensor<4x6xi32>, tensor<4x6xi32>)
  return %0#0 : tensor<4x6xi32>
}

// What comes from outside is not the same on both sides.
//--- outside.mlir
// CHECK-LABEL: func.func public @loss
// CHECK-NOT: nn.argsort
// CHECK: stablehlo.scatter
func.func public @main(%x: tensor<4x6xi32> loc("x")) -> (tensor<4x6xi32> {jax.result_info = "result['y']"}) {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.remainder %a, %seven : tensor<i32>
    %2 = stablehlo.remainder %b, %eight : tensor<i32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
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

// Pairs are counted where there are any.
//--- large.mlir
// CHECK: llmc: error[unsupported]: {{.*}}large.mlir:3:8: {{.*}}expected at most 8589934592 comparisons, elements times the sorted dimension, or a comparator that orders by keys, got 'tensor<4x1000000xi32>' sorted along dimension 1
func.func public @main(%x: tensor<4x1000000xi32> loc("x")) -> (tensor<4x1000000xi32> {jax.result_info = "result['y']"}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x1000000xi32>) -> tensor<4x1000000xi32>
  return %0 : tensor<4x1000000xi32>
}

//--- top.mlir
// CHECK: nn.argsort %{{.*}} dim 1 descending [true] : (tensor<4x1000000xi32>) -> tensor<4x2xi32>
func.func public @main(%x: tensor<4x1000000xi32> loc("x")) -> (tensor<4x2xi32> {jax.result_info = "result['y']"}) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4x1000000xi32> -> (tensor<4x2xi32>, tensor<4x2xi32>)
  return %0#0 : tensor<4x2xi32>
}
