// RUN: llmc-opt %s --llmc-find-blocks | FileCheck %s

// A loop is a block, and what stands before and after it is cut where these
// would be fewer blocks than stages.
#W = #dist.loop<"l", conditional = true>
dist.mesh @mesh = <"pipe"=4> pipeline "pipe"
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
// CHECK-LABEL: func.func @between
func.func @between(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">},
                   %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.add {{.*}} {dist.block = 0 : i64}
  %a = stablehlo.add %x, %w : tensor<4x4xf32>
  // CHECK: stablehlo.tanh {{.*}} {dist.block = 1 : i64}
  %b = stablehlo.tanh %a : tensor<4x4xf32>
  // CHECK: stablehlo.constant {dist.block = 2 : i64}
  %yes = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: dist.enter carry {{.*}} {dist.block = 2 : i64}
  // CHECK: dist.enter carry {{.*}} {dist.block = 2 : i64}
  %c = dist.enter carry %yes of #W number(0) : tensor<i1> -> tensor<i1>
  %s = dist.enter carry %b of #W number(1) : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: stablehlo.sine {{.*}} {dist.block = 2 : i64}
  %t = stablehlo.sine %s : tensor<4x4xf32>
  %again = stablehlo.constant dense<false> : tensor<i1>
  %cn = dist.next %c, %again : tensor<i1>
  %sn = dist.next %s, %t : tensor<4x4xf32>
  // CHECK: dist.leave last {{.*}} {dist.block = 2 : i64}
  %l = dist.leave last %sn of #W : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: stablehlo.cosine {{.*}} {dist.block = 3 : i64}
  %d = stablehlo.cosine %l : tensor<4x4xf32>
  // CHECK: stablehlo.multiply {{.*}} {dist.block = 4 : i64}
  %e = stablehlo.multiply %d, %w : tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}
dist.entry @a function(@between)

// A loop of the derivative alone is no block: the forward is cut as if it was
// not there.
// CHECK-LABEL: func.func @backward
func.func @backward(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">},
                    %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>},
                    tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  // CHECK: stablehlo.add {{.*}} {dist.block = 0 : i64}
  // CHECK: stablehlo.tanh {{.*}} {dist.block = 1 : i64}
  // CHECK: stablehlo.sine {{.*}} {dist.block = 2 : i64}
  // CHECK: stablehlo.reduce{{.*}} {dist.block = 3 : i64}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.add %x, %w : tensor<4x4xf32>
  %b = stablehlo.tanh %a : tensor<4x4xf32>
  %c = stablehlo.sine %b : tensor<4x4xf32>
  %loss = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %s = dist.enter carry %c of <"m", trips = 4> number(0) : tensor<4x4xf32> -> tensor<4x4xf32>
  %t = stablehlo.cosine %s : tensor<4x4xf32>
  %n = dist.next %s, %t : tensor<4x4xf32>
  %g = dist.leave last %n of <"m", trips = 4> : tensor<4x4xf32> -> tensor<4x4xf32>
  return %loss, %g : tensor<f32>, tensor<4x4xf32>
}
func.func @sgd(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %d = stablehlo.subtract %p, %g : tensor<1xf32>
  return %d : tensor<1xf32>
}
dist.training @train forward(@backward) optimizer(@sgd) microbatches(1) schedule(<1f1b>)
