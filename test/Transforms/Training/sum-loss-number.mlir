// RUN: llmc-opt %s --split-input-file --llmc-sum-loss | FileCheck %s
// Which number is the count of a loss.

// A number that is none of elements is no count: too large,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[L:.*]] = stablehlo.divide
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<1.0{{.*}}> : tensor<f32>
// CHECK: return %[[L]], %[[C]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<1.0e+30> : tensor<f32>
  %l = stablehlo.divide %s, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// not whole,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[L:.*]] = stablehlo.divide
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<1.0{{.*}}> : tensor<f32>
// CHECK: return %[[L]], %[[C]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<8.4> : tensor<f32>
  %l = stablehlo.divide %s, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// or one, where there are more.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[L:.*]] = stablehlo.divide
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<1.0{{.*}}> : tensor<f32>
// CHECK: return %[[L]], %[[C]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<1.0> : tensor<f32>
  %l = stablehlo.divide %s, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// It is one where there is one.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[S:.*]] = stablehlo.reduce
// CHECK-NOT: stablehlo.divide
// CHECK: return %[[S]], %
dist.state @w : tensor<1x1xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<1x1xf32> {dist.port = #dist.port<input "x">}, %w: tensor<1x1xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<1x1xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<1.0> : tensor<f32>
  %l = stablehlo.divide %s, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// The number of elements of a maximum is none of a sum.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[L:.*]] = stablehlo.divide
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<1.0{{.*}}> : tensor<f32>
// CHECK: return %[[L]], %[[C]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %low = stablehlo.constant dense<-9.0> : tensor<f32>
  %s = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %s, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// The number may be the first factor.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[S:.*]] = stablehlo.reduce
// CHECK-NOT: stablehlo.multiply
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<3.200000e+01>
// CHECK: return %[[S]], %[[C]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<0.03125> : tensor<f32>
  %l = stablehlo.multiply %n, %s : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// A factor that depends on the data, too, is none.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[Q:.*]] = stablehlo.divide
// CHECK: %[[L:.*]] = stablehlo.multiply %[[Q]],
// CHECK: dense<1.0{{.*}}> : tensor<f32>
// CHECK: return %[[L]], %
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %q = stablehlo.divide %s, %n : tensor<f32>
  %l = stablehlo.multiply %q, %h : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// What is no float is not followed.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[L:.*]] = stablehlo.divide
// CHECK: return %[[L]], %
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %i = stablehlo.convert %a : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %si = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  %ni = stablehlo.negate %si : tensor<i32>
  %f = stablehlo.convert %ni : (tensor<i32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %l = stablehlo.divide %f, %n : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// The loss is the result that says so, and a metric may be an argument.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<input "t">}
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<f32> {dist.port = #dist.port<metric_sum "t">})
// CHECK: %[[S:.*]] = stablehlo.multiply
// CHECK: return %[[S]], %{{.*}}, %[[T]]
dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%t: tensor<f32> {dist.port = #dist.port<input "t">}, %w: tensor<f32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<output "y">}, tensor<f32> {dist.port = #dist.port<output "z", metric = "t">}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.multiply %t, %w : tensor<f32>
  return %w, %t, %l : tensor<f32>, tensor<f32>, tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
