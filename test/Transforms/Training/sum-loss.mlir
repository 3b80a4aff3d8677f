// RUN: split-file %s %t
// RUN: llmc-opt %t/constant.mlir --llmc-sum-loss | FileCheck %t/constant.mlir
// RUN: llmc-opt %t/reciprocal.mlir --llmc-sum-loss | FileCheck %t/reciprocal.mlir
// RUN: llmc-opt %t/mask.mlir --llmc-sum-loss | FileCheck %t/mask.mlir
// RUN: llmc-opt %t/single.mlir --llmc-sum-loss | FileCheck %t/single.mlir

//--- constant.mlir
// The division by the number of elements goes; a sign after it stays. What the
// function writes besides is kept, other outputs are not. What others say of a
// result does not come to stand on the next in its place.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<i32> {dist.port = #dist.port<carried @n>})
// CHECK: %[[S:.*]] = stablehlo.reduce
// CHECK: %[[L:.*]] = stablehlo.negate %[[S]]
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<8.0
// CHECK: return %[[L]], %[[C]], %{{.*}}
// CHECK-LABEL: func.func private @evaluate.function
// CHECK: %[[D:.*]] = stablehlo.divide %{{[^ ]*}}, %[[C:[^ ]*]] {{[{]}}
// CHECK-NEXT: return %[[D]], %[[C]]
// CHECK: dist.entry @evaluate function(@evaluate.function)
dist.state @w : tensor<4x2xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @n : tensor<i32> {role = carried, source = #dist.draw<zeros>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<4x2xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4x2xf32> {dist.port = #dist.port<parameter @w>},
                %n: tensor<i32> {dist.port = #dist.port<carried @n>})
    -> (tensor<f32> {dist.port = #dist.port<loss>, other.mark}, tensor<4x2xf32> {dist.port = #dist.port<output "y">, other.mark},
        tensor<i32> {dist.port = #dist.port<carried @n>}) {
  %0 = stablehlo.multiply %x, %w : tensor<4x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.constant dense<8.0> : tensor<f32>
  %2 = stablehlo.divide %1, %c : tensor<f32>
  %3 = stablehlo.negate %2 : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %m = stablehlo.add %n, %one : tensor<i32>
  return %3, %0, %m : tensor<f32>, tensor<4x2xf32>, tensor<i32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(4) schedule(<1f1b>)

//--- reciprocal.mlir
// A multiplication by one over the number of samples counts; 0.25 = 1/4, while
// 3.0 is only a weight.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[S:.*]] = stablehlo.reduce
// CHECK: %[[L:.*]] = stablehlo.multiply %[[S]], %{{.*}} :
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<4.0
// CHECK: return %[[L]], %[[C]]
dist.state @w : tensor<4x2xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<4x2xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4x2xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.multiply %x, %w : tensor<4x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.constant dense<0.25> : tensor<f32>
  %2 = stablehlo.multiply %1, %c : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %3 = stablehlo.multiply %2, %three : tensor<f32>
  return %3 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(4) schedule(<1f1b>)

//--- mask.mlir
// The sum of a mask of the data is a count that is known at run time.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[S:.*]] = stablehlo.reduce(%{{.*}} init
// CHECK: %[[C:.*]] = stablehlo.reduce(%arg1 init
// CHECK: return %[[S]], %[[C]]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %m: tensor<4xf32> {dist.port = #dist.port<input "m">},
                %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.multiply %x, %w : tensor<4xf32>
  %1 = stablehlo.multiply %0, %m : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.divide %2, %3 : tensor<f32>
  return %4 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(2) schedule(<1f1b>)

//--- single.mlir
// A loss that is no mean counts as 1, in a step of one microbatch.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[E:.*]] = stablehlo.exponential
// CHECK: %[[C:.*]] = stablehlo.constant {{.*}}dense<1.0
// CHECK: return %[[E]], %[[C]]
dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.exponential %w : tensor<f32>
  return %0 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
