// RUN: llmc-opt %s --split-input-file --llmc-sum-loss | FileCheck %s
// Where counts are counted first, and what the update makes of them.

// A factor that falls with the count grows with the number of microbatches.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<hyper @train.counts.0>})
// CHECK: %[[S:.*]] = stablehlo.reduce
// CHECK: %[[I:.*]] = stablehlo.divide %{{.*}}, %[[N]]
// CHECK: %[[TWO:.*]] = stablehlo.constant {{.*}}dense<2.0{{.*}}>
// CHECK: %[[F:.*]] = stablehlo.multiply %[[I]], %[[TWO]]
// CHECK: stablehlo.multiply %[[S]], %[[F]]
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
  %l = stablehlo.multiply %s, %i : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// One of degree two is divided by its square.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<hyper @train.counts.0>})
// CHECK-DAG: %[[Q:.*]] = stablehlo.multiply %[[N]], %[[N]]
// CHECK-DAG: %[[FOUR:.*]] = stablehlo.constant {{.*}}dense<4.0{{.*}}>
// CHECK: %[[F:.*]] = stablehlo.divide %[[Q]], %[[FOUR]]
// CHECK: %[[L:.*]] = stablehlo.divide %{{.*}}, %[[F]]
// CHECK: return %[[L]],
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %k2 = stablehlo.multiply %k, %k : tensor<f32>
  %t = stablehlo.multiply %s, %k : tensor<f32>
  %l = stablehlo.divide %t, %k2 : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A bound that does not grow with the batch is counted first,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: #dist.port<hyper @train.counts.0>
// CHECK: %[[M:.*]] = stablehlo.maximum
// CHECK: stablehlo.divide %{{.*}}, %[[M]]
// CHECK-NOT: @train.count_bound
// CHECK: dist.hyper @train.counts.0
// CHECK-NOT: @train.count_bound
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %q = stablehlo.divide %s, %n : tensor<f32>
  %km = stablehlo.divide %k, %n : tensor<f32>
  %b = stablehlo.maximum %km, %one : tensor<f32>
  %l = stablehlo.divide %q, %b : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// and so is the count of what does not depend on the data,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: #dist.port<hyper @train.counts.0>
// CHECK-NOT: @train.count_bound
// CHECK: dist.hyper @train.counts.0
// CHECK-NOT: @train.count_bound
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %p = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %km = stablehlo.divide %k, %n : tensor<f32>
  %l = stablehlo.divide %p, %km : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// a bound of two counts,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: #dist.port<hyper @train.counts.0>}, {{.*}}#dist.port<hyper @train.counts.1>
// CHECK-NOT: @train.count_bound
// CHECK: dist.hyper @train.counts.0
// CHECK-NOT: @train.count_bound
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %kh = stablehlo.maximum %k, %h : tensor<f32>
  %b = stablehlo.maximum %kh, %one : tensor<f32>
  %l = stablehlo.divide %s, %b : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// and a count of a sum that has another one.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: #dist.port<hyper @train.counts.0>}, {{.*}}#dist.port<hyper @train.counts.1>
// CHECK-NOT: @train.count_bound
// CHECK: dist.hyper @train.counts.0
// CHECK-NOT: @train.count_bound
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %g = stablehlo.multiply %a, %kb : tensor<8x4xf32>
  %t = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %q = stablehlo.divide %t, %h : tensor<f32>
  %l = stablehlo.divide %q, %k : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A count is no sum's where a number of the sample divides after it.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: #dist.port<hyper @train.counts.0>
// CHECK-NOT: @train.count_bound
// CHECK: dist.hyper @train.counts.0
// CHECK-NOT: @train.count_bound
dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%t: tensor<f32> {dist.port = #dist.port<input "t">}, %m: tensor<1x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.multiply %t, %w : tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x4xf32>, tensor<f32>) -> tensor<f32>
  %q = stablehlo.multiply %z, %k : tensor<f32>
  %l = stablehlo.divide %q, %t : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// The count as the update uses it: a mean within it is that over the microbatches,
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: func.func private @train.count_bound(%[[T:.*]]: tensor<f32>) -> tensor<f32>
// CHECK: %[[K:.*]] = stablehlo.divide %[[T]],
// CHECK: %[[TWO:.*]] = stablehlo.constant {{.*}}dense<2.0{{.*}}>
// CHECK: %[[M:.*]] = stablehlo.divide %[[K]], %[[TWO]]
// CHECK: %[[B:.*]] = stablehlo.multiply %[[M]], %[[T]]
// CHECK: return %[[B]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %km = stablehlo.divide %k, %n : tensor<f32>
  %b = stablehlo.multiply %km, %k : tensor<f32>
  %l = stablehlo.divide %s, %b : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// which of one is its own.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: func.func private @train.count_bound(%[[T:.*]]: tensor<f32>) -> tensor<f32>
// CHECK: %[[K:.*]] = stablehlo.divide %[[T]],
// CHECK-NEXT: %[[B:.*]] = stablehlo.multiply %[[K]], %[[T]]
// CHECK-NEXT: return %[[B]]
dist.state @w : tensor<8x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf32> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %km = stablehlo.divide %k, %n : tensor<f32>
  %b = stablehlo.multiply %km, %k : tensor<f32>
  %l = stablehlo.divide %s, %b : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

// -----

// Totals are floats of 32 bits or more.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>})
// CHECK-LABEL: func.func private @train.counts.function
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<metric "train.counts.0">}, tensor<f32>
// CHECK: dist.hyper @train.counts.0 : tensor<f32>
dist.state @w : tensor<8x4xbf16> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xbf16> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xbf16> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xbf16> {dist.port = #dist.port<parameter @w>}) -> (tensor<bf16> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %a = stablehlo.multiply %x, %w : tensor<8x4xbf16>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %p = stablehlo.divide %s, %k : tensor<bf16>
  %q = stablehlo.divide %s, %h : tensor<bf16>
  %l = stablehlo.add %p, %q : tensor<bf16>
  return %l : tensor<bf16>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: -> (tensor<f64> {dist.port = #dist.port<loss_sum>}, tensor<f64> {dist.port = #dist.port<count>})
// CHECK-LABEL: func.func private @train.counts.function
// CHECK-SAME: -> (tensor<f64> {dist.port = #dist.port<metric "train.counts.0">}, tensor<f64>
// CHECK: dist.hyper @train.counts.0 : tensor<f64>
dist.state @w : tensor<8x4xf64> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<8x4xf64> {dist.port = #dist.port<input "x">}, %m: tensor<8x4xf64> {dist.port = #dist.port<input "m">}, %w: tensor<8x4xf64> {dist.port = #dist.port<parameter @w>}) -> (tensor<f64> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %a = stablehlo.multiply %x, %w : tensor<8x4xf64>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf64>, tensor<f64>) -> tensor<f64>
  %k = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf64>, tensor<f64>) -> tensor<f64>
  %h = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf64>, tensor<f64>) -> tensor<f64>
  %p = stablehlo.divide %s, %k : tensor<f64>
  %q = stablehlo.divide %s, %h : tensor<f64>
  %l = stablehlo.add %p, %q : tensor<f64>
  return %l : tensor<f64>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// A count and zero are a sum, a count and one are not.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-NOT: @train.count_bound
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
  %o = stablehlo.constant dense<0> : tensor<i32>
  %j = stablehlo.add %ki, %o : tensor<i32>
  %k = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
  %l = stablehlo.divide %s, %k : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

// -----

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: func.func private @train.count_bound
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
  %o = stablehlo.constant dense<1> : tensor<i32>
  %j = stablehlo.add %ki, %o : tensor<i32>
  %k = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
  %l = stablehlo.divide %s, %k : tensor<f32>
  return %l : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)
