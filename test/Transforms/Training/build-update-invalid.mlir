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
