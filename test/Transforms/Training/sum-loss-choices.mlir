// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-sum-loss -o /dev/null
// Choices by counts of the data, and what samples and counts make together.

// A choice by counts between numbers is a factor; between what is made of
// parameters it is not a sum.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.compare GT, %k, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %f = stablehlo.select %d, %one, %zero : tensor<i1>, tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %q = stablehlo.divide %s, %n : tensor<f32>
  %l = stablehlo.multiply %q, %f : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.compare GT, %k, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %p = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.select' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.select %d, %p, %zero : tensor<i1>, tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Two decisions are one.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.compare GT, %k, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.compare GT, %h, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %j = stablehlo.and %d, %g : tensor<i1>
  %q = stablehlo.divide %s, %k : tensor<f32>
  %l = stablehlo.select %j, %q, %zero : tensor<i1>, tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A choice between samples by a count of all of them.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.compare GT, %k, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %db = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<i1>) -> tensor<8x4xi1>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.select' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %b = stablehlo.select %db, %a, %m : tensor<8x4xi1>, tensor<8x4xf32>
  %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Samples times a count, chosen or zero, are samples times a count; chosen or
// one they are not, and no other function of them is.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %g = stablehlo.multiply %a, %kb : tensor<8x4xf32>
  %kw = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %c0 = stablehlo.compare GT, %w, %kw : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %j = stablehlo.select %c0, %g, %kw : tensor<8x4xi1>, tensor<8x4xf32>
  %h = stablehlo.divide %j, %kb : tensor<8x4xf32>
  %sum = stablehlo.reduce(%h init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %g = stablehlo.multiply %a, %kb : tensor<8x4xf32>
  %kw = stablehlo.constant dense<1.0> : tensor<8x4xf32>
  %c0 = stablehlo.compare GT, %w, %kw : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.select' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %j = stablehlo.select %c0, %g, %kw : tensor<8x4xi1>, tensor<8x4xf32>
  %h = stablehlo.divide %j, %kb : tensor<8x4xf32>
  %sum = stablehlo.reduce(%h init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %g = stablehlo.multiply %a, %kb : tensor<8x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.exponential' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %j = stablehlo.exponential %g : tensor<8x4xf32>
  %h = stablehlo.divide %j, %kb : tensor<8x4xf32>
  %sum = stablehlo.reduce(%h init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Samples are not added to a count,
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.add' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %g = stablehlo.add %a, %kb : tensor<8x4xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// nor multiplied by a sum of what depends on parameters,
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.multiply' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %g = stablehlo.multiply %a, %sb : tensor<8x4xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// nor by a count in whole numbers.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %i = stablehlo.convert %m : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %ki = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  %oi = stablehlo.constant dense<1> : tensor<i32>
  %kb = stablehlo.broadcast_in_dim %ki, dims = [] : (tensor<i32>) -> tensor<8x4xi32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.multiply' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %g0 = stablehlo.multiply %i, %kb : tensor<8x4xi32>
  %g = stablehlo.convert %g0 : (tensor<8x4xi32>) -> tensor<8x4xf32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %sum, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A count is no loss.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.maximum' that is a sum over the batch that no number of its elements divides; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.maximum %k, %one : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Of a sum 512 numbers of elements are known: all products of nine sizes.
dist.state @w : tensor<2x3x5x7x11x13x17x19x23x29xf64> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x3x5x7x11x13x17x19x23x29xf64> {dist.port = #dist.port<input "x">}, %w: tensor<2x3x5x7x11x13x17x19x23x29xf64> {dist.port = #dist.port<parameter @w>}) -> (tensor<f64> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %a = stablehlo.multiply %x, %w : tensor<2x3x5x7x11x13x17x19x23x29xf64>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : (tensor<2x3x5x7x11x13x17x19x23x29xf64>, tensor<f64>) -> tensor<f64>
  %n = stablehlo.constant dense<6469693230.0> : tensor<f64>
  %l = stablehlo.divide %s, %n : tensor<f64>
  return %l : tensor<f64>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

dist.state @w : tensor<2x3x5x7x11x13x17x19x23x29x31xf64> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x3x5x7x11x13x17x19x23x29x31xf64> {dist.port = #dist.port<input "x">}, %w: tensor<2x3x5x7x11x13x17x19x23x29x31xf64> {dist.port = #dist.port<parameter @w>}) -> (tensor<f64> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %a = stablehlo.multiply %x, %w : tensor<2x3x5x7x11x13x17x19x23x29x31xf64>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : (tensor<2x3x5x7x11x13x17x19x23x29x31xf64>, tensor<f64>) -> tensor<f64>
  %n = stablehlo.constant dense<200560490130.0> : tensor<f64>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.divide' that is a sum over the batch that no number of its elements divides; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.divide %s, %n : tensor<f64>
  return %l : tensor<f64>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
