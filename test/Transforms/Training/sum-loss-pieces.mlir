// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-sum-loss -o /dev/null
// Where the batch lies, and which ops keep its samples apart.

// A batch in two runs of one dimension meets another such.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %b1 = stablehlo.transpose %b0, dims = [0, 2, 1] : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %b = stablehlo.reshape %b1 : (tensor<2x4x4xf32>) -> tensor<32xf32>
  %o0 = stablehlo.reshape %m : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %o1 = stablehlo.transpose %o0, dims = [0, 2, 1] : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %o = stablehlo.reshape %o1 : (tensor<2x4x4xf32>) -> tensor<32xf32>
  %z = stablehlo.multiply %b, %o : tensor<32xf32>
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// What stands between the runs is no count of it with the runs themselves.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %b1 = stablehlo.transpose %b0, dims = [0, 2, 1] : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %b = stablehlo.reshape %b1 : (tensor<2x4x4xf32>) -> tensor<32xf32>
  %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<128.0> : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.divide' that is a sum over the batch that no number of its elements divides; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// It does not meet the same batch in one run.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %b1 = stablehlo.transpose %b0, dims = [0, 2, 1] : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %b = stablehlo.reshape %b1 : (tensor<2x4x4xf32>) -> tensor<32xf32>
  %o0 = stablehlo.transpose %m, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %o = stablehlo.reshape %o0 : (tensor<4x8xf32>) -> tensor<32xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.multiply' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %z = stablehlo.multiply %b, %o : tensor<32xf32>
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// The runs in the other order.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %b1 = stablehlo.transpose %b0, dims = [1, 2, 0] : (tensor<2x4x4xf32>) -> tensor<4x4x2xf32>
  %b = stablehlo.reshape %b1 : (tensor<4x4x2xf32>) -> tensor<32xf32>
  %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Merged and split again it stands where it was.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<32xf32>
  %o = stablehlo.reshape %b : (tensor<32xf32>) -> tensor<8x4xf32>
  %z = stablehlo.multiply %o, %m : tensor<8x4xf32>
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Batches of two sizes do not meet.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x2x4xf32> {dist.port = #dist.port<input "y">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %y1 = stablehlo.transpose %y, dims = [1, 0, 2] : (tensor<4x2x4xf32>) -> tensor<2x4x4xf32>
  %o = stablehlo.reshape %y1 : (tensor<2x4x4xf32>) -> tensor<8x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.multiply' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %z = stablehlo.multiply %a, %o : tensor<8x4xf32>
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Samples that begin within a row are in none.
dist.state @w : tensor<6x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<6x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<6x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<6x4xf32>
  %b = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<24xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.reshape' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %c = stablehlo.reshape %b : (tensor<24xf32>) -> tensor<8x3xf32>
  %sum = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<24.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Nor are those that end within one.
dist.state @w : tensor<6x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<6x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<6x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<6x4xf32>
  %b = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<24xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.reshape' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %c = stablehlo.reshape %b : (tensor<24xf32>) -> tensor<4x6xf32>
  %sum = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<24.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// All samples of one feature, and half of the next.
dist.state @w : tensor<4x3xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<4x3xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4x3xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<4x3xf32>
  %d = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %b = stablehlo.reshape %d : (tensor<3x4xf32>) -> tensor<12xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.reshape' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %c = stablehlo.reshape %b : (tensor<12xf32>) -> tensor<2x6xf32>
  %sum = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<12.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// One element of each row, with the index vectors in the first dimension.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %n0 = stablehlo.slice %m [0:8, 0:1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y0 = stablehlo.convert %n0 : (tensor<8x1xf32>) -> tensor<8x1xi32>
  %y = stablehlo.transpose %y0, dims = [1, 0] : (tensor<8x1xi32>) -> tensor<1x8xi32>
  %g = "stablehlo.gather"(%a, %y) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x4xf32>, tensor<1x8xi32>) -> tensor<8xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Samples that are added up by class, from zero.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %n0 = stablehlo.slice %m [0:8, 0:1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = stablehlo.convert %n0 : (tensor<8x1xf32>) -> tensor<8x1xi32>
  %u = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %p0 = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %q0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %g = "stablehlo.scatter"(%q0, %y, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%c: tensor<f32>, %d: tensor<f32>):
    %e = stablehlo.add %c, %d : tensor<f32>
    stablehlo.return %e : tensor<f32>
  }) : (tensor<4xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<4xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// From a parameter they are not a sum over the batch.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %n0 = stablehlo.slice %m [0:8, 0:1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = stablehlo.convert %n0 : (tensor<8x1xf32>) -> tensor<8x1xi32>
  %u = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %p0 = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %q0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.scatter' that adds a sum over the batch to what is none; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %g = "stablehlo.scatter"(%p0, %y, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%c: tensor<f32>, %d: tensor<f32>):
    %e = stablehlo.add %c, %d : tensor<f32>
    stablehlo.return %e : tensor<f32>
  }) : (tensor<4xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<4xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A function that is called may do anything.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func private @f(%v: tensor<8x4xf32>) -> tensor<8x4xf32> { return %v : tensor<8x4xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'func.call' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %b = func.call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Of a parameter alone it does nothing to samples.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func private @f(%v: tensor<8x4xf32>) -> tensor<8x4xf32> { return %v : tensor<8x4xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = func.call @f(%w) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %a = stablehlo.multiply %x, %b : tensor<8x4xf32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// The first op that is not linear is named, whatever reads it.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func private @f(%v: tensor<f32>) -> tensor<f32> { return %v : tensor<f32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.log' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %b = stablehlo.log %s : tensor<f32>
  %l = func.call @f(%b) : (tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A body that reads a sum of the samples.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.reduce' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.reduce(%w init: %zero) across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%c: tensor<f32>, %d: tensor<f32>) {
      %e = stablehlo.multiply %d, %s : tensor<f32>
      %f = stablehlo.add %c, %e : tensor<f32>
      stablehlo.return %f : tensor<f32>
    }
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// An input that is one number is one sample; what sums over it to a number may
// be read as the sum over the batch.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%t: tensor<f32> {dist.port = #dist.port<input "t">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %a = stablehlo.multiply %b, %w : tensor<8x4xf32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// One sample that is a number is no sum: any function of it has a mean.
dist.state @w : tensor<1x1xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<1x1xf32> {dist.port = #dist.port<input "x">}, %w: tensor<1x1xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<1x1xf32>
  %b = stablehlo.reshape %a : (tensor<1x1xf32>) -> tensor<f32>
  %l = stablehlo.log %b : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A loss that is an input.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%t: tensor<f32> {dist.port = #dist.port<input "t">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  return %t : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
