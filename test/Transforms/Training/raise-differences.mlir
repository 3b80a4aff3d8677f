// RUN: llmc-opt %s --split-input-file --llmc-raise | FileCheck %s

// Which differences of a log-sum-exp and a pick are known. What looks alike and
// is none of these is left as it is.

// Classes are signless integers of 32 bits or more.
// CHECK-LABEL: func.func @classes_of_i8(
// CHECK: %[[T:.*]] = stablehlo.convert %{{.*}} : (tensor<4xi8>) -> tensor<4xi32>
// CHECK: stablehlo.maximum %[[T]],
// CHECK: nn.softmax_cross_entropy
func.func @classes_of_i8(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi8> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi8>) -> tensor<4xf32>
  %d = stablehlo.subtract %l, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@classes_of_i8)

// -----

// CHECK-LABEL: func.func @classes_of_ui32(
// CHECK: %[[T:.*]] = stablehlo.convert %{{.*}} : (tensor<4xui32>) -> tensor<4xi32>
// CHECK: stablehlo.maximum %[[T]],
// CHECK: nn.softmax_cross_entropy
func.func @classes_of_ui32(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xui32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xui32>) -> tensor<4xf32>
  %d = stablehlo.subtract %l, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@classes_of_ui32)

// -----

// CHECK-LABEL: func.func @classes_of_i64(
// CHECK-NOT: stablehlo.convert
// CHECK: nn.softmax_cross_entropy %{{.*}} : (tensor<4x7xf32>, tensor<4xi64>)
func.func @classes_of_i64(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi64> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  %d = stablehlo.subtract %l, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@classes_of_i64)

// -----

// Between pick and difference stands a mask: it chooses the loss, too. A fill of
// NaN is the fill of the difference.
// CHECK-LABEL: func.func @masked(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x7xf32> {{.*}}, %[[M:[a-z0-9]+]]: tensor<4xi1>
// CHECK-DAG: %[[NAN:.*]] = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
// CHECK-DAG: %[[L:.*]], %{{.*}} = nn.softmax_cross_entropy %[[X]],
// CHECK: %[[D:.*]] = stablehlo.select %[[M]], %[[L]], %[[NAN]]
// CHECK-NEXT: return %[[D]]
func.func @masked(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %m: tensor<4xi1> {dist.port = #dist.port<input "m">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
  %h = stablehlo.select %m, %g, %nan : tensor<4xi1>, tensor<4xf32>
  %d = stablehlo.subtract %l, %h : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@masked)

// -----

// Any other is subtracted from the log-sum-exp.
// CHECK-LABEL: func.func @masked_by_number(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x7xf32> {{.*}}, %[[M:[a-z0-9]+]]: tensor<4xi1>
// CHECK-DAG: %[[TWO:.*]] = stablehlo.constant dense<2.0{{.*}}> : tensor<4xf32>
// CHECK-DAG: %[[L:.*]], %[[LSE:.*]] = nn.softmax_cross_entropy %[[X]],
// CHECK: %[[F:.*]] = stablehlo.subtract %[[LSE]], %[[TWO]]
// CHECK: %[[D:.*]] = stablehlo.select %[[M]], %[[L]], %[[F]]
// CHECK-NEXT: return %[[D]]
func.func @masked_by_number(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %m: tensor<4xi1> {dist.port = #dist.port<input "m">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %nan = stablehlo.constant dense<2.0> : tensor<4xf32>
  %h = stablehlo.select %m, %g, %nan : tensor<4xi1>, tensor<4xf32>
  %d = stablehlo.subtract %l, %h : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@masked_by_number)

// -----

// One mask is known, with the pick where it is true, one fill for all rows and
// a choice for each of them.
// CHECK-LABEL: func.func @masked_twice(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @masked_twice(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %m: tensor<4xi1> {dist.port = #dist.port<input "m">}, %m2: tensor<4xi1> {dist.port = #dist.port<input "m2">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
  %h = stablehlo.select %m, %g, %nan : tensor<4xi1>, tensor<4xf32>
  %i = stablehlo.select %m2, %h, %nan : tensor<4xi1>, tensor<4xf32>
  %d = stablehlo.subtract %l, %i : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@masked_twice)

// -----

// CHECK-LABEL: func.func @masked_otherwise(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @masked_otherwise(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %m: tensor<4xi1> {dist.port = #dist.port<input "m">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
  %h = stablehlo.select %m, %nan, %g : tensor<4xi1>, tensor<4xf32>
  %d = stablehlo.subtract %l, %h : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@masked_otherwise)

// -----

// CHECK-LABEL: func.func @filled_by_row(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @filled_by_row(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %m: tensor<4xi1> {dist.port = #dist.port<input "m">}, %o: tensor<4xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %h = stablehlo.select %m, %g, %o : tensor<4xi1>, tensor<4xf32>
  %d = stablehlo.subtract %l, %h : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@filled_by_row)

// -----

// CHECK-LABEL: func.func @one_choice(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @one_choice(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %m: tensor<i1> {dist.port = #dist.port<input "m">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
  %h = stablehlo.select %m, %g, %nan : tensor<i1>, tensor<4xf32>
  %d = stablehlo.subtract %l, %h : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@one_choice)

// -----

// The pick has no other use.
// CHECK-LABEL: func.func @used_twice(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @used_twice(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %d = stablehlo.subtract %l, %g : tensor<4xf32>
  %h = stablehlo.multiply %d, %g : tensor<4xf32>
  return %h : tensor<4xf32>
}
dist.entry @a function(@used_twice)

// -----

// CHECK-LABEL: func.func @from_itself(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @from_itself(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %d = stablehlo.subtract %g, %g : tensor<4xf32>
  %h = stablehlo.add %d, %l : tensor<4xf32>
  return %h : tensor<4xf32>
}
dist.entry @a function(@from_itself)

// -----

// It does not repeat.
// CHECK-LABEL: func.func @repeated(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @repeated(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4x3xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %h = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
  %k = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
  %d = stablehlo.subtract %k, %h : tensor<4x3xf32>
  return %d : tensor<4x3xf32>
}
dist.entry @a function(@repeated)

// -----

// It is what is subtracted.
// CHECK-LABEL: func.func @reversed(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @reversed(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %d = stablehlo.subtract %g, %l : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@reversed)

// -----

// It is picked from that of which the log-sum-exp is.
// CHECK-LABEL: func.func @other_logits(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @other_logits(%z: tensor<4x7xf32> {dist.port = #dist.port<input "z">}, %x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %z : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %d = stablehlo.subtract %l, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}
dist.entry @a function(@other_logits)

// -----

// Rows that are merged are not followed.
// CHECK-LABEL: func.func @merged_rows(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @merged_rows(%x: tensor<2x3x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<2x3x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<6xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2x3x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x3x7xf32>, tensor<f32>) -> tensor<2x3xf32>
  %l = stablehlo.log %s : tensor<2x3xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x3x7xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
  %h = stablehlo.reshape %g : (tensor<2x3xf32>) -> tensor<6xf32>
  %k = stablehlo.reshape %l : (tensor<2x3xf32>) -> tensor<6xf32>
  %d = stablehlo.subtract %k, %h : tensor<6xf32>
  return %d : tensor<6xf32>
}
dist.entry @a function(@merged_rows)

// -----

// Whole numbers have no log-softmax.
// CHECK-LABEL: func.func @whole_numbers(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @whole_numbers(%x: tensor<4x7xi32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xi32> {dist.port = #dist.port<output "y">}) {
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xi32>, tensor<4x1xi32>) -> tensor<4xi32>
  return %g : tensor<4xi32>
}
dist.entry @a function(@whole_numbers)

// -----

// Rows are subtracted where they stand.
// CHECK-LABEL: func.func @rows_as_they_are(
// CHECK: nn.softmax_cross_entropy
func.func @rows_as_they_are(%x: tensor<4x4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x4x7xf32>, tensor<f32>) -> tensor<4x4xf32>
  %l = stablehlo.log %s : tensor<4x4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x4x7xf32>, tensor<4x4x1xi32>) -> tensor<4x4xf32>
  %b = stablehlo.broadcast_in_dim %g, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = stablehlo.subtract %l, %b : tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
dist.entry @a function(@rows_as_they_are)

// -----

// A broadcast may exchange dimensions.
// CHECK-LABEL: func.func @exchanged_rows(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @exchanged_rows(%x: tensor<4x4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x4x7xf32>, tensor<f32>) -> tensor<4x4xf32>
  %l = stablehlo.log %s : tensor<4x4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x4x7xf32>, tensor<4x4x1xi32>) -> tensor<4x4xf32>
  %b = stablehlo.broadcast_in_dim %g, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = stablehlo.subtract %l, %b : tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
dist.entry @a function(@exchanged_rows)

// -----

// CHECK-LABEL: func.func @rows_in_one_piece(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @rows_in_one_piece(%x: tensor<4x4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<16xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x4x7xf32>, tensor<f32>) -> tensor<4x4xf32>
  %l = stablehlo.log %s : tensor<4x4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x4x7xf32>, tensor<4x4x1xi32>) -> tensor<4x4xf32>
  %f = stablehlo.reshape %l : (tensor<4x4xf32>) -> tensor<16xf32>
  %h = stablehlo.reshape %g : (tensor<4x4xf32>) -> tensor<16xf32>
  %d = stablehlo.subtract %f, %h : tensor<16xf32>
  return %d : tensor<16xf32>
}
dist.entry @a function(@rows_in_one_piece)
