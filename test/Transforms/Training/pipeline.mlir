// RUN: llmc-opt %s --llmc-training | FileCheck %s

// The whole of phase 1 on a linear model with a squared loss.

dist.mesh @mesh = <"data"=1>
// CHECK: dist.hyper @lr
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
// CHECK: dist.state @w : tensor<3x2xf32>
// CHECK-NEXT: dist.state @w.v : tensor<3x2xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
dist.state @w : tensor<3x2xf32> {role = parameter, source = #dist.draw<normal, 0.02>}

// CHECK-LABEL: func.func @loss
func.func @loss(%x: tensor<4x3xf32> {dist.role = "input", dist.input = "x"},
                %y: tensor<4x2xf32> {dist.role = "input", dist.input = "y"},
                %w: tensor<3x2xf32> {dist.role = "parameter", dist.reads = @w})
    -> (tensor<f32> {dist.role = "loss"}) {
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
// CHECK-SAME: -> (tensor<f32> {dist.role = "loss_sum"}, tensor<f32> {dist.role = "count"}, tensor<3x2xf32> {dist.gradient_of = @w, dist.role = "gradient"})
// CHECK: %[[SUM:.*]] = stablehlo.reduce
// CHECK: %[[COUNT:.*]] = stablehlo.constant {{.*}} dense<8.0
// CHECK: stablehlo.dot_general {{.*}} {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: return %[[SUM]], %[[COUNT]],

// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: %{{.*}}: tensor<3x2xf32> {dist.reads = @w, dist.role = "parameter"}
// CHECK-SAME: %{{.*}}: tensor<3x2xf32> {dist.reads = @w.v, dist.role = "optimizer"}
// CHECK-SAME: %{{.*}}: tensor<3x2xf32> {dist.gradient_of = @w, dist.role = "gradient"}
// CHECK-SAME: {dist.role = "loss_sum"}
// CHECK-SAME: {dist.role = "count"}
// CHECK-SAME: {dist.hyper = @lr, dist.role = "hyper"}
// CHECK-SAME: {dist.role = "parameter", dist.writes = @w}
// CHECK-SAME: {dist.role = "optimizer", dist.writes = @w.v}
// CHECK-SAME: {dist.metric = "loss", dist.role = "metric"}
// CHECK-SAME: {dist.metric = "grad_norm", dist.role = "metric"}
// CHECK-SAME: {dist.metric = "lr", dist.role = "metric"}

// CHECK-LABEL: func.func private @evaluate.function
// CHECK-SAME: {dist.metric = "loss", dist.role = "metric"}
// CHECK-SAME: {dist.metric = "count", dist.role = "metric"}

// CHECK-NOT: @optimizer.momentum
func.func private @optimizer.momentum(
    %p: tensor<1xf32> {dist.role = "parameter"}, %g: tensor<1xf32> {dist.role = "gradient"},
    %v: tensor<1xf32> {dist.moment = "v"}, %lr: tensor<f32> {dist.hyper = @lr})
    -> (tensor<1xf32> {dist.role = "parameter"}, tensor<1xf32> {dist.moment = "v"}) {
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
