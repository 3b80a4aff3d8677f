// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-sum-loss -o /dev/null

// The forward function has a body.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func private @loss(tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>})
// expected-error @below {{'dist.training' op expected @loss to have a body, got a declaration}}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A loss is one number.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<2xf32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<2xf32>
  return %l : tensor<2xf32>
}
// expected-error @below {{'dist.training' op expected the loss of @loss to be one float, got 'tensor<2xf32>'}}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A loss is a float.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<i32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1> : tensor<i32>
  return %l : tensor<i32>
}
// expected-error @below {{'dist.training' op expected the loss of @loss to be one float, got 'tensor<i32>'}}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A loss is a tensor.
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (f32 {dist.port = #dist.port<loss>}) {
  %l = arith.constant 1.0 : f32
  return %l : f32
}
// expected-error @below {{'dist.training' op expected the loss of @loss to be one float, got 'f32'}}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
