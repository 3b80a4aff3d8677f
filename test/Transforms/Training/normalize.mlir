// RUN: llmc-opt %s --llmc-normalize | FileCheck %s

// A reduction that starts from another value starts from the neutral element,
// and the value is combined with its result.
// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<4x3xf32> {dist.port = #dist.port<input "x">}) -> (tensor<3xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: %[[C:.*]] = stablehlo.constant dense<2.0
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1.0
  // CHECK: %[[R:.*]] = stablehlo.reduce(%{{.*}} init: %[[ONE]]) applies stablehlo.multiply
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = []
  // CHECK: %[[P:.*]] = stablehlo.multiply %[[B]], %[[R]]
  // CHECK: return %[[P]]
  %r = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [0]
      : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
dist.entry @a function(@reduce)

// The neutral element stays, zeros of both signs and values after a broadcast.
// CHECK-LABEL: func.func @neutral
func.func @neutral(%x: tensor<4x3xf32> {dist.port = #dist.port<input "x">}) -> (tensor<3xf32> {dist.port = #dist.port<output "y0">}, tensor<4xf32> {dist.port = #dist.port<output "y1">}) {
  %zero = stablehlo.constant dense<-0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: stablehlo.reduce
  // CHECK-NEXT: stablehlo.reduce
  // CHECK-NEXT: return
  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  %s = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return %r, %s : tensor<3xf32>, tensor<4xf32>
}
dist.entry @b function(@neutral)

// A scatter's operand likewise; one that assigns stays as it is.
// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<8xf32> {dist.port = #dist.port<input "x">},
                   %i: tensor<2x1xi32> {dist.port = #dist.port<input "i">},
                   %u: tensor<2xf32> {dist.port = #dist.port<input "u">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y0">}, tensor<8xf32> {dist.port = #dist.port<output "y1">}) {
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.0
  // CHECK: %[[Z:.*]] = stablehlo.broadcast_in_dim %[[ZERO]]
  // CHECK: %[[S:.*]] = "stablehlo.scatter"(%[[Z]],
  // CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %[[S]]
  // CHECK: %[[A:.*]] = "stablehlo.scatter"(%arg0,
  // CHECK: return %[[SUM]], %[[A]]
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
  %s = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
  }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}
dist.entry @c function(@scatter)

// One into the neutral element stays, and so does a maximum, which may be
// taken twice.
// CHECK-LABEL: func.func @scatter_stays
func.func @scatter_stays(%x: tensor<8xf32> {dist.port = #dist.port<input "x">},
                         %i: tensor<2x1xi32> {dist.port = #dist.port<input "i">},
                         %u: tensor<2xf32> {dist.port = #dist.port<input "u">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y0">}, tensor<8xf32> {dist.port = #dist.port<output "y1">}) {
  // CHECK: %[[Z:.*]] = stablehlo.constant dense<0.0
  // CHECK-NEXT: %[[S:.*]] = "stablehlo.scatter"(%[[Z]],
  // CHECK: %[[M:.*]] = "stablehlo.scatter"(%arg0,
  // CHECK: return %[[S]], %[[M]]
  %z = stablehlo.constant dense<0.0> : tensor<8xf32>
  %r = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
  %s = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}
dist.entry @d function(@scatter_stays)

// A function of its own keeps its initial value, of one input or of two.
// CHECK-LABEL: func.func @own
func.func @own(%x: tensor<4x3xf32> {dist.port = #dist.port<input "x">}) -> (tensor<3xf32> {dist.port = #dist.port<output "y0">}, tensor<3xf32> {dist.port = #dist.port<output "y1">}) {
  // CHECK: %[[C:.*]] = stablehlo.constant dense<2.0
  // CHECK-NEXT: %[[R:.*]] = stablehlo.reduce(%arg0 init: %[[C]]) across
  // CHECK: %[[S:.*]]:2 = stablehlo.reduce(%arg0 init: %[[C]]), (%arg0 init: %[[C]]) across
  // CHECK: return %[[R]], %[[S]]#0
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
    reducer(%p: tensor<f32>, %e: tensor<f32>) {
      %t = stablehlo.subtract %p, %e : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }
  %s:2 = stablehlo.reduce(%x init: %c), (%x init: %c) across dimensions = [0] : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
    reducer(%p: tensor<f32>, %e: tensor<f32>) (%q: tensor<f32>, %f: tensor<f32>) {
      %t = stablehlo.add %p, %e : tensor<f32>
      %u = stablehlo.add %q, %f : tensor<f32>
      stablehlo.return %t, %u : tensor<f32>, tensor<f32>
    }
  return %r, %s#0 : tensor<3xf32>, tensor<3xf32>
}
dist.entry @e function(@own)
