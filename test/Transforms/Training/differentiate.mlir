// RUN: split-file %s %t
// RUN: llmc-opt %t/phases.mlir --llmc-sum-loss --llmc-differentiate | FileCheck %t/phases.mlir
// RUN: llmc-opt %t/phases.mlir --llmc-sum-loss --llmc-differentiate --mlir-print-debuginfo | FileCheck %t/phases.mlir --check-prefix=LOC
// RUN: llmc-opt %t/tied.mlir --llmc-sum-loss --llmc-differentiate | FileCheck %t/tied.mlir
// RUN: llmc-opt %t/stopped.mlir --llmc-sum-loss --llmc-differentiate | FileCheck %t/stopped.mlir
// RUN: llmc-opt %t/entry.mlir --llmc-differentiate | FileCheck %t/entry.mlir
// RUN: llmc-opt %t/after.mlir --llmc-sum-loss --llmc-differentiate | FileCheck %t/after.mlir
// RUN: llmc-opt %t/once.mlir --llmc-sum-loss --llmc-differentiate | FileCheck %t/once.mlir
// RUN: llmc-opt %t/unused.mlir --llmc-sum-loss --llmc-differentiate | FileCheck %t/unused.mlir
// RUN: llmc-opt %t/unused.mlir --llmc-sum-loss --llmc-differentiate 2>&1 | FileCheck %t/unused.mlir --check-prefix=WARN
// RUN: llmc-opt %t/rounded.mlir --llmc-sum-loss --llmc-differentiate 2>&1 | FileCheck %t/rounded.mlir
// RUN: llmc-opt %t/itself.mlir --llmc-sum-loss --llmc-differentiate | FileCheck %t/itself.mlir
// RUN: not llmc-opt %t/missing.mlir --llmc-sum-loss --llmc-differentiate 2>&1 | FileCheck %t/missing.mlir
// RUN: not llmc-opt %t/integer.mlir --llmc-sum-loss --llmc-differentiate 2>&1 | FileCheck %t/integer.mlir

//--- phases.mlir
// A derivative op has the block of its forward op. What leads to the cotangent
// of a block's input is backward_input: of x1 in block 2, of x0 in block 1. The
// gradients of the weights and all of block 0 are backward_weight.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: tensor<4x4xf32> {dist.port = #dist.port<gradient @e>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>})
// CHECK: %[[X0:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}} {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[A:.*]] = stablehlo.dot_general %[[X0]], %arg2, {{.*}} {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[T:.*]] = stablehlo.tanh %[[A]] {dist.block = 1
// CHECK: %[[X1:.*]] = stablehlo.add %[[X0]], %[[T]] {dist.block = 1
// CHECK: stablehlo.multiply %[[X1]], %[[X1]] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>}
// The cotangent of x1: both factors of the square are added.
// CHECK: stablehlo.multiply {{.*}} {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: %[[G1:.*]] = stablehlo.add {{.*}} {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: %[[GA:.*]] = stablehlo.multiply %[[G1]], %{{.*}} {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK-DAG: %[[D:.*]] = stablehlo.dot_general %[[GA]], %arg2, {{.*}} {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK-DAG: %[[GW:.*]] = stablehlo.dot_general %[[X0]], %[[GA]], {{.*}} {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>}
// The residual's contribution came first, in block 1, and the sum stands there.
// CHECK: %[[G0:.*]] = stablehlo.add %[[G1]], %[[D]] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: %[[GE:.*]] = stablehlo.dot_general %arg0, %[[G0]], {{.*}} {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: return %{{.*}}, %{{.*}}, %[[GE]], %[[GW]]

// LOC: = stablehlo.dot_general {{.*}}backward_weight{{.*}} loc(#[[L:.*]])
// LOC: #[[F:loc.*]] = loc("embed"
// LOC: = loc(fused<"backward">[#[[F]]])
dist.state @e : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %e: tensor<4x4xf32> {dist.port = #dist.port<parameter @e>},
                %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %x0 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] {dist.block = 0 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("embed")
  %a = stablehlo.dot_general %x0, %w, contracting_dims = [1] x [0] {dist.block = 1 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t = stablehlo.tanh %a {dist.block = 1 : i64} : tensor<2x4xf32>
  %x1 = stablehlo.add %x0, %t {dist.block = 1 : i64} : tensor<2x4xf32>
  %s = stablehlo.multiply %x1, %x1 {dist.block = 2 : i64} : tensor<2x4xf32>
  %zero = stablehlo.constant {dist.block = 2 : i64} dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 2 : i64} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- tied.mlir
// A weight that is used in block 2 and block 0: its contributions are added in
// block 0, and neither is an input's cotangent.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[H:.*]] = stablehlo.dot_general {{.*}} {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: %[[E:.*]] = stablehlo.dot_general {{.*}} {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: %[[S:.*]] = stablehlo.add %[[H]], %[[E]] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: return %{{.*}}, %{{.*}}, %[[S]]
dist.state @e : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %e: tensor<4x4xf32> {dist.port = #dist.port<parameter @e>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %x0 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] {dist.block = 0 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %x1 = stablehlo.tanh %x0 {dist.block = 1 : i64} : tensor<2x4xf32>
  %y = stablehlo.dot_general %x1, %e, contracting_dims = [1] x [0] {dist.block = 2 : i64} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %zero = stablehlo.constant {dist.block = 2 : i64} dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 2 : i64} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- stopped.mlir
// No derivative flows into operand 1 of the subtraction: only the seed is
// broadcast, nothing is negated. The mark is gone.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-NOT: dist.stop_gradient
// CHECK-NOT: stablehlo.negate
// CHECK: return
dist.state @e : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.tanh %e : tensor<4xf32>
  %1 = stablehlo.subtract %e, %0 {dist.stop_gradient = array<i64: 1>} : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- entry.mlir
// An entry has no derivative: its ops are of the forward, and no mark is left.
// CHECK-LABEL: func.func @predict
// CHECK-NEXT: stablehlo.maximum %arg0, %arg1 {dist.phase = #dist.phase<forward>}
// CHECK-NEXT: stablehlo.tanh %0 {dist.phase = #dist.phase<forward>}
func.func @predict(%a: tensor<4xf32> {dist.port = #dist.port<input "a">}, %b: tensor<4xf32> {dist.port = #dist.port<input "b">})
    -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.maximum %a, %b {dist.jax_function = "relu"} : tensor<4xf32>
  %1 = stablehlo.tanh %0 {dist.stop_gradient = array<i64: 0>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@predict)

//--- after.mlir
// What only a stopped operand reads needs no derivative, and neither does what
// is made of it: there is none of a derivative's derivative.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[G:.*]] = stablehlo.broadcast_in_dim {{.*}} : (tensor<f32>) -> tensor<2x4xf32>
// CHECK: return %{{.*}}, %{{.*}}, %[[G]]
dist.state @e : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%t: tensor<2xi32> {dist.port = #dist.port<input "t">}, %e: tensor<2x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<2x4xf32>
  %r = stablehlo.constant dense<2.0> : tensor<2xf32>
  %0 = nn.softmax_cross_entropy_grad %e, %t, %r, %r : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.multiply %c, %0 {dist.stop_gradient = array<i64: 1>} : tensor<2x4xf32>
  %2 = nn.softmax_cross_entropy_grad %1, %t, %r, %r : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  %3 = stablehlo.add %e, %2 : tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- once.mlir
// A value that another op reads too gets that op's derivative alone.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-NOT: stablehlo.negate
// CHECK: return
dist.state @e : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.tanh %e : tensor<4xf32>
  %1 = stablehlo.subtract %e, %0 {dist.stop_gradient = array<i64: 1>} : tensor<4xf32>
  %2 = stablehlo.add %1, %0 : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- unused.mlir
// A parameter without influence has a gradient of zeros.
// WARN: unused.mlir:[[# @LINE+7]]:17: warning: parameter e has a gradient of 0: the loss does not depend on it (training.frozen leaves it out of the training)
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[Z:.*]] = stablehlo.constant {{.*}} dense<0.000000e+00> : tensor<3xf32>
// CHECK: return %{{.*}}, %{{.*}}, %[[Z]]
dist.state @e : tensor<3xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<3xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  return %c : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- rounded.mlir
// Nothing flows through integers.
// CHECK: rounded.mlir:[[# @LINE+5]]:17: warning: parameter e has a gradient of 0: the loss depends on it only through integers or ops that have no derivative (training.frozen leaves it out of the training)
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}} : tensor<f32>
dist.state @e : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<f32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.convert %e : (tensor<f32>) -> tensor<i32>
  %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<f32>
  return %1 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- missing.mlir
// All ops without a derivative in one error, with their number and first place.
// CHECK: error: expected a derivative of every op between parameters and loss, got none for 1 kind of op{{$}}
// CHECK: missing.mlir:[[# @LINE+8]]:{{.*}}: note: 'nn.softmax_cross_entropy_grad' (2 ops): it is a derivative itself
// CHECK-NOT: error
dist.state @e : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%t: tensor<2xi32> {dist.port = #dist.port<input "t">}, %e: tensor<2x4xf32> {dist.port = #dist.port<parameter @e>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0 = nn.softmax_cross_entropy_grad %e, %t, %one, %one : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  %1 = nn.softmax_cross_entropy_grad %0, %t, %one, %one : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- integer.mlir
// CHECK: error: expected parameter @e to have a float type, got 'tensor<3xi32>'; give it the role constant
dist.state @e : tensor<3xi32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%e: tensor<3xi32> {dist.port = #dist.port<parameter @e>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  return %c : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- itself.mlir
// A loss that is a parameter has the gradient 1 of it, and 0 of another.
// CHECK-LABEL: func.func private @train.microbatch(%arg0: tensor<f32> {{.*}}, %arg1: tensor<f32>
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} dense<1.0{{.*}}> : tensor<f32>
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} dense<0.0{{.*}}> : tensor<f32>
// CHECK: return %arg1, %{{.*}}, %[[ZERO]], %[[ONE]] :
dist.state @v : tensor<f32> {role = parameter, source = #dist.draw<ones>}
dist.state @w : tensor<f32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%v: tensor<f32> {dist.port = #dist.port<parameter @v>}, %w: tensor<f32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  return %w : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)
