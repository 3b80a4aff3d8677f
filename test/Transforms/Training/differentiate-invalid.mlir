// RUN: split-file %s %t
// RUN: llmc-opt %t/derive.mlir --split-input-file --verify-diagnostics --llmc-sum-loss --llmc-differentiate -o /dev/null
// RUN: llmc-opt %t/before.mlir --split-input-file --verify-diagnostics --llmc-differentiate -o /dev/null

//--- derive.mlir
// Two kinds of ops, one with a reason and one without.
dist.state @e : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func private @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> { return %x : tensor<2x4xf32> }
// expected-error @below {{expected a derivative of every op between parameters and loss, got none for 2 kinds of ops}}
func.func @loss(%t: tensor<2xi32> {dist.port = #dist.port<input "t">}, %e: tensor<2x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  // expected-note @below {{'nn.softmax_cross_entropy_grad' (1 op): it is a derivative itself}}
  %0 = nn.softmax_cross_entropy_grad %e, %t, %one, %one : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  // expected-note-re @below {{{{^}}'func.call' (1 op){{$}}}}
  %1 = func.call @f(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// A reduction by a function of its own has none.
dist.state @e : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<2x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // expected-error @below {{expected one add, multiply, maximum or minimum of one input to derive, got another body}}
  %r = stablehlo.reduce(%e init: %zero) across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
      %s = stablehlo.subtract %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- before.mlir
// The loss of a microbatch is a sum.
dist.state @e : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<2x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{expected a result 'loss_sum', got none}}
func.func private @train.microbatch(%e: tensor<2x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<count>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// The microbatch is built before.
dist.state @e : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<2x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
// expected-error @below {{'dist.training' op expected function @train.microbatch in the module, got none; run 'llmc-sum-loss' first}}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
