// RUN: split-file %s %t
// RUN: llmc-opt %t/constant.mlir --llmc-differentiate --llmc-build-update | FileCheck %t/constant.mlir
// RUN: llmc-opt %t/masked.mlir --llmc-differentiate --llmc-build-update | FileCheck %t/masked.mlir

//--- constant.mlir
// The cotangent of the loss is the scale, for the mean of 24 of which 16 is the
// power of two; what the update divides by is the count and that scale. A step
// whose norm is not finite changes no parameter and halves the scale, at least
// to 1; after 5 good ones it doubles, and counting begins anew.
// CHECK: dist.state @train.loss_scale : tensor<f32> {role = carried, source = #dist.draw<constant, 2.560000e+02>}
// CHECK-NEXT: dist.state @train.good_steps : tensor<i32> {role = carried, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<carried @train.loss_scale>})
// CHECK: %[[N:.*]] = stablehlo.constant {{.*}}dense<6.250000e-02> : tensor<f32>
// CHECK: %[[SEED:.*]] = stablehlo.multiply %[[S]], %[[N]]
// CHECK: stablehlo.broadcast_in_dim %[[SEED]]
// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: (%[[P:.*]]: tensor<4xf32> {{{.*}}}, %[[G:.*]]: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %{{.*}}: tensor<f32> {dist.port = #dist.port<loss_sum>}, %[[COUNT:.*]]: tensor<f32> {dist.port = #dist.port<count>}, %[[SCALE:.*]]: tensor<f32> {dist.port = #dist.port<carried @train.loss_scale>}, %[[GOOD:.*]]: tensor<i32> {dist.port = #dist.port<carried @train.good_steps>})
// CHECK: %[[PART:.*]] = stablehlo.multiply %[[SCALE]],
// CHECK: %[[D:.*]] = stablehlo.multiply %[[COUNT]], %[[PART]]
// CHECK: %[[DB:.*]] = stablehlo.broadcast_in_dim %[[D]]
// CHECK: stablehlo.divide %[[G]], %[[DB]]
// CHECK: %[[NORM:.*]] = stablehlo.sqrt
// CHECK: %[[OK:.*]] = stablehlo.is_finite %[[NORM]]
// CHECK: %[[NP:.*]] = stablehlo.select %[[OK]], %{{.*}}, %[[P]]
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[GOOD]],
// CHECK: %[[FIVE:.*]] = stablehlo.constant {{.*}}dense<5> : tensor<i32>
// CHECK: %[[DUE:.*]] = stablehlo.compare {{ *}}GE, %[[NEXT]], %[[FIVE]]
// CHECK: %[[KEPT:.*]] = stablehlo.select %[[DUE]], %{{.*}}, %[[NEXT]]
// CHECK: %[[UP:.*]] = stablehlo.multiply %[[SCALE]],
// CHECK: %[[DOWN:.*]] = stablehlo.multiply %[[SCALE]],
// CHECK: %[[LEAST:.*]] = stablehlo.maximum %[[DOWN]],
// CHECK: %[[GROWN:.*]] = stablehlo.select %[[DUE]], %[[UP]], %[[SCALE]]
// CHECK-DAG: %[[NS:.*]] = stablehlo.select %[[OK]], %[[GROWN]], %[[LEAST]]
// CHECK-DAG: %[[NG:.*]] = stablehlo.select %[[OK]], %[[KEPT]], %{{.*}}, tensor<i32>
// CHECK: return %[[NP]], %[[NS]], %[[NG]], %{{.*}}, %[[NORM]], %[[SCALE]]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %zero = stablehlo.constant {dist.block = 0 : i64} dense<0.0> : tensor<f32>
  %n = stablehlo.constant {dist.block = 0 : i64} dense<2.4e+01> : tensor<f32>
  %l = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l, %n : tensor<f32>, tensor<f32>
}
func.func private @sgd(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %1 = stablehlo.subtract %p, %g : tensor<1xf32>
  return %1 : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@sgd) microbatches(1) schedule(<1f1b>) {loss_scale = array<f64: 256.0, 5.0>}

//--- masked.mlir
// The count is that of the mask, whose 8 elements stand for it. A gradient of
// f16 is divided in f32.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: dense<1.250000e-01> : tensor<f32>
// CHECK-LABEL: func.func private @train.update
// CHECK: %[[W:.*]] = stablehlo.convert %{{.*}} (tensor<4xf16>) -> tensor<4xf32>
// CHECK: %[[Q:.*]] = stablehlo.divide %[[W]], %{{.*}} tensor<4xf32>
// CHECK: stablehlo.convert %[[Q]] {{.*}} (tensor<4xf32>) -> tensor<4xf16>
dist.state @w : tensor<4xf16> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%m: tensor<8xf32> {dist.port = #dist.port<input "m">}, %w: tensor<4xf16> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%m: tensor<8xf32> {dist.port = #dist.port<input "m">}, %w: tensor<4xf16> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %zero = stablehlo.constant {dist.block = 0 : i64} dense<0.0> : tensor<f32>
  %n = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 0 : i64} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.convert %w {dist.block = 0 : i64} : (tensor<4xf16>) -> tensor<4xf32>
  %l = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %l, %n : tensor<f32>, tensor<f32>
}
func.func private @sgd(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %1 = stablehlo.subtract %p, %g : tensor<1xf32>
  return %1 : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@sgd) microbatches(1) schedule(<1f1b>) {loss_scale = array<f64: 256.0, 5.0>}
