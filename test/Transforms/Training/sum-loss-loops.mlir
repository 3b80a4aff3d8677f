// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-sum-loss -o /dev/null
// How what loops carry depends on the batch, of gradients that the text has and of losses.

// A gradient of a weight that all trips read is added up from zeros.
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %c = dist.enter carry %z of <"l", trips = 3> number(0) : tensor<4x4xf32> -> tensor<4x4xf32>
  %d = stablehlo.dot_general %r, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %s = stablehlo.add %c, %d : tensor<4x4xf32>
  %f = dist.next %c, %s : tensor<4x4xf32>
  %gradient = dist.leave last %f of <"l", trips = 3> : tensor<4x4xf32> -> tensor<4x4xf32>
  return %l, %gradient : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// Zeros are sums of every degree wherever they come from: two carried values change places, and one is
// scaled, transposed and passed through a barrier first.
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %a = dist.enter carry %z of <"l", trips = 3> number(0) : tensor<4x4xf32> -> tensor<4x4xf32>
  %b = dist.enter carry %z of <"l", trips = 3> number(1) : tensor<4x4xf32> -> tensor<4x4xf32>
  %d = stablehlo.dot_general %r, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %h = stablehlo.multiply %w, %b : tensor<4x4xf32>
  %ht = stablehlo.transpose %h, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %o:2 = stablehlo.optimization_barrier %ht, %r : tensor<4x4xf32>, tensor<8x4xf32>
  %s = stablehlo.add %o#0, %d : tensor<4x4xf32>
  %fa = dist.next %a, %b : tensor<4x4xf32>
  %fb = dist.next %b, %s : tensor<4x4xf32>
  %gradient = dist.leave last %fa of <"l", trips = 3> : tensor<4x4xf32> -> tensor<4x4xf32>
  return %l, %gradient : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A cotangent that is carried from zeros has the batch in a dimension after the first trip.
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %c = dist.enter carry %z of <"l", trips = 3> number(0) : tensor<8x4xf32> -> tensor<8x4xf32>
  %u = stablehlo.dot_general %c, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %v = stablehlo.add %u, %r : tensor<8x4xf32>
  %f = dist.next %c, %v : tensor<8x4xf32>
  %d = stablehlo.dot_general %c, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %gradient = dist.leave sum %d of <"l", trips = 3> : tensor<4x4xf32> -> tensor<4x4xf32>
  return %l, %gradient : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// What a weight decays by is no sum over the batch, and a mean over microbatches all the same: beside the
// sum, and as what it begins with.
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %c = dist.enter carry %w of <"l", trips = 3> number(0) : tensor<4x4xf32> -> tensor<4x4xf32>
  %d = stablehlo.dot_general %r, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %s = stablehlo.add %c, %d : tensor<4x4xf32>
  %f = dist.next %c, %s : tensor<4x4xf32>
  %e = dist.leave last %f of <"l", trips = 3> : tensor<4x4xf32> -> tensor<4x4xf32>
  %gradient = stablehlo.add %e, %w : tensor<4x4xf32>
  return %l, %gradient : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A square of what is carried is zero in the first trip alone.
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %c = dist.enter carry %z of <"l", trips = 3> number(0) : tensor<4x4xf32> -> tensor<4x4xf32>
  %d = stablehlo.dot_general %r, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %q = stablehlo.multiply %c, %c : tensor<4x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.add' that the gradient of @w depends on: it is not linear in sums over the batch}}
  %s = stablehlo.add %q, %d : tensor<4x4xf32>
  %f = dist.next %c, %s : tensor<4x4xf32>
  %gradient = dist.leave last %f of <"l", trips = 3> : tensor<4x4xf32> -> tensor<4x4xf32>
  return %l, %gradient : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A decayed weight and a sum, times a sum.
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %c = dist.enter carry %w of <"l", trips = 3> number(0) : tensor<4x4xf32> -> tensor<4x4xf32>
  %d = stablehlo.dot_general %r, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.add' that the gradient of @w depends on: it adds a sum over the batch to what is none}}
  %s = stablehlo.add %c, %d : tensor<4x4xf32>
  %f = dist.next %c, %s : tensor<4x4xf32>
  %e = dist.leave last %f of <"l", trips = 3> : tensor<4x4xf32> -> tensor<4x4xf32>
  %v = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %gradient = stablehlo.multiply %e, %v : tensor<4x4xf32>
  return %l, %gradient : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A sum over the batch first, then samples.
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %s0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %s1 = stablehlo.broadcast_in_dim %s0, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %c = dist.enter carry %s1 of <"l", trips = 3> number(0) : tensor<8x4xf32> -> tensor<8x4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'dist.next' that the gradient of @w depends on: it changes how it depends on the batch from trip to trip}}
  %f = dist.next %c, %r : tensor<8x4xf32>
  %d = stablehlo.dot_general %c, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %gradient = dist.leave sum %d of <"l", trips = 3> : tensor<4x4xf32> -> tensor<4x4xf32>
  return %l, %gradient : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// In the first trip a weight, in the others a sum over the batch: no number divides both.
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%xs: tensor<8x3x4xf32> {dist.port = #dist.port<input "xs">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %rows = stablehlo.transpose %xs, dims = [1, 0, 2] : (tensor<8x3x4xf32>) -> tensor<3x8x4xf32>
  %r = dist.enter row %rows of <"l", trips = 3> : tensor<3x8x4xf32> -> tensor<8x4xf32>
  %c = dist.enter carry %w of <"l", trips = 3> number(0) : tensor<4xf32> -> tensor<4xf32>
  %s = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'dist.next' that changes how it depends on the batch from trip to trip; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %f = dist.next %c, %s : tensor<4xf32>
  %a = dist.leave sum %c of <"l", trips = 3> : tensor<4xf32> -> tensor<4xf32>
  %t = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// The sum of all samples says how many trips a loop has, so what it counts depends on all of them.
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %most = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %start = stablehlo.compare GT, %most, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'dist.enter' that has as many trips as the batch decides; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %on = dist.enter carry %start of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %limit = dist.enter same %most of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  %i = dist.enter carry %zero of <"l", conditional = true> number(1) : tensor<f32> -> tensor<f32>
  %k = stablehlo.add %i, %one : tensor<f32>
  %goes = stablehlo.compare LT, %k, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %goes_on = dist.next %on, %goes : tensor<i1>
  %last = dist.next %i, %k : tensor<f32>
  %count = dist.leave last %last of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  %c = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %y = stablehlo.multiply %x, %c : tensor<8x4xf32>
  %wb = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %z = stablehlo.multiply %y, %wb : tensor<8x4xf32>
  %t = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// The greatest of all samples says it.
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  // expected-error @below {{expected a loss that is linear in means over the batch, since the step has 2 microbatches, got 'stablehlo.reduce' that mixes the samples of the batch; set training.microbatches = 1, or training.loss = "mean of microbatches"}}
  %most = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %start = stablehlo.compare GT, %most, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %on = dist.enter carry %start of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %limit = dist.enter same %most of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  %i = dist.enter carry %zero of <"l", conditional = true> number(1) : tensor<f32> -> tensor<f32>
  %k = stablehlo.add %i, %one : tensor<f32>
  %goes = stablehlo.compare LT, %k, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %goes_on = dist.next %on, %goes : tensor<i1>
  %last = dist.next %i, %k : tensor<f32>
  %count = dist.leave last %last of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  %c = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %y = stablehlo.multiply %x, %c : tensor<8x4xf32>
  %wb = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %z = stablehlo.multiply %y, %wb : tensor<8x4xf32>
  %t = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A weight says it: the loss is a mean.
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %most = stablehlo.reduce(%w init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %start = stablehlo.compare GT, %most, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %on = dist.enter carry %start of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %limit = dist.enter same %most of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  %i = dist.enter carry %zero of <"l", conditional = true> number(1) : tensor<f32> -> tensor<f32>
  %k = stablehlo.add %i, %one : tensor<f32>
  %goes = stablehlo.compare LT, %k, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %goes_on = dist.next %on, %goes : tensor<i1>
  %last = dist.next %i, %k : tensor<f32>
  %count = dist.leave last %last of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  %c = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %y = stablehlo.multiply %x, %c : tensor<8x4xf32>
  %t = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %l = stablehlo.divide %t, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
