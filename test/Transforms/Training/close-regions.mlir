// RUN: llmc-opt %s --llmc-close-regions --split-input-file --verify-diagnostics | FileCheck %s

// What a step computes of its element is computed before, for all elements: one
// known operation is left.
// CHECK-LABEL: func.func @element
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>
func.func @element(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.constant dense<0.5> : tensor<f32>
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
  // CHECK: %[[M:.*]] = stablehlo.maximum %[[X]], %[[B]] : tensor<4x3xf32>
  // CHECK: stablehlo.reduce(%[[M]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %m = stablehlo.maximum %e, %c : tensor<f32>
    %s = stablehlo.add %p, %m : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// A constant that meets the accumulator moves into the body, with what computes
// it.
// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.constant dense<2> : tensor<i32>
  %c = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
  // CHECK: reducer(%[[P:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>) {
  // CHECK-NEXT: %[[I:.*]] = stablehlo.constant dense<2> : tensor<i32>
  // CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[I]]
  // CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[P]], %[[C]]
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %m = stablehlo.multiply %p, %c : tensor<f32>
    %s = stablehlo.add %m, %e : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// A computed one becomes an accumulator that every step hands on.
// CHECK-LABEL: func.func @computed
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>, %[[S:.*]]: tensor<f32>
func.func @computed(%x: tensor<4x3xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = []
  // CHECK: %[[R:.*]]:2 = stablehlo.reduce(%[[X]] init: %{{.*}}), (%[[B]] init: %[[S]]) across dimensions = [1]
  // CHECK: reducer(%[[P:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>) (%[[H:.*]]: tensor<f32>, %{{.*}}: tensor<f32>) {
  // CHECK: stablehlo.multiply %[[P]], %[[H]]
  // CHECK: stablehlo.return %{{.*}}, %[[H]]
  // CHECK: return %[[R]]#0
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %m = stablehlo.multiply %p, %s : tensor<f32>
    %a = stablehlo.add %m, %e : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @scatter
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<2x1xi32>, %[[U:.*]]: tensor<2xf32>, %[[S:.*]]: tensor<f32>
func.func @scatter(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [] : (tensor<f32>) -> tensor<2xf32>
  // CHECK: %[[M:.*]] = stablehlo.multiply %[[U]], %[[B]]
  // CHECK: "stablehlo.scatter"(%[[X]], %[[I]], %[[M]])
  // CHECK: ^bb0(%[[P:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[P]], %[[E]]
  // CHECK-NEXT: stablehlo.return %[[A]]
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %e: tensor<f32>):
    %m = stablehlo.multiply %e, %s : tensor<f32>
    %a = stablehlo.add %p, %m : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @refused(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{combines the accumulated value with a value computed outside, which is not supported}}
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %e: tensor<f32>):
    %m = stablehlo.multiply %p, %s : tensor<f32>
    %a = stablehlo.add %m, %e : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
