// RUN: llmc-opt %s --llmc-trim-activations | FileCheck %s

// The result of a norm is element-wise in its operand, which is there anyway,
// and two numbers for each row: the numbers are kept, the result is computed
// again, and so is what follows it.
// CHECK-LABEL: func @train.microbatch
// CHECK:         %[[F:.*]]:{{[0-9]+}} = dist.segment
// CHECK-NOT:       nn.
// CHECK:           %[[SUM:.*]] = stablehlo.reduce(%arg0
// CHECK:           %[[SQUARES:.*]] = stablehlo.reduce(
// CHECK:           dist.yield {{.*}}, %[[SQUARES]], %[[SUM]] :
// CHECK:         dist.segment
// CHECK-NOT:       stablehlo.reduce
// CHECK:           stablehlo.divide %[[F]]#5,
// CHECK:           stablehlo.subtract %arg0,
// CHECK:           stablehlo.divide %[[F]]#4,
// CHECK-NOT:       %[[F]]
// CHECK:           nn.layer_norm_grad %{{.*}}, %{{.*}}, %{{.*}} {dims = 1 : i64} : (tensor<32x16xf32>, tensor<32xf32>, tensor<32x16xf32>)
module {
  dist.mesh @mesh = <"data"=1>
  func.func @train.microbatch(%x: tensor<32x16xf32> {dist.port = #dist.port<input "x">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
      -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
    %f:4 = dist.segment chunk(0) phase(forward) -> tensor<32x32xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32x16xf32> {
      %y, %r = nn.layer_norm %x {dims = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32xf32>)
      %t = stablehlo.tanh %y : tensor<32x16xf32>
      %p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x32xf32>
      dist.yield %p, %y, %r, %t : tensor<32x32xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<32x16xf32>
    }
    %g = dist.segment chunk(0) phase(backward) -> tensor<32x16xf32> {
      %d = nn.layer_norm_grad %f#1, %f#2, %f#3 {dims = 1 : i64} : (tensor<32x16xf32>, tensor<32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
      dist.yield %d : tensor<32x16xf32>
    }
    return %l, %l : tensor<f32>, tensor<f32>
  }
  func.func @train.update() {
    return
  }
  dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<gpipe>) chunks([0])
}
