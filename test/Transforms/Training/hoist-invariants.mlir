// RUN: llmc-opt %s --llmc-hoist-invariants | FileCheck %s

// A product of weights that all trips read is computed once, and what follows from it too; a broadcast stays, and so does what
// reads a row.
// CHECK-LABEL: func.func @loss
dist.state @x : tensor<4x8xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @w : tensor<8x8xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @rows : tensor<5x8xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<4x8xf32> {dist.port = #dist.port<parameter @x>}, %w: tensor<8x8xf32> {dist.port = #dist.port<parameter @w>},
                %rows: tensor<5x8xf32> {dist.port = #dist.port<parameter @rows>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  // CHECK: dist.enter carry %[[X:arg0]]
  %c = dist.enter carry %x of <"l", trips = 5> number(1) : tensor<4x8xf32> -> tensor<4x8xf32>
  %u = dist.enter same %w of <"l", trips = 5> : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: %[[ROW:.*]] = dist.enter row %arg2
  %r = dist.enter row %rows of <"l", trips = 5> : tensor<5x8xf32> -> tensor<8xf32>
  // CHECK: %[[T:.*]] = stablehlo.transpose %arg1, dims = [1, 0]
  %t = stablehlo.transpose %u, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[P:.*]] = stablehlo.dot_general %arg1, %[[T]]
  %p = stablehlo.dot_general %u, %t, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[IN:.*]] = dist.enter same %[[P]] of <"l", trips = 5>
  // CHECK: %[[SUM:.*]] = stablehlo.slice %[[P]] [0:1, 0:8]
  %s = stablehlo.slice %p [0:1, 0:8] : (tensor<8x8xf32>) -> tensor<1x8xf32>
  // CHECK: %[[SIN:.*]] = dist.enter same %[[SUM]]
  // CHECK: stablehlo.broadcast_in_dim %[[SIN]]
  %b = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.broadcast_in_dim %[[ROW]]
  %rb = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %[[IN]]
  %d = stablehlo.dot_general %c, %p, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %0 = stablehlo.add %d, %b : tensor<4x8xf32>
  %1 = stablehlo.add %0, %rb : tensor<4x8xf32>
  %n = dist.next %c, %1 : tensor<4x8xf32>
  %l = dist.leave last %n of <"l", trips = 5> : tensor<4x8xf32> -> tensor<4x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%l init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
