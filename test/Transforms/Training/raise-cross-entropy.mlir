// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise=cross-entropy=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.softmax_cross_entropy
// REMARK-COUNT-4: log-softmax and pick of a class are one softmax cross-entropy
// REMARK: one class is picked for each row, but not of a log-softmax

// log_softmax and take_along_axis as JAX prints them: the mask of classes out
// of range stays, the gather's clamp becomes explicit.
// CHECK-LABEL: func.func @jax
// CHECK-SAME: (%[[X:.*]]: tensor<4x5x7xf32> {{.*}}, %[[T:.*]]: tensor<4x5x1x1xi32>
func.func @jax(%x: tensor<4x5x7xf32> {dist.port = #dist.port<input "x">},
               %t: tensor<4x5x1x1xi32> {dist.port = #dist.port<input "t">},
               %m: tensor<4x5x1xi1> {dist.port = #dist.port<input "m">}) -> (tensor<4x5x1xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: %[[R:.*]] = stablehlo.reshape %[[T]] : (tensor<4x5x1x1xi32>) -> tensor<4x5xi32>
  // CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<0> : tensor<4x5xi32>
  // CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<6> : tensor<4x5xi32>
  // CHECK: %[[MAX:.*]] = stablehlo.maximum %[[R]], %[[LOW]]
  // CHECK: %[[C:.*]] = stablehlo.minimum %[[MAX]], %[[HIGH]]
  // CHECK: %[[L:.*]], %{{.*}} = nn.softmax_cross_entropy %[[X]], %[[C]]
  // CHECK: %[[N:.*]] = stablehlo.negate %[[L]]
  // CHECK: %[[P:.*]] = stablehlo.reshape %[[N]] : (tensor<4x5xf32>) -> tensor<4x5x1xf32>
  // CHECK: stablehlo.select %{{.*}}, %[[P]]
  // CHECK-NOT: stablehlo.exponential
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2]
      : (tensor<4x5x7xf32>, tensor<f32>) -> tensor<4x5xf32>
  %1 = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
  %2 = stablehlo.maximum %1, %0 : tensor<4x5xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5x1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x5x1xf32>) -> tensor<4x5x7xf32>
  %5 = stablehlo.subtract %x, %4 : tensor<4x5x7xf32>
  %6 = stablehlo.exponential %5 : tensor<4x5x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<4x5x7xf32>, tensor<f32>) -> tensor<4x5xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5x1xf32>
  %9 = stablehlo.log %8 : tensor<4x5x1xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x5x1xf32>) -> tensor<4x5x7xf32>
  %11 = stablehlo.subtract %5, %10 : tensor<4x5x7xf32>
  %12 = "stablehlo.gather"(%11, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2],
      operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2],
      index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}>
      : (tensor<4x5x7xf32>, tensor<4x5x1x1xi32>) -> tensor<4x5x1xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<4x5x1xf32>
  %13 = stablehlo.select %m, %12, %nan : tensor<4x5x1xi1>, tensor<4x5x1xf32>
  return %13 : tensor<4x5x1xf32>
}
dist.entry @a function(@jax)

// log_p[arange(n), labels]: rows numbered by an iota.
// CHECK-LABEL: func.func @numbered
func.func @numbered(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
                    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: nn.softmax_cross_entropy
  // CHECK-NOT: stablehlo.gather
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %i1 = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %i1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @b function(@numbered)

// sum(one_hot * log_p) over classes in the first dimension: the classes move
// to the last, and a class out of range gives 0.
// CHECK-LABEL: func.func @one_hot
func.func @one_hot(%x: tensor<7x4xf32> {dist.port = #dist.port<input "x">},
                   %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: %[[XT:.*]] = stablehlo.transpose %{{.*}}, dims = [1, 0]
  // CHECK: %[[L:.*]], %{{.*}} = nn.softmax_cross_entropy %[[XT]], %[[T:.*]] :
  // CHECK: stablehlo.compare GE, %[[T]]
  // CHECK: stablehlo.compare LT, %[[T]]
  // CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %[[L]]
  // CHECK: stablehlo.negate %[[S]]
  %e = stablehlo.exponential %x : tensor<7x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<7x4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<4xf32>) -> tensor<7x4xf32>
  %p = stablehlo.subtract %x, %b : tensor<7x4xf32>
  %i = stablehlo.iota dim = 0 : tensor<7x4xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<4xi32>) -> tensor<7x4xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<7x4xi32>, tensor<7x4xi32>) -> tensor<7x4xi1>
  %h = stablehlo.convert %c : (tensor<7x4xi1>) -> tensor<7x4xf32>
  %m = stablehlo.multiply %h, %p : tensor<7x4xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<7x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @c function(@one_hot)

// log-sum-exp minus the picked logit, both shifted by the maximum.
// CHECK-LABEL: func.func @difference
func.func @difference(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
                      %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: %[[L:.*]], %{{.*}} = nn.softmax_cross_entropy %arg0,
  // CHECK: return %[[L]]
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4x7xf32>
  %3 = stablehlo.exponential %2 : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.log %4 : tensor<4xf32>
  %6 = "stablehlo.gather"(%2, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1],
      operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %7 = stablehlo.subtract %5, %6 : tensor<4xf32>
  return %7 : tensor<4xf32>
}
dist.entry @d function(@difference)

// The sum runs over another dimension than the pick: nothing is raised.
// CHECK-LABEL: func.func @other_dim
func.func @other_dim(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">},
                     %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NOT: nn.softmax_cross_entropy
  // CHECK: return
  %e = stablehlo.exponential %x : tensor<4x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x4xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1],
      operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @e function(@other_dim)
