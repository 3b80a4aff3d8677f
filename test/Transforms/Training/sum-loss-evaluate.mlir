// RUN: llmc-opt %s --split-input-file --llmc-sum-loss | FileCheck %s

// The entry that evaluates the forward function gets its loss and count.
// CHECK-LABEL: func.func private @evaluate.function
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<metric "loss">}, tensor<f32> {dist.port = #dist.port<metric "count">})
// CHECK: dist.entry @evaluate function(@evaluate.function)
// CHECK-NOT: dist.entry
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
dist.entry @evaluate function(@loss)
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// One of another function stays as it is.
// CHECK-NOT: @evaluate.function
// CHECK: dist.entry @evaluate function(@other)
// CHECK-NOT: @evaluate
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @other(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<8x4xf32> {dist.port = #dist.port<output "y">}) { return %w : tensor<8x4xf32> }
dist.entry @evaluate function(@other)
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// So does what has the name and is no entry.
// CHECK-NOT: @evaluate.function
// CHECK: func.func private @evaluate(
// CHECK-NOT: @evaluate
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @evaluate(%w: tensor<8x4xf32>) -> tensor<8x4xf32> { return %w : tensor<8x4xf32> }
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
