// RUN: llmc-opt %s --llmc-training | FileCheck %s

// The whole of phase 1 on a linear model with a squared loss.

dist.mesh @mesh = <"data"=1>
// CHECK: dist.hyper @lr
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
// CHECK: dist.state @w : tensor<3x2xf32>
// CHECK-NEXT: dist.state @w.v : tensor<3x2xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
dist.state @w : tensor<3x2xf32> {role = parameter, source = #dist.draw<normal, 0.02>}

// CHECK-LABEL: func.func @loss
func.func @loss(%x: tensor<4x3xf32> {dist.port = #dist.port<input "x">},
                %y: tensor<4x2xf32> {dist.port = #dist.port<input "y">},
                %w: tensor<3x2xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.subtract %0, %y : tensor<4x2xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<4x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %4 = stablehlo.divide %3, %n : tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3x2xf32> {dist.port = #dist.port<gradient @w>})
// CHECK: %[[SUM:.*]] = stablehlo.reduce
// CHECK: %[[COUNT:.*]] = stablehlo.constant {{.*}} dense<8.0
// CHECK: stablehlo.dot_general {{.*}} {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: return %[[SUM]], %[[COUNT]],

// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: %{{.*}}: tensor<3x2xf32> {dist.port = #dist.port<parameter @w>}
// CHECK-SAME: %{{.*}}: tensor<3x2xf32> {dist.port = #dist.port<optimizer @w.v>}
// CHECK-SAME: %{{.*}}: tensor<3x2xf32> {dist.port = #dist.port<gradient @w>}
// CHECK-SAME: {dist.port = #dist.port<loss_sum>}
// CHECK-SAME: {dist.port = #dist.port<count>}
// CHECK-SAME: {dist.port = #dist.port<hyper @lr>}
// CHECK-SAME: {dist.port = #dist.port<parameter @w>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @w.v>}
// CHECK-SAME: {dist.port = #dist.port<metric "loss">}
// CHECK-SAME: {dist.port = #dist.port<metric "grad_norm">}
// CHECK-SAME: {dist.port = #dist.port<metric "lr">}

// CHECK-LABEL: func.func private @evaluate.function
// CHECK-SAME: {dist.port = #dist.port<metric "loss">}
// CHECK-SAME: {dist.port = #dist.port<metric "count">}

// CHECK-NOT: @optimizer.momentum
func.func private @optimizer.momentum(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %v: tensor<1xf32> {dist.port = #dist.port<moment "v">}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "v">}) {
  %c = stablehlo.constant dense<0.9> : tensor<1xf32>
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.multiply %c, %v : tensor<1xf32>
  %1 = stablehlo.add %0, %g : tensor<1xf32>
  %2 = stablehlo.multiply %rate, %1 : tensor<1xf32>
  %3 = stablehlo.subtract %p, %2 : tensor<1xf32>
  return %3, %1 : tensor<1xf32>, tensor<1xf32>
}
// CHECK: dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(4) schedule(<1f1b>)
dist.training @train forward(@loss) optimizer(@optimizer.momentum) microbatches(4) schedule(<1f1b>) clip(1.0)
// CHECK: dist.entry @evaluate function(@evaluate.function)
// CHECK: dist.entry @forward function(@loss)
dist.entry @forward function(@loss)
