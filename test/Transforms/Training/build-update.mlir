// RUN: split-file %s %t
// RUN: llmc-opt %t/elements.mlir --llmc-build-update | FileCheck %t/elements.mlir
// RUN: llmc-opt %t/whole.mlir --llmc-build-update | FileCheck %t/whole.mlir
// RUN: llmc-opt %t/skip.mlir --llmc-build-update | FileCheck %t/skip.mlir
// RUN: not llmc-opt %t/shape.mlir --llmc-build-update 2>&1 | FileCheck %t/shape.mlir
// RUN: not llmc-opt %t/marks.mlir --llmc-build-update 2>&1 | FileCheck %t/marks.mlir
// RUN: not llmc-opt %t/hyper.mlir --llmc-build-update 2>&1 | FileCheck %t/hyper.mlir
// RUN: not llmc-opt %t/seed.mlir --llmc-build-update 2>&1 | FileCheck %t/seed.mlir
// RUN: not llmc-opt %t/scalars.mlir --llmc-build-update 2>&1 | FileCheck %t/scalars.mlir

//--- skip.mlir
// A step whose loss or norm is not finite keeps parameters and moments.
// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: (%[[P:.*]]: tensor<3xf32> {{.*}}, %[[V:.*]]: tensor<3xf32> {{.*}}, %{{.*}}: tensor<3xf32> {dist.port = #dist.port<gradient @p>}, %[[S:.*]]: tensor<f32> {dist.port = #dist.port<loss_sum>}, %[[N:.*]]: tensor<f32> {dist.port = #dist.port<count>})
// CHECK: %[[NORM:.*]] = stablehlo.sqrt
// CHECK: %[[LOSS:.*]] = stablehlo.divide %[[S]], %[[N]]
// CHECK: %[[L:.*]] = stablehlo.is_finite %[[LOSS]]
// CHECK: %[[F:.*]] = stablehlo.is_finite %[[NORM]]
// CHECK: %[[BOTH:.*]] = stablehlo.and %[[L]], %[[F]]
// CHECK-DAG: %[[NP:.*]] = stablehlo.select %[[BOTH]], %{{.*}}, %[[P]]
// CHECK-DAG: %[[NV:.*]] = stablehlo.select %[[BOTH]], %{{.*}}, %[[V]]
// CHECK: return %[[NP]], %[[NV]], %[[LOSS]], %[[NORM]]
dist.state @p : tensor<3xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%p: tensor<3xf32> {dist.port = #dist.port<parameter @p>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%p: tensor<3xf32> {dist.port = #dist.port<parameter @p>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3xf32> {dist.port = #dist.port<gradient @p>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %p : tensor<f32>, tensor<f32>, tensor<3xf32>
}
func.func private @optimizer(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %v: tensor<1xf32> {dist.port = #dist.port<moment "v">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "v">}) {
  %0 = stablehlo.add %v, %g : tensor<1xf32>
  %1 = stablehlo.subtract %p, %0 : tensor<1xf32>
  return %1, %0 : tensor<1xf32>, tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer) microbatches(1) schedule(<1f1b>) {skip_not_finite}

//--- elements.mlir
// An optimizer of one element takes each parameter's shape, in the wider of
// both float types; what depends on hyper values alone stays scalar. @b has an
// optimizer of its own, without moments.
// CHECK: dist.state @a : tensor<2x3xf64>
// CHECK-NEXT: dist.state @a.v : tensor<2x3xf64> {role = optimizer, of = @a, source = #dist.draw<zeros>}
// CHECK-NEXT: dist.state @b : tensor<5xbf16> {role = parameter, source = #dist.draw<ones>}
// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: (%[[A:.*]]: tensor<2x3xf64> {{.*}}, %[[V:.*]]: tensor<2x3xf64> {{.*}}, %[[B:.*]]: tensor<5xbf16> {{.*}}, %[[GA:.*]]: tensor<2x3xf64> {{.*}}, %[[GB:.*]]: tensor<5xbf16> {{.*}}, %{{.*}}: tensor<f32> {dist.port = #dist.port<loss_sum>}, %[[N:.*]]: tensor<f32> {dist.port = #dist.port<count>}, %[[LR:.*]]: tensor<f32> {dist.port = #dist.port<hyper @lr>})
// CHECK: stablehlo.divide %[[GA]],
// CHECK: stablehlo.divide %[[GB]],
// The norm is as wide as the widest gradient.
// CHECK: stablehlo.convert %{{.*}} (tensor<5xbf16>) -> tensor<5xf64>
// Without `clip` nothing is bounded.
// CHECK: %[[NORM:.*]] = stablehlo.sqrt %{{.*}} tensor<f64>
// CHECK-NOT: stablehlo.minimum
// CHECK: %[[LR64:.*]] = stablehlo.convert %[[LR]] {{.*}} (tensor<f32>) -> tensor<f64>
// CHECK: %[[H:.*]] = stablehlo.multiply %[[LR64]], %[[LR64]] {{.*}} tensor<f64>
// CHECK: stablehlo.broadcast_in_dim %[[H]], dims = [] {{.*}} -> tensor<2x3xf64>
// CHECK: stablehlo.subtract %[[A]], %{{.*}} tensor<2x3xf64>
// CHECK: %[[B32:.*]] = stablehlo.convert %[[B]] {{.*}} (tensor<5xbf16>) -> tensor<5xf32>
// CHECK: %[[NB:.*]] = stablehlo.subtract %[[B32]], %{{.*}} tensor<5xf32>
// CHECK: stablehlo.convert %[[NB]] {{.*}} -> tensor<5xbf16>
// CHECK-NOT: @optimizer
// CHECK: dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) recompute(<all>){{$}}
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
dist.state @a : tensor<2x3xf64> {role = parameter, source = #dist.draw<ones>}
dist.state @b : tensor<5xbf16> {role = parameter, source = #dist.draw<ones>, optimizer = @optimizer.b}
func.func @loss(%a: tensor<2x3xf64> {dist.port = #dist.port<parameter @a>}, %b: tensor<5xbf16> {dist.port = #dist.port<parameter @b>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2x3xf64> {dist.port = #dist.port<parameter @a>}, %b: tensor<5xbf16> {dist.port = #dist.port<parameter @b>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2x3xf64> {dist.port = #dist.port<gradient @a>},
        tensor<5xbf16> {dist.port = #dist.port<gradient @b>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a, %b : tensor<f32>, tensor<f32>, tensor<2x3xf64>, tensor<5xbf16>
}
func.func private @optimizer.a(
    %p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %v: tensor<1xf32> {dist.port = #dist.port<moment "v">}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<1xf32> {dist.port = #dist.port<moment "v">}, tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %h = stablehlo.multiply %lr, %lr : tensor<f32>
  %r = stablehlo.broadcast_in_dim %h, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.add %v, %g : tensor<1xf32>
  %1 = stablehlo.multiply %r, %0 : tensor<1xf32>
  %2 = stablehlo.subtract %p, %1 : tensor<1xf32>
  return %0, %2 : tensor<1xf32>, tensor<1xf32>
}
func.func private @optimizer.b(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %0 = stablehlo.subtract %p, %g : tensor<1xf32>
  return %0 : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>) recompute(<all>) {precision = f64, raise = true}

//--- whole.mlir
// An optimizer of the parameter's own shape may mix elements.
// CHECK: dist.state @a : tensor<2x2xf32> {role = parameter, row = #dist.row<accumulate = f64>
// A row's own type goes before the recipe's, and what else the row says stays.
// CHECK: dist.state @own : tensor<2x2xf32> {role = parameter, row = #dist.row<accumulate = f32>
// CHECK: dist.state @other : tensor<2x2xf32> {role = parameter, row = #dist.row<sent = f16, accumulate = f64>
// CHECK-LABEL: func.func private @train.update
// The recipe's type of sums goes to the states.
// CHECK: stablehlo.minimum
// CHECK: stablehlo.dot_general {{.*}} (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
dist.state @a : tensor<2x2xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @own : tensor<2x2xf32> {role = parameter, row = #dist.row<accumulate = f32>, source = #dist.draw<ones>}
dist.state @other : tensor<2x2xf32> {role = parameter, row = #dist.row<sent = f16>, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2x2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2x2xf32> {dist.port = #dist.port<parameter @a>}, %b: tensor<2x2xf32> {dist.port = #dist.port<parameter @own>}, %c: tensor<2x2xf32> {dist.port = #dist.port<parameter @other>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2x2xf32> {dist.port = #dist.port<gradient @a>}, tensor<2x2xf32> {dist.port = #dist.port<gradient @own>}, tensor<2x2xf32> {dist.port = #dist.port<gradient @other>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a, %b, %c : tensor<f32>, tensor<f32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
func.func private @optimizer.a(%p: tensor<2x2xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2x2xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<2x2xf32> {dist.port = #dist.port<parameter>}) {
  %0 = stablehlo.dot_general %p, %g, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>) clip(1.0) accumulate(f64)

//--- shape.mlir
// CHECK: error: expected argument 0 of @optimizer.a of shape [3, 3], got [2, 2]
dist.state @a : tensor<2x2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2x2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2x2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2x2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2x2xf32>
}
func.func private @optimizer.a(%p: tensor<3x3xf32> {dist.port = #dist.port<parameter>}, %g: tensor<3x3xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<3x3xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<3x3xf32> }
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

//--- marks.mlir
// CHECK: error: expected argument 2 of optimizer @optimizer.a to be parameter, gradient, moment or hyper, got no port
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %x: tensor<f32>)
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

//--- hyper.mlir
// CHECK: error: {{.*}}expected hyper value @rate of optimizer @optimizer.a in the module, got none
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %x: tensor<f32> {dist.port = #dist.port<hyper @rate>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

//--- seed.mlir
// CHECK: error: {{.*}}expected hyper value @seed for stochastic rounding, got none
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>) {dist.stochastic_rounding}

//--- scalars.mlir
// What is made from elements is an element: a sum over it cannot be lifted.
// CHECK: error: {{.*}}expected ops on elements and scalars in an optimizer of one element
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %s = stablehlo.reshape %g : (tensor<1xf32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1xf32>
  return %b : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)
