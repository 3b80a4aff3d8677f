// RUN: llmc-opt %s --split-input-file --llmc-form-contractions | FileCheck %s

// A transpose is read in place; the accumulator of the program is added to.
// CHECK-LABEL: func @accumulate
// CHECK-SAME:    (%[[X:.*]]: tensor<8x4xf32>, %[[D:.*]]: tensor<8x6xf32>, %[[A:.*]]: tensor<4x6xf32>
// CHECK:         %[[S:.*]] = dist.contract %[[X]], %[[D]] plus %[[A]] batch [] x [] contracting [0] x [0]
// CHECK:         return %[[S]]
func.func @accumulate(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<4x6xf32> {dist.slot = #dist.slot<step, "g">})
    -> (tensor<4x6xf32> {dist.slot = #dist.slot<step, "g">}) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %0 = stablehlo.dot_general %t, %dy, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.add %a, %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// An argument that is not replaced by the sum keeps its value.
// CHECK-LABEL: func @kept
// CHECK:         dist.contract %{{.*}}, %{{.*}} batch [] x [] contracting [1] x [0]
// CHECK:         stablehlo.add
func.func @kept(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.add %a, %0 : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// A subtraction is no addition.
// CHECK-LABEL: func @subtract
// CHECK:         dist.contract
// CHECK:         stablehlo.subtract
func.func @subtract(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<4x6xf32> {dist.slot = #dist.slot<step, "g">})
    -> (tensor<4x6xf32> {dist.slot = #dist.slot<step, "g">}) {
  %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.subtract %a, %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// A scatter of zeros, added to an accumulator, scatters into it.
// CHECK-LABEL: func @scatter
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<11x20xf32>
// CHECK:         %[[S:.*]] = "stablehlo.scatter"(%[[A]],
// CHECK-NOT:     stablehlo.add {{.*}} : tensor<11x20xf32>
// CHECK:         return %[[S]]
func.func @scatter(%a: tensor<11x20xf32> {dist.slot = #dist.slot<step, "g">}, %i: tensor<3x1xi32>, %g: tensor<3x20xf32>)
    -> (tensor<11x20xf32> {dist.slot = #dist.slot<step, "g">}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<11x20xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<11x20xf32>, tensor<3x1xi32>, tensor<3x20xf32>) -> tensor<11x20xf32>
  %1 = stablehlo.add %a, %0 : tensor<11x20xf32>
  return %1 : tensor<11x20xf32>
}
