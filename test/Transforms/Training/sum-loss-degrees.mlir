// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-sum-loss -o /dev/null
// How sums over the batch, counts of the data and choices by them grow with the batch.

// A sum that is divided by a count seven times and multiplied by it six times is
// a mean; more is not followed.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %q0 = stablehlo.divide %s, %k : tensor<f32>
  %q1 = stablehlo.divide %q0, %k : tensor<f32>
  %q2 = stablehlo.divide %q1, %k : tensor<f32>
  %q3 = stablehlo.divide %q2, %k : tensor<f32>
  %q4 = stablehlo.divide %q3, %k : tensor<f32>
  %q5 = stablehlo.divide %q4, %k : tensor<f32>
  %q6 = stablehlo.divide %q5, %k : tensor<f32>
  %r0 = stablehlo.multiply %q6, %k : tensor<f32>
  %r1 = stablehlo.multiply %r0, %k : tensor<f32>
  %r2 = stablehlo.multiply %r1, %k : tensor<f32>
  %r3 = stablehlo.multiply %r2, %k : tensor<f32>
  %r4 = stablehlo.multiply %r3, %k : tensor<f32>
  %l = stablehlo.multiply %r4, %k : tensor<f32>
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
  %q0 = stablehlo.divide %s, %k : tensor<f32>
  %q1 = stablehlo.divide %q0, %k : tensor<f32>
  %q2 = stablehlo.divide %q1, %k : tensor<f32>
  %q3 = stablehlo.divide %q2, %k : tensor<f32>
  %q4 = stablehlo.divide %q3, %k : tensor<f32>
  %q5 = stablehlo.divide %q4, %k : tensor<f32>
  %q6 = stablehlo.divide %q5, %k : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.divide' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.divide %q6, %k : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A divisor that is no number of elements, however large.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<1.0e+30> : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.divide' that is a sum over the batch that no number of its elements divides; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.divide %s, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A count of degree two divides a sum times a count; of degree three there is
// none.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k2 = stablehlo.multiply %k, %k : tensor<f32>
  %t = stablehlo.multiply %s, %k : tensor<f32>
  %l = stablehlo.divide %t, %k2 : tensor<f32>
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
  %k2 = stablehlo.multiply %k, %k : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.multiply' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %k3 = stablehlo.multiply %k2, %k : tensor<f32>
  %l = stablehlo.divide %s, %k3 : tensor<f32>
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
  %k2 = stablehlo.multiply %k, %k : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %i = stablehlo.divide %one, %k2 : tensor<f32>
  %t = stablehlo.multiply %s, %k : tensor<f32>
  %l = stablehlo.multiply %t, %i : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// The larger of two counts is one where both grow alike.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %i = stablehlo.divide %one, %k : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.maximum' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %j = stablehlo.maximum %k, %i : tensor<f32>
  %l = stablehlo.divide %s, %j : tensor<f32>
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
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %j = stablehlo.maximum %k, %h : tensor<f32>
  %l = stablehlo.divide %s, %j : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Whole numbers count as long as they grow with the batch.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %i = stablehlo.convert %m : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %ki = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  %oi = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.maximum %ki, %oi : tensor<i32>
  %k = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
  %l = stablehlo.divide %s, %k : tensor<f32>
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
  %i = stablehlo.convert %m : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %ki = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  %oi = stablehlo.constant dense<1> : tensor<i32>
  %k2 = stablehlo.multiply %ki, %ki : tensor<i32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.maximum' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %b = stablehlo.maximum %k2, %oi : tensor<i32>
  %k = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
  %l = stablehlo.divide %s, %k : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A bound is no sum: it is not added to one.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.maximum %k, %one : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.add' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %t = stablehlo.add %s, %b : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A quotient of whole numbers rounds.
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
  %ai = stablehlo.convert %a : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %si = stablehlo.reduce(%ai init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.divide' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %q = stablehlo.divide %si, %ki : tensor<i32>
  %l = stablehlo.convert %q : (tensor<i32>) -> tensor<f32>
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
  %i = stablehlo.convert %m : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %ki = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  %oi = stablehlo.constant dense<1> : tensor<i32>
  %ai = stablehlo.convert %a : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %si = stablehlo.reduce(%ai init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  %sf = stablehlo.convert %si : (tensor<i32>) -> tensor<f32>
  %kf = stablehlo.convert %ki : (tensor<i32>) -> tensor<f32>
  %l = stablehlo.divide %sf, %kf : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// What depends on parameters divides nothing.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.divide' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.divide %k, %s : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A count may be the first factor.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %i = stablehlo.divide %one, %k : tensor<f32>
  %l = stablehlo.multiply %i, %s : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
