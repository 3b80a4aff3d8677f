// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-sum-loss -o /dev/null
// Sums over parts of the batch, as over the samples of a device, that are added up afterwards.

// A mean over the samples of each of two parts, and over the parts.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %n = stablehlo.constant dense<16.0> : tensor<2xf32>
  %m = stablehlo.divide %p, %n : tensor<2xf32>
  %s = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<2.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Sums over the parts, divided by the number of all.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// What does not depend on the batch joins the means of parts.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %n = stablehlo.constant dense<16.0> : tensor<2xf32>
  %m = stablehlo.divide %p, %n : tensor<2xf32>
  %c0 = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.broadcast_in_dim %c0, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %k = stablehlo.add %m, %c : tensor<2xf32>
  %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<2.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A count of the whole batch divides the sums of its parts.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %q = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %qp = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %qs = stablehlo.reduce(%qp init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.broadcast_in_dim %qs, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %r = stablehlo.divide %p, %count : tensor<2xf32>
  %l = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Carried by a loop, added up from zeros.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %start = stablehlo.constant dense<0.0> : tensor<2xf32>
  %acc = dist.enter carry %start of <"l", trips = 3> number(0) : tensor<2xf32> -> tensor<2xf32>
  %bt = dist.enter same %b of <"l", trips = 3> : tensor<2x4x4xf32> -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%bt init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %more = stablehlo.add %acc, %p : tensor<2xf32>
  %next = dist.next %acc, %more : tensor<2xf32>
  %end = dist.leave last %next of <"l", trips = 3> : tensor<2xf32> -> tensor<2xf32>
  %s = stablehlo.reduce(%end init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Means of parts that are added up: as much again with twice the parts.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %n = stablehlo.constant dense<16.0> : tensor<2xf32>
  %m = stablehlo.divide %p, %n : tensor<2xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.reduce' that is a sum over the batch that no number of its elements divides; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Means over the parts of sums: as much again with twice the samples in each.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<2.0> : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.divide' that is a sum over the batch that no number of its elements divides; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// No function of parts is linear in sums.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %n = stablehlo.constant dense<16.0> : tensor<2xf32>
  %m = stablehlo.divide %p, %n : tensor<2xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.tanh' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %t = stablehlo.tanh %m : tensor<2xf32>
  %s = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<2.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Nor is a product of two.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %n = stablehlo.constant dense<16.0> : tensor<2xf32>
  %m = stablehlo.divide %p, %n : tensor<2xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.multiply' that is not linear in sums over the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %t = stablehlo.multiply %m, %m : tensor<2xf32>
  %s = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<2.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// What does not depend on the batch is none to be added to sums.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %c0 = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.broadcast_in_dim %c0, dims = [] : (tensor<f32>) -> tensor<2xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.add' that adds a sum over the batch to what is none; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %k = stablehlo.add %p, %c : tensor<2xf32>
  %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A sample does not meet the sum of its part.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %b = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %p = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2xf32>
  %pb = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<2xf32>) -> tensor<2x4x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.multiply' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %k = stablehlo.multiply %b, %pb : tensor<2x4x4xf32>
  %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
