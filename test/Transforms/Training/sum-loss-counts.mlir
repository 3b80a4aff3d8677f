// RUN: split-file %s %t
// RUN: llmc-opt %t/bound.mlir --llmc-sum-loss | FileCheck %t/bound.mlir
// RUN: llmc-opt %t/size.mlir --llmc-sum-loss | FileCheck %t/size.mlir
// RUN: llmc-opt %t/several.mlir --llmc-sum-loss | FileCheck %t/several.mlir
// RUN: llmc-opt %t/mixed.mlir --llmc-sum-loss | FileCheck %t/mixed.mlir
// RUN: llmc-opt %t/linear.mlir --llmc-sum-loss | FileCheck %t/linear.mlir
// RUN: llmc-opt %t/once.mlir --llmc-sum-loss | FileCheck %t/once.mlir
// RUN: llmc-opt %t/bound.mlir --llmc-sum-loss --llmc-find-blocks --llmc-differentiate --llmc-build-update | FileCheck %t/bound.mlir --check-prefix=UPDATE

//--- bound.mlir
// A bound of the count is applied to the total, by the update.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[S:.*]] = stablehlo.reduce(%{{.*}} init
// CHECK: %[[C:.*]] = stablehlo.reduce(%arg1 init
// CHECK: return %[[S]], %[[C]]
// CHECK-LABEL: func.func private @evaluate.function
// CHECK: %[[B:.*]] = stablehlo.maximum
// CHECK: %[[D:.*]] = stablehlo.divide %{{.*}}, %[[B]]
// CHECK: func.func private @train.count_bound(%[[T:.*]]: tensor<f32>) -> tensor<f32>
// CHECK: %[[BB:.*]] = stablehlo.maximum %[[T]], %{{.*}}
// CHECK: return %[[BB]]
// UPDATE-NOT: count_bound
// UPDATE: func.func private @train.update({{.*}}%[[C:[a-z0-9]*]]: tensor<f32> {dist.port = #dist.port<count>}
// UPDATE: %[[B:.*]] = stablehlo.maximum %[[C]], %{{.*}}
// UPDATE: stablehlo.broadcast_in_dim %[[B]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">},
                %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %d = stablehlo.maximum %k, %one : tensor<f32>
  %l = stablehlo.divide %s, %d : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

//--- size.mlir
// A constant factor that is a size too is a weight where a count of the data divides: all of it stays with the sum.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[S:.*]] = stablehlo.reduce(%{{.*}} init
// CHECK: %[[C:.*]] = stablehlo.reduce(%arg1 init
// CHECK: %[[Q:.*]] = stablehlo.divide %[[S]], %{{.*}} : tensor<f32>
// CHECK: %[[R:.*]] = stablehlo.divide %[[Q]], %{{.*}} : tensor<f32>
// CHECK: return %[[R]], %[[C]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">},
                %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %q = stablehlo.divide %s, %n : tensor<f32>
  %e = stablehlo.constant dense<8.0> : tensor<f32>
  %r = stablehlo.divide %q, %k : tensor<f32>
  %l = stablehlo.divide %r, %e : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

//--- several.mlir
// Two counts are counted first; a bound is applied to the total, and both are divided by the number of microbatches.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: %[[N0:arg[0-9]+]]: tensor<f32> {dist.port = #dist.port<hyper @train.counts.0>}, %[[N1:arg[0-9]+]]: tensor<f32> {dist.port = #dist.port<hyper @train.counts.1>})
// CHECK: %[[P:.*]] = stablehlo.divide %[[N0]], %{{.*}}
// CHECK: %[[X:.*]] = stablehlo.divide %{{.*}}, %[[P]]
// CHECK: %[[M:.*]] = stablehlo.maximum %[[N1]], %{{.*}}
// CHECK: %[[Q:.*]] = stablehlo.divide %[[M]], %{{.*}}
// CHECK: %[[Y:.*]] = stablehlo.divide %{{.*}}, %[[Q]]
// CHECK: %[[L:.*]] = stablehlo.add %[[X]], %[[Y]]
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<1.0
// CHECK: return %[[L]], %[[C]]
// The text divides by the counts of its batch.
// CHECK-LABEL: func.func private @evaluate.function(
// CHECK-NOT: dist.hyper
// CHECK: return
// CHECK-LABEL: func.func private @train.counts.function(%arg0: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %arg1: tensor<8x4xf32> {dist.port = #dist.port<input "m">})
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<metric "train.counts.0">}, tensor<f32> {dist.port = #dist.port<metric "train.counts.1">})
// CHECK-DAG: dist.hyper @train.counts.0 : tensor<f32> = <external>
// CHECK-DAG: dist.entry @train.counts counts(@train) function(@train.counts.function)
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">},
                %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %p = stablehlo.divide %s, %k : tensor<f32>
  %f = stablehlo.multiply %x, %x : tensor<8x4xf32>
  %h = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %o = stablehlo.maximum %h, %one : tensor<f32>
  %q = stablehlo.divide %s, %o : tensor<f32>
  %l = stablehlo.add %p, %q : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

//--- mixed.mlir
// A count of the data and a mean with a constant divisor.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: #dist.port<hyper @train.counts.0>
// CHECK: return %{{.*}}, %[[C:.*]] : tensor<f32>, tensor<f32>
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">},
                %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %p = stablehlo.divide %s, %k : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %q = stablehlo.divide %s, %n : tensor<f32>
  %l = stablehlo.subtract %p, %q : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

//--- linear.mlir
// Means with constant divisors, a decay and a constant: the loss is its own sum, with count 1.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-NOT: dist.hyper
// CHECK: %[[L:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<1.0
// CHECK: return %[[L]], %[[C]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">},
                %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %q = stablehlo.divide %s, %n : tensor<f32>
  %e = stablehlo.multiply %w, %w : tensor<8x4xf32>
  %d = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.constant dense<1.0e-4> : tensor<f32>
  %f = stablehlo.multiply %d, %k : tensor<f32>
  %l = stablehlo.add %q, %f : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

//--- once.mlir
// With one microbatch nothing has to be counted.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-NOT: dist.hyper
// CHECK-NOT: @train.counts
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">},
                %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %p = stablehlo.divide %s, %k : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %q = stablehlo.divide %s, %n : tensor<f32>
  %l = stablehlo.subtract %p, %q : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
