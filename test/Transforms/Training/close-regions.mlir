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

// Two values of the element that meet the accumulator one after the other
// stay where they are.
// CHECK-LABEL: func.func @two
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>
func.func @two(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce(%[[X]] init:
  // CHECK-NEXT: reducer(%[[P:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>) {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.sine %[[E]]
  // CHECK-NEXT: %[[C:.*]] = stablehlo.cosine %[[E]]
  // CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[P]], %[[S]]
  // CHECK-NEXT: stablehlo.add %[[M]], %[[C]]
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %s = stablehlo.sine %e : tensor<f32>
    %c = stablehlo.cosine %e : tensor<f32>
    %m = stablehlo.multiply %p, %s : tensor<f32>
    %a = stablehlo.add %m, %c : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// So does what is no number within the step.
// CHECK-LABEL: func.func @one_element
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>
func.func @one_element(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce(%[[X]] init:
  // CHECK: stablehlo.negate %{{.*}} : tensor<1xf32>
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %h = stablehlo.reshape %e : (tensor<f32>) -> tensor<1xf32>
    %i = stablehlo.negate %h : tensor<1xf32>
    %j = stablehlo.reshape %i : (tensor<1xf32>) -> tensor<f32>
    %a = stablehlo.add %p, %j : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// A constant that two others are made of is taken in once.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %d = stablehlo.multiply %c, %c : tensor<f32>
  // CHECK: reducer(%[[P:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>) {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.0{{.*}}>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[C]], %[[C]]
  // CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[P]], %[[D]]
  // CHECK-NEXT: %[[N:.*]] = stablehlo.add %[[M]], %[[C]]
  // CHECK-NEXT: stablehlo.add %[[N]], %[[E]]
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %m = stablehlo.multiply %p, %d : tensor<f32>
    %n = stablehlo.add %m, %c : tensor<f32>
    %a = stablehlo.add %n, %e : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// Of eight ops it is taken in, of nine it becomes an accumulator.
// CHECK-LABEL: func.func @deep
func.func @deep(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c0 = stablehlo.constant dense<2.0> : tensor<f32>
  %c1 = stablehlo.negate %c0 : tensor<f32>
  %c2 = stablehlo.negate %c1 : tensor<f32>
  %c3 = stablehlo.negate %c2 : tensor<f32>
  %c4 = stablehlo.negate %c3 : tensor<f32>
  %c5 = stablehlo.negate %c4 : tensor<f32>
  %c6 = stablehlo.negate %c5 : tensor<f32>
  %c7 = stablehlo.negate %c6 : tensor<f32>
  %c8 = stablehlo.negate %c7 : tensor<f32>
  // CHECK-COUNT-8: stablehlo.negate
  // CHECK: reducer(%[[P:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>) (%[[NINE:.*]]: tensor<f32>, %{{.*}}: tensor<f32>) {
  // CHECK: stablehlo.constant dense<2.0
  // CHECK-COUNT-6: stablehlo.negate
  // CHECK-NEXT: %[[EIGHT:.*]] = stablehlo.negate
  // CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[P]], %[[NINE]]
  // CHECK-NEXT: stablehlo.multiply %[[M]], %[[EIGHT]]
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %m = stablehlo.multiply %p, %c8 : tensor<f32>
    %n = stablehlo.multiply %m, %c7 : tensor<f32>
    %a = stablehlo.add %n, %e : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// What has an effect happens once, outside, whatever it is computed of.
func.func private @draw() -> tensor<f32>
// CHECK-LABEL: func.func @called
func.func @called(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[D:.*]] = call @draw()
  // CHECK: (%{{.*}} init: %[[D]]) across
  // CHECK-NOT: call
  // CHECK: return
  %d = func.call @draw() : () -> tensor<f32>
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %m = stablehlo.multiply %p, %d : tensor<f32>
    %a = stablehlo.add %m, %e : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
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

// -----

// An accumulator is a number.
func.func @wide(%x: tensor<4x3xf32>, %s: tensor<1xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // expected-error@+1 {{'stablehlo.reduce' op expected a body that combines its arguments and constants, got one that combines the accumulated value with a value computed outside, which is not supported}}
  %r = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %h = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
    %m = stablehlo.multiply %p, %h : tensor<f32>
    %a = stablehlo.add %m, %e : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
  return %r : tensor<4xf32>
}

// -----

// A scatter of two inputs is left as it is, and refused.
func.func @inputs(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op expected a body that combines its arguments and constants, got one that combines the accumulated value with a value computed outside, which is not supported}}
  %r:2 = "stablehlo.scatter"(%x, %x, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %e: tensor<f32>, %f: tensor<f32>):
    %m = stablehlo.multiply %e, %s : tensor<f32>
    %a = stablehlo.add %p, %m : tensor<f32>
    %b = stablehlo.add %q, %f : tensor<f32>
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
