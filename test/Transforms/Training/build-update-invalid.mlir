// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-build-update

// An optimizer has a body.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected optimizer @optimizer.a to have a body}}
func.func private @optimizer.a(tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>})
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// Its arguments are tensors.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected argument 2 of optimizer @optimizer.a to be a tensor}}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %i: index) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// One parameter and one gradient.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected one argument 'gradient' of an optimizer, got 0}}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// Two parameters are too many.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected one argument 'parameter' of an optimizer, got 2}}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %q: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// A result for the parameter and for each moment.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected 2 results of an optimizer (the parameter and each moment), got 1}}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// No result that is neither.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected 1 results of an optimizer (the parameter and each moment), got 2}}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "m">}) {
  return %p, %g : tensor<1xf32>, tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// A step without a gradient trains nothing.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l : tensor<f32>, tensor<f32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
// expected-error @+1 {{expected at least one parameter with a gradient, got none}}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// The optimizer of a state of its own.
// expected-error @+1 {{'dist.state' op expected optimizer @other in the module, got none}}
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>, optimizer = @other}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// A moment that is there has the type that its optimizer gives it.
// expected-error @+1 {{'dist.state' op expected 'tensor<2xf32>' for moment "m" of @a, got 'tensor<3xf32>'}}
dist.state @a.m : tensor<3xf32> {role = optimizer, of = @a, source = #dist.draw<zeros>}
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "m">}) {
  return %p, %m : tensor<1xf32>, tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// The microbatch is built before.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
// expected-error @+1 {{'dist.training' op expected function @train.microbatch in the module, got none; run 'llmc-sum-loss' first}}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// A port of a program is none of an optimizer.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected argument 2 of optimizer @optimizer.a to be parameter, gradient, moment or hyper, got input}}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %x: tensor<1xf32> {dist.port = #dist.port<input "x">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// As many results, but the second is no moment of the arguments.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
// expected-error @+1 {{expected a result #dist.port<moment "m"> of an optimizer, got none}}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "n">}) {
  return %p, %m : tensor<1xf32>, tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// An op with a body is none on elements.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  // expected-error @+1 {{expected ops on elements and scalars in an optimizer of one element}}
  %s = "stablehlo.sort"(%g) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %lt = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %lt : tensor<i1>
  }) : (tensor<1xf32>) -> tensor<1xf32>
  return %s : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// Neither is a constant of several elements,
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  // expected-error @+1 {{expected ops on elements and scalars in an optimizer of one element}}
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// nor a number that is no tensor.
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  // expected-error @+1 {{expected ops on elements and scalars in an optimizer of one element}}
  %c = arith.constant 1.0 : f32
  return %p : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// A slice of the one element is none of two.
// expected-error @+1 {{'stablehlo.slice' op expected a result of shape [1], got [2]}}
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  // expected-error @+1 {{cannot be applied to a whole parameter}}
  %s = stablehlo.slice %g [0:1] : (tensor<1xf32>) -> tensor<1xf32>
  return %s : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)
