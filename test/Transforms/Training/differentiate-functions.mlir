// RUN: llmc-opt %s --llmc-sum-loss --llmc-differentiate | FileCheck %s
// RUN: sed 's/{llmc.jax_function = "relu"}//' %s | llmc-opt --llmc-sum-loss --llmc-differentiate | FileCheck %s --check-prefix=PLAIN

// The derivative of one of JAX's functions is that of the table: of softplus,
// logaddexp(w, 0), exp(w - y) without infinities, and nothing runs through its
// absolute value. Of relu it is a choice, where maximum has a tie.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[Y:.*]] = stablehlo.select %{{.*}}phase<forward>
// CHECK: %[[M:.*]] = stablehlo.maximum %[[Y]], %[[B:[^ ]*]]
// CHECK-NOT: llmc.jax_function
// CHECK: %[[P:.*]] = stablehlo.compare GT, %[[Y]], %{{.*}}
// CHECK: %[[G:.*]] = stablehlo.select %[[P]], %{{.*}}, %{{.*}} {{.*}}backward
// CHECK: %[[W:.*]] = stablehlo.compare EQ, %arg0, %{{.*}}
// CHECK: %[[S:.*]] = stablehlo.select %[[W]], %{{.*}}, %arg0
// CHECK: %[[T:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[Y]]
// CHECK: %[[D:.*]] = stablehlo.subtract %[[S]], %[[T]]
// CHECK: %[[E:.*]] = stablehlo.exponential %[[D]]
// CHECK: %[[DW:.*]] = stablehlo.multiply %[[G]], %[[E]]
// CHECK-NOT: stablehlo.abs
// CHECK: return %{{.*}}, %{{.*}}, %[[DW]]

// Without the name, half of the cotangent on a tie.
// PLAIN-LABEL: func.func private @train.microbatch
// PLAIN: stablehlo.constant {{.*}} dense<5.000000e-01>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %max = stablehlo.maximum %w, %a : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.subtract %w, %b : tensor<4xf32>
  %1 = stablehlo.compare NE, %0, %0, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %c = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.add %w, %c : tensor<4xf32>
  %3 = stablehlo.abs %0 : tensor<4xf32>
  %4 = stablehlo.negate %3 : tensor<4xf32>
  %5 = stablehlo.exponential %4 : tensor<4xf32>
  %6 = stablehlo.log_plus_one %5 : tensor<4xf32>
  %7 = stablehlo.add %max, %6 : tensor<4xf32>
  %8 = stablehlo.select %1, %2, %7 : tensor<4xi1>, tensor<4xf32>
  %d = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %9 = stablehlo.maximum %8, %d {llmc.jax_function = "relu"} : tensor<4xf32>
  %r = stablehlo.reduce(%9 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
