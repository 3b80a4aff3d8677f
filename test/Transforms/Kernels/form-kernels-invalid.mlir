// RUN: llmc-opt %s --split-input-file --llmc-form-kernels --llmc-form-kernels=target=abacus --verify-diagnostics

// Each fault ends the pass: the second one, which refuses its target, never
// runs. A constant of a resource has no scalar code; it stands where a kernel
// of each kind asks for an element.

func.func @formed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @left(%x: tensor<4x7xf32>, %t: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.negate %x : tensor<4x7xf32>
  // expected-error @+1 {{expected 'nn.softmax_cross_entropy' to be decomposed before kernels are formed}}
  %l, %lse = nn.softmax_cross_entropy %0, %t : (tensor<4x7xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %l, %lse : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{expected argument #0 of f64, f32, bf16, f16, floats of 8 bits, i1 or integers of 4, 8, 16, 32 or 64 bits, got 'tensor<3xi2>', which is not supported}}
func.func @narrow(%x: tensor<3xi2>) -> tensor<3xi2> {
  return %x : tensor<3xi2>
}

// -----

func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{expected a function of one block, got 2}}
func.func @two(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
^bb1(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}

// -----

// The second kernel of a function.
func.func @flat(%x: tensor<40xf32>, %y: tensor<20xf32>) -> (tensor<40xf32>, tensor<20xf32>) {
  %0 = stablehlo.negate %x : tensor<40xf32>
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<20xf32>
  %1 = stablehlo.multiply %y, %bad : tensor<20xf32>
  return %0, %1 : tensor<40xf32>, tensor<20xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

// Through a view.
func.func @view(%y: tensor<20xf32>) -> tensor<20xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
  %0 = stablehlo.reshape %bad : (tensor<4x5xf32>) -> tensor<20xf32>
  %1 = stablehlo.multiply %y, %0 : tensor<20xf32>
  return %1 : tensor<20xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

// A reduction over dims of size 1 is a step of element-wise code.
func.func @single(%x: tensor<1x40xf32>, %z: tensor<f32>, %o: tensor<f32>) -> tensor<40xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.reduce', got none}}
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<1x40xf32>, tensor<f32>) -> tensor<40xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error @+1 {{expected a body that uses no value from outside in a kernel, got one (llmc-close-regions takes them in)}}
    %s = stablehlo.add %a, %o : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  %1 = stablehlo.negate %0 : tensor<40xf32>
  return %1 : tensor<40xf32>
}

// -----

// Along rows: the step, an element, and the start of the second reduction.
func.func @row_step(%x: tensor<4x40xf32>, %z: tensor<f32>, %o: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected the combining step of 'stablehlo.reduce', got none}}
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error @+1 {{expected a body that uses no value from outside in a kernel, got one (llmc-close-regions takes them in)}}
    %s = stablehlo.add %a, %o : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @row_element(%x: tensor<4x40xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x40xf32>
  %0 = stablehlo.add %x, %bad : tensor<4x40xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

func.func @row_start(%x: tensor<4x40xf32>, %z: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

// Along columns the same, in blocks of blocks of 64 rows.
func.func @column_step(%x: tensor<70x40xf32>, %z: tensor<f32>, %o: tensor<f32>) -> tensor<40xf32> {
  // expected-error @+1 {{expected the combining step of 'stablehlo.reduce', got none}}
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<70x40xf32>, tensor<f32>) -> tensor<40xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error @+1 {{expected a body that uses no value from outside in a kernel, got one (llmc-close-regions takes them in)}}
    %s = stablehlo.add %a, %o : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %0 : tensor<40xf32>
}

// -----

func.func @column_element(%x: tensor<70x40xf32>, %z: tensor<f32>) -> tensor<40xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<70x40xf32>
  %0 = stablehlo.add %x, %bad : tensor<70x40xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<70x40xf32>, tensor<f32>) -> tensor<40xf32>
  return %1 : tensor<40xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

func.func @column_start(%x: tensor<4x40xf32>, %z: tensor<f32>) -> (tensor<40xf32>, tensor<40xf32>) {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x40xf32>, tensor<f32>) -> tensor<40xf32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<4x40xf32>, tensor<f32>) -> tensor<40xf32>
  return %0, %1 : tensor<40xf32>, tensor<40xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

// In a kernel of rows: an element that is reduced, the start, a value of the
// row, and what is written of each element.
func.func @rows_element(%x: tensor<4x40xf32>, %z: tensor<f32>) -> tensor<4x40xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x40xf32>
  %0 = stablehlo.add %x, %bad : tensor<4x40xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x40xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<4x40xf32>
  return %3 : tensor<4x40xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

func.func @rows_start(%x: tensor<4x40xf32>) -> tensor<4x40xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x40xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<4x40xf32>
  return %3 : tensor<4x40xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

func.func @rows_scalar(%x: tensor<4x40xf32>, %z: tensor<f32>) -> tensor<4x40xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %0, %bad : tensor<4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x40xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<4x40xf32>
  return %3 : tensor<4x40xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

func.func @rows_written(%x: tensor<4x40xf32>, %z: tensor<f32>) -> tensor<4x40xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x40xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x40xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x40xf32>
  %2 = stablehlo.multiply %bad, %1 : tensor<4x40xf32>
  return %2 : tensor<4x40xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

// In place: the position, the element that is written, and the step.
func.func @update_at(%x: tensor<8xf32>, %u: tensor<2xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %c : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

func.func @update_element(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected scalar code for 'stablehlo.constant', got none}}
  %c = stablehlo.constant dense_resource<w> : tensor<f32>
  %bad = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.dynamic_update_slice %x, %bad, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000C03F" } } #-}

// -----

func.func @update_step(%x: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<2x1xi32>, %o: tensor<f32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected the update step of 'stablehlo.scatter', got none}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @+1 {{expected a body that uses no value from outside in a kernel, got one (llmc-close-regions takes them in)}}
    %s = stablehlo.add %a, %o : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
