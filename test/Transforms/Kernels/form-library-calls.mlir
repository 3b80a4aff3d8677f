// RUN: llmc-opt %s --split-input-file --llmc-form-library-calls | FileCheck %s

// A transpose is read in place; the accumulator of the program is added to.
// CHECK-LABEL: func @accumulate
// CHECK-SAME:    (%[[X:.*]]: tensor<8x4xf32>, %[[D:.*]]: tensor<8x6xf32>, %[[A:.*]]: tensor<4x6xf32>
// CHECK:         %[[S:.*]] = dist.contract %[[X]], %[[D]] plus %[[A]] batch [] x [] contracting [0] x [0]
// CHECK:         return %[[S]]
func.func @accumulate(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<4x6xf32> {dist.port = #dist.port<gradient @g>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<gradient @g>}) {
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
func.func @subtract(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<4x6xf32> {dist.port = #dist.port<gradient @g>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<gradient @g>}) {
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
func.func @scatter(%a: tensor<11x20xf32> {dist.port = #dist.port<gradient @g>}, %i: tensor<3x1xi32>, %g: tensor<3x20xf32>)
    -> (tensor<11x20xf32> {dist.port = #dist.port<gradient @g>}) {
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

// -----

// Of two contractions that are added the second adds to the first.
// CHECK-LABEL: func @two
// CHECK-NEXT:    %[[A:.*]] = dist.contract %arg0, %arg1 batch [] x [] contracting [1] x [0]
// CHECK-NEXT:    %[[B:.*]] = dist.contract %arg0, %arg2 plus %[[A]] batch [] x [] contracting [1] x [0]
// CHECK-NEXT:    return %[[B]]
func.func @two(%x: tensor<8x4xf32>, %v: tensor<4x6xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}

// -----

// A product or an accumulator that something else reads too stays.
// CHECK-LABEL: func @used
// CHECK-NEXT:    dist.contract %{{.*}}, %{{.*}} batch
// CHECK-NEXT:    stablehlo.add
func.func @used(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<4x6xf32> {dist.port = #dist.port<gradient @g>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<gradient @g>}, tensor<4x6xf32>) {
  %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.add %a, %0 : tensor<4x6xf32>
  return %1, %0 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func @late
// CHECK-NEXT:    dist.contract %{{.*}}, %{{.*}} batch
// CHECK-NEXT:    stablehlo.add
func.func @late(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<4x6xf32> {dist.port = #dist.port<gradient @g>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<gradient @g>}, tensor<4x6xf32>) {
  %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.add %a, %0 : tensor<4x6xf32>
  %2 = stablehlo.negate %a : tensor<4x6xf32>
  return %1, %2 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Sums and states are replaced in place, through views too; other slots and
// other sums are not.
// CHECK-LABEL: func @slots
// CHECK-NEXT:    %[[A:.*]] = dist.contract %arg0, %arg1 plus %arg2 batch
// CHECK-NEXT:    %[[V:.*]] = stablehlo.reshape %[[A]]
// CHECK-NEXT:    %[[P:.*]] = dist.contract %arg0, %arg1 batch
// CHECK-NEXT:    %[[B:.*]] = stablehlo.add %arg3, %[[P]]
// CHECK-NEXT:    %[[Q:.*]] = dist.contract %arg0, %arg1 batch
// CHECK-NEXT:    %[[C:.*]] = stablehlo.add %arg4, %[[Q]]
// CHECK-NEXT:    return %[[V]], %[[B]], %[[C]]
func.func @slots(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %s: tensor<4x6xf32> {dist.port = #dist.port<buffer @s>},
                 %a: tensor<4x6xf32> {dist.port = #dist.port<act "a">}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @g>})
    -> (tensor<24xf32> {dist.port = #dist.port<buffer @s>}, tensor<4x6xf32> {dist.port = #dist.port<act "a">}, tensor<4x6xf32> {dist.port = #dist.port<gradient @h>}) {
  %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.add %0, %s : tensor<4x6xf32>
  %2 = stablehlo.reshape %1 : (tensor<4x6xf32>) -> tensor<24xf32>
  %3 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.add %a, %3 : tensor<4x6xf32>
  %5 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %6 = stablehlo.add %g, %5 : tensor<4x6xf32>
  return %2, %4, %6 : tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Batch and contracted dims follow a transpose of one free dim; two free dims
// would change their order.
// CHECK-LABEL: func @transposed
// CHECK:         dist.contract %arg0, %arg1 batch [2] x [1] contracting [0] x [2]
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %arg0
// CHECK-NEXT:    dist.contract %[[T]], %arg2 batch [] x [] contracting [0] x [0]
func.func @transposed(%x: tensor<4x5x2xf32>, %y: tensor<3x2x4xf32>, %z: tensor<2x6xf32>) -> (tensor<2x5x3xf32>, tensor<4x5x6xf32>) {
  %s = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<4x5x2xf32>) -> tensor<2x5x4xf32>
  %t = stablehlo.transpose %y, dims = [1, 2, 0] : (tensor<3x2x4xf32>) -> tensor<2x4x3xf32>
  %0 = stablehlo.dot_general %s, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x4xf32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  %u = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<4x5x2xf32>) -> tensor<2x4x5xf32>
  %1 = stablehlo.dot_general %u, %z, contracting_dims = [0] x [0] : (tensor<2x4x5xf32>, tensor<2x6xf32>) -> tensor<4x5x6xf32>
  return %0, %1 : tensor<2x5x3xf32>, tensor<4x5x6xf32>
}

// -----

// A scatter into something else than zeros, or that multiplies, starts anew.
// CHECK-LABEL: func @starts
// CHECK: "stablehlo.scatter"(%{{.*}}, %arg1, %arg2)
// CHECK: stablehlo.add %arg0, %{{.*}} : tensor<11x20xf32>
// CHECK: "stablehlo.scatter"(%{{.*}}, %arg1, %arg2)
// CHECK: stablehlo.add %arg3, %{{.*}} : tensor<11x20xf32>
func.func @starts(%a: tensor<11x20xf32> {dist.port = #dist.port<gradient @g>}, %i: tensor<3x1xi32>, %g: tensor<3x20xf32>, %b: tensor<11x20xf32> {dist.port = #dist.port<gradient @h>})
    -> (tensor<11x20xf32> {dist.port = #dist.port<gradient @g>}, tensor<11x20xf32> {dist.port = #dist.port<gradient @h>}) {
  %ones = stablehlo.constant dense<1.0> : tensor<11x20xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<11x20xf32>
  %0 = "stablehlo.scatter"(%ones, %i, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<11x20xf32>, tensor<3x1xi32>, tensor<3x20xf32>) -> tensor<11x20xf32>
  %1 = stablehlo.add %a, %0 : tensor<11x20xf32>
  %2 = "stablehlo.scatter"(%zeros, %i, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<11x20xf32>, tensor<3x1xi32>, tensor<3x20xf32>) -> tensor<11x20xf32>
  %3 = stablehlo.add %b, %2 : tensor<11x20xf32>
  return %1, %3 : tensor<11x20xf32>, tensor<11x20xf32>
}

// -----

// Zeros of an integer type are zeros too, on either side of the sum.
// CHECK-LABEL: func @integers
// CHECK:         %[[S:.*]] = "stablehlo.scatter"(%arg0, %arg1, %arg2)
// CHECK-NOT:     stablehlo.add {{.*}} : tensor<11x20xi32>
// CHECK:         return %[[S]]
func.func @integers(%a: tensor<11x20xi32> {dist.port = #dist.port<gradient @g>}, %i: tensor<3x1xi32>, %g: tensor<3x20xi32>)
    -> (tensor<11x20xi32> {dist.port = #dist.port<gradient @g>}) {
  %zeros = stablehlo.constant dense<0> : tensor<11x20xi32>
  %0 = "stablehlo.scatter"(%zeros, %i, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<11x20xi32>, tensor<3x1xi32>, tensor<3x20xi32>) -> tensor<11x20xi32>
  %1 = stablehlo.add %0, %a : tensor<11x20xi32>
  return %1 : tensor<11x20xi32>
}

// -----

// A result without a port is in no slot.
// CHECK-LABEL: func @portless
// CHECK-NEXT:    %[[C:.*]] = dist.contract %arg0, %arg1 batch [] x [] contracting [0] x [0]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %arg2, %[[C]]
// CHECK-NEXT:    return %[[S]]
func.func @portless(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<4x6xf32> {dist.port = #dist.port<gradient @g>}) -> tensor<4x6xf32> {
  %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.add %a, %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// A vector along the right side's dims is the bias, on either side of the
// addition; the call stands where that stood.
// CHECK-LABEL: func @bias
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x5xf32>, %[[W:[a-z0-9]+]]: tensor<5x3x6xf32>, %[[B:[a-z0-9]+]]: tensor<3x6xf32>, %[[C:[a-z0-9]+]]: tensor<7xf64>
// CHECK:         dist.contract %[[X]], %[[W]] bias %[[B]] batch [] x [] contracting [2] x [0]
// CHECK-NOT:     stablehlo.add
// CHECK:         %[[N:.*]] = stablehlo.negate %[[C]]
// CHECK:         dist.contract {{.*}} bias %[[N]] batch [] x [] contracting [1] x [0]
// CHECK-NOT:     stablehlo.add
func.func @bias(%x: tensor<2x4x5xf32>, %w: tensor<5x3x6xf32>, %b: tensor<3x6xf32>, %c: tensor<7xf64>, %d: tensor<1x5xf64>, %e: tensor<5x7xf64>)
    -> (tensor<2x4x3x6xf32>, tensor<1x7xf64>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x4x5xf32>, tensor<5x3x6xf32>) -> tensor<2x4x3x6xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [2, 3] : (tensor<3x6xf32>) -> tensor<1x1x3x6xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x3x6xf32>) -> tensor<2x4x3x6xf32>
  %3 = stablehlo.add %0, %2 : tensor<2x4x3x6xf32>
  %4 = stablehlo.dot_general %d, %e, contracting_dims = [1] x [0] : (tensor<1x5xf64>, tensor<5x7xf64>) -> tensor<1x7xf64>
  %5 = stablehlo.negate %c : tensor<7xf64>
  %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<7xf64>) -> tensor<1x7xf64>
  %7 = stablehlo.add %6, %4 : tensor<1x7xf64>
  return %3, %7 : tensor<2x4x3x6xf32>, tensor<1x7xf64>
}

// -----

// No bias: a vector along the left side's dims, a scalar, a part of the right
// side's dims, these dims exchanged, a product that is read twice, a
// subtraction.
// CHECK-LABEL: func @no_bias
// CHECK-NOT:     bias %
// CHECK:         return
func.func @no_bias(%x: tensor<3x5xf32>, %w: tensor<5x3x3xf32>, %v: tensor<3xf32>, %s: tensor<f32>, %m: tensor<3x3xf32>)
    -> (tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x3x3xf32>) -> tensor<3x3x3xf32>
  %1 = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<3xf32>) -> tensor<3x3x3xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x3x3xf32>
  %3 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x3x3xf32>) -> tensor<3x3x3xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x3x3xf32>
  %5 = stablehlo.add %3, %4 : tensor<3x3x3xf32>
  %6 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x3x3xf32>) -> tensor<3x3x3xf32>
  %7 = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<3xf32>) -> tensor<3x3x3xf32>
  %8 = stablehlo.add %6, %7 : tensor<3x3x3xf32>
  %9 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x3x3xf32>) -> tensor<3x3x3xf32>
  %10 = stablehlo.transpose %m, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %11 = stablehlo.broadcast_in_dim %10, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<3x3x3xf32>
  %12 = stablehlo.add %9, %11 : tensor<3x3x3xf32>
  %13 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x3x3xf32>) -> tensor<3x3x3xf32>
  %14 = stablehlo.broadcast_in_dim %m, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<3x3x3xf32>
  %15 = stablehlo.add %13, %14 : tensor<3x3x3xf32>
  %16 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x3x3xf32>) -> tensor<3x3x3xf32>
  %17 = stablehlo.subtract %16, %14 : tensor<3x3x3xf32>
  return %2, %5, %8, %12, %15, %13, %17 : tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>
}

// -----

// Sums wider than the result are rounded before a bias is added, which a
// library would not do; a product that is added to takes no bias beside.
// CHECK-LABEL: func @other_bits
// CHECK-NOT:     bias %
// CHECK:         dist.contract {{.*}} plus %
// CHECK-NOT:     bias %
func.func @other_bits(%x: tensor<4x5xbf16>, %w: tensor<5x6xbf16>, %b: tensor<6xbf16>, %y: tensor<8x4xf32>, %dy: tensor<8x6xf32>,
                      %a: tensor<4x6xf32> {dist.port = #dist.port<gradient @g>}, %c: tensor<6xf32>)
    -> (tensor<4x6xbf16>, tensor<4x6xf32> {dist.port = #dist.port<gradient @g>}, tensor<4x6xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x5xbf16>, tensor<5x6xbf16>) -> tensor<4x6xbf16>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xbf16>) -> tensor<4x6xbf16>
  %2 = stablehlo.add %0, %1 : tensor<4x6xbf16>
  %3 = stablehlo.dot_general %y, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.add %a, %3 : tensor<4x6xf32>
  %5 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %6 = stablehlo.add %4, %5 : tensor<4x6xf32>
  return %2, %4, %6 : tensor<4x6xbf16>, tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// The first part of a vector is not the vector; it may be the bias.
// CHECK-LABEL: func @part
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<12xf32>)
// CHECK:         %[[S:.*]] = stablehlo.slice %[[B]] [0:6]
// CHECK:         dist.contract {{.*}} bias %[[S]] batch
func.func @part(%x: tensor<4x5xf32>, %w: tensor<5x6xf32>, %b: tensor<12xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.slice %b [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %3 = stablehlo.add %0, %2 : tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

// -----

// A product writes itself transposed, and is added to as such; batch dims may
// change places too, but not with others, and what something else reads stays.
// CHECK-LABEL: func @written
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x4xf32>, %[[D:[a-z0-9]+]]: tensor<8x6xf32>, %[[A:[a-z0-9]+]]: tensor<6x4xf32>
// CHECK-NEXT:    %[[S:.*]] = dist.contract %[[D]], %[[X]] plus %[[A]] batch [] x [] contracting [0] x [0]
// CHECK-SAME:      -> tensor<6x4xf32>
// CHECK-NEXT:    return %[[S]]
func.func @written(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %a: tensor<6x4xf32> {dist.port = #dist.port<gradient @g>})
    -> (tensor<6x4xf32> {dist.port = #dist.port<gradient @g>}) {
  %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %t = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.add %a, %t : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// CHECK-LABEL: func @written_batches
// CHECK-NEXT:    dist.contract %arg1, %arg0 batch [2, 0] x [1, 0] contracting [1] x [4]
// CHECK-SAME:      -> tensor<3x2x6x5x7xf32>
// CHECK-NEXT:    dist.contract %arg0, %arg1 batch [1, 0] x [2, 0] contracting [4] x [1]
// CHECK-SAME:      -> tensor<3x2x5x7x6xf32>
// CHECK-NEXT:    dist.contract %arg0, %arg1 batch [0, 1] x [0, 2]
// CHECK-NEXT:    stablehlo.transpose
// CHECK-NEXT:    %[[R:.*]] = dist.contract %arg0, %arg1 batch [0, 1] x [0, 2]
// CHECK-NEXT:    stablehlo.transpose %[[R]]
func.func @written_batches(%x: tensor<2x3x5x7x4xf32>, %y: tensor<2x4x3x6xf32>)
    -> (tensor<3x2x6x5x7xf32>, tensor<3x2x5x7x6xf32>, tensor<2x5x3x7x6xf32>, tensor<2x3x5x7x6xf32>, tensor<2x3x6x5x7xf32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1] : (tensor<2x3x5x7x4xf32>, tensor<2x4x3x6xf32>) -> tensor<2x3x5x7x6xf32>
  %t = stablehlo.transpose %0, dims = [1, 0, 4, 2, 3] : (tensor<2x3x5x7x6xf32>) -> tensor<3x2x6x5x7xf32>
  %1 = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1] : (tensor<2x3x5x7x4xf32>, tensor<2x4x3x6xf32>) -> tensor<2x3x5x7x6xf32>
  %u = stablehlo.transpose %1, dims = [1, 0, 2, 3, 4] : (tensor<2x3x5x7x6xf32>) -> tensor<3x2x5x7x6xf32>
  %2 = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1] : (tensor<2x3x5x7x4xf32>, tensor<2x4x3x6xf32>) -> tensor<2x3x5x7x6xf32>
  %v = stablehlo.transpose %2, dims = [0, 2, 1, 3, 4] : (tensor<2x3x5x7x6xf32>) -> tensor<2x5x3x7x6xf32>
  %3 = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1] : (tensor<2x3x5x7x4xf32>, tensor<2x4x3x6xf32>) -> tensor<2x3x5x7x6xf32>
  %w = stablehlo.transpose %3, dims = [0, 1, 4, 2, 3] : (tensor<2x3x5x7x6xf32>) -> tensor<2x3x6x5x7xf32>
  return %t, %u, %v, %3, %w : tensor<3x2x6x5x7xf32>, tensor<3x2x5x7x6xf32>, tensor<2x5x3x7x6xf32>, tensor<2x3x5x7x6xf32>, tensor<2x3x6x5x7xf32>
}
