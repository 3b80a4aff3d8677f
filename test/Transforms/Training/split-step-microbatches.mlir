// The microbatch of a whole step is a part of its batch; what is returned are the terms of its sums.
// RUN: split-file %s %t
// RUN: llmc-opt %t/slices.mlir --llmc-split-step | FileCheck %t/slices.mlir
// RUN: llmc-opt %t/sources.mlir --llmc-split-step | FileCheck %t/sources.mlir
// RUN: not llmc-opt %t/maximum.mlir --llmc-split-step 2>&1 | FileCheck %t/maximum.mlir
// RUN: not llmc-opt %t/square.mlir --llmc-split-step 2>&1 | FileCheck %t/square.mlir
// RUN: not llmc-opt %t/centred.mlir --llmc-split-step 2>&1 | FileCheck %t/centred.mlir
// RUN: llmc-opt %t/shifted.mlir --llmc-split-step | FileCheck %t/shifted.mlir
// RUN: not llmc-opt %t/reversed.mlir --llmc-split-step 2>&1 | FileCheck %t/reversed.mlir
// RUN: not llmc-opt %t/odd.mlir --llmc-split-step 2>&1 | FileCheck %t/odd.mlir

//--- slices.mlir
// Batch of 8 in 4 microbatches; it may be poured into another dimension, as its major part. The update divides the sum.
// CHECK: func.func private @train.microbatch(%[[W:.*]]: tensor<4xf32> {{.*}}, %[[X:.*]]: tensor<2x3x4xf32> {dist.port = #dist.port<input "x">})
// CHECK: %[[FLAT:.*]] = stablehlo.reshape %[[X]] {{.*}} -> tensor<6x4xf32>
// CHECK: %[[WS:.*]] = stablehlo.broadcast_in_dim %[[W]], {{.*}} -> tensor<6x4xf32>
// CHECK: %[[Y:.*]] = stablehlo.multiply %[[FLAT]], %[[WS]] {{.*}} : tensor<6x4xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[Y]]
// CHECK: %[[G:.*]] = stablehlo.reduce(%[[FLAT]] {{.*}} -> tensor<4xf32>
// CHECK: return %[[SUM]], %{{.*}}, %[[G]] :
// The entry keeps the whole batch.
// CHECK: func.func private @evaluate.function({{.*}}tensor<8x3x4xf32> {dist.port = #dist.port<input "x">})
// CHECK: func.func private @train.update({{.*}}%[[SUM:.*]]: tensor<f32> {dist.port = #dist.port<loss_sum>}
// CHECK: %[[LOSS:.*]] = stablehlo.divide %[[SUM]]
// CHECK: return %{{.*}}, %[[LOSS]] :
// CHECK: dist.step @train {{.*}} microbatches(4)
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x3x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %flat = stablehlo.reshape %x : (tensor<8x3x4xf32>) -> tensor<24x4xf32>
  %ws = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<24x4xf32>
  %y = stablehlo.multiply %flat, %ws : tensor<24x4xf32>
  %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<24x4xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.constant dense<24.0> : tensor<f32>
  %loss = stablehlo.divide %sum, %c : tensor<f32>
  %g = stablehlo.reduce(%flat init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<24x4xf32>, tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(4) schedule(<1f1b>)

//--- sources.mlir
// What does not depend on the batch, and is needed as slices alone, is made as slices: positions start at the microbatch's
// place, which a carried state counts. What is needed whole too, and numbers of each sample in the text, are cut where they are used.
// CHECK: dist.state @train.number : tensor<i32> {role = carried, source = #dist.draw<zeros>}
// CHECK: func.func private @train.microbatch(%{{.*}}: tensor<4x4xf32> {{.*}}, %[[N:.*]]: tensor<i32> {dist.port = #dist.port<carried @train.number>})
// CHECK: %[[TABLE:.*]] = stablehlo.constant {{.*}}dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]> : tensor<8xf32>
// CHECK: %[[FOUR:.*]] = stablehlo.constant {{.*}}dense<4> : tensor<i32>
// CHECK: %[[OFFSET:.*]] = stablehlo.multiply %[[N]], %[[FOUR]]
// CHECK: stablehlo.iota {{.*}} : tensor<4xi32>
// CHECK: stablehlo.dynamic_slice %[[TABLE]], %{{.*}}, sizes = [4]
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[N]]
// CHECK: %[[LAST:.*]] = stablehlo.compare EQ, %[[NEXT]]
// CHECK: %[[NUMBER:.*]] = stablehlo.select %[[LAST]]
// CHECK: return {{.*}}, %[[NUMBER]] :
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %table = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  %s = stablehlo.sine %i : tensor<8xf32>
  %weights = stablehlo.add %s, %table : tensor<8xf32>
  %ws = stablehlo.broadcast_in_dim %weights, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %y = stablehlo.multiply %x, %ws : tensor<8x4xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- maximum.mlir
// CHECK: error: expected a step whose gradients are sums over the batch, since it has 2 microbatches, got 'stablehlo.reduce' that mixes the samples of the batch; set training.microbatches = 1
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- square.mlir
// A root of a sum, in a place of its own: the sum is no place of the gradient.
// CHECK: error: expected a step whose gradients are sums over the batch, since it has 2 microbatches, got 'stablehlo.sqrt' that is not linear in sums over the batch; set training.microbatches = 1
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %squares = stablehlo.multiply %x, %x : tensor<8x4xf32>
  %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %root = stablehlo.sqrt %sum : tensor<f32>
  %g = stablehlo.broadcast_in_dim %root, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- centred.mlir
// CHECK: error: expected a step whose gradients are sums over the batch, since it has 2 microbatches, got 'stablehlo.subtract' that combines samples with a sum over the batch; set training.microbatches = 1
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %means = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %y = stablehlo.subtract %x, %means : tensor<8xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.broadcast_in_dim %loss, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- shifted.mlir
// What is added to a sum over the batch is added once: in the microbatch of number 0.
// CHECK: func.func private @train.microbatch(%[[W:.*]]: tensor<4x4xf32> {{.*}}, %[[X:.*]]: tensor<4x4x4xf32> {{.*}}, %[[N:.*]]: tensor<i32> {dist.port = #dist.port<carried @train.number>})
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[X]] {{.*}} -> tensor<4x4xf32>
// CHECK: %[[FIRST:.*]] = stablehlo.compare EQ, %[[N]], %{{.*}}, SIGNED
// CHECK: %[[ONCE:.*]] = stablehlo.select %[[FIRST]], %[[W]], %{{.*}}
// CHECK: stablehlo.add %[[SUM]], %[[ONCE]]
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x4x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %decayed = stablehlo.add %g, %w : tensor<4x4xf32>
  %t = stablehlo.transpose %decayed, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = stablehlo.subtract %w, %t : tensor<4x4xf32>
  return %w1, %loss : tensor<4x4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- reversed.mlir
// CHECK: error: expected a step whose gradients are sums over the batch, since it has 2 microbatches, got 'stablehlo.reverse' that mixes the samples of the batch; set training.microbatches = 1
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
  %y = stablehlo.multiply %x, %r : tensor<8x4xf32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- odd.mlir
// CHECK: error: expected the batch of input "x" to be a multiple of the 3 microbatches, got 'tensor<8x4xf32>'
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(3) schedule(<1f1b>)
