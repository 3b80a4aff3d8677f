// RUN: llmc-opt %s --split-input-file --llmc-build-update | FileCheck %s

// A moment that is there is taken as it is.
// CHECK-COUNT-1: dist.state @a.m
// CHECK-SAME: {role = optimizer, of = @a, source = #dist.draw<ones>}
// CHECK-NOT: dist.state
// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: tensor<2xf32> {dist.port = #dist.port<optimizer @a.m>}
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @a.m : tensor<2xf32> {role = optimizer, of = @a, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "m">}) {
  return %p, %m : tensor<1xf32>, tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// A state of that name that belongs to another parameter is not.
// CHECK: dist.state @a : tensor<2xf32>
// CHECK-NEXT: dist.state @a.m_0 : tensor<2xf32> {role = optimizer, of = @a, source = #dist.draw<zeros>}
// CHECK-NEXT: dist.state @b : tensor<2xf32>
// CHECK-NEXT: dist.state @a.m : tensor<2xf32> {role = optimizer, of = @b, source = #dist.draw<ones>}
// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: tensor<2xf32> {dist.port = #dist.port<optimizer @a.m_0>}
dist.state @a : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @b : tensor<2xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @a.m : tensor<2xf32> {role = optimizer, of = @b, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf32>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<1xf32> {dist.port = #dist.port<moment "m">}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}, tensor<1xf32> {dist.port = #dist.port<moment "m">}) {
  return %p, %m : tensor<1xf32>, tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// A moment of the parameter's rank has its layout at rest, one of another rank
// has none; and neither has one where the row says nothing of rest.
// CHECK-DAG: #[[R:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
// CHECK: dist.state @a.m : tensor<4x2xf32> {role = optimizer, of = @a, row = #dist.row<rest = #[[R]]>, source = #dist.draw<zeros>}
// CHECK-NEXT: dist.state @a.v : tensor<2xf32> {role = optimizer, of = @a, source = #dist.draw<zeros>}
// CHECK: dist.state @b.m : tensor<4x2xf32> {role = optimizer, of = @b, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func private @train.update
// A metric of one microbatch is its own mean.
// CHECK-SAME: %[[E:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<metric_sum "extra">}
// CHECK: return {{.*}}, %[[E]] :
dist.mesh @mesh = <"data"=2>
dist.state @a : tensor<4x2xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}, {}]>>, source = #dist.draw<ones>}
dist.state @b : tensor<4x2xf32> {role = parameter, row = #dist.row<use = <@mesh, [{"data"}, {}]>>, source = #dist.draw<ones>}
func.func @loss(%a: tensor<4x2xf32> {dist.port = #dist.port<parameter @a>}, %b: tensor<4x2xf32> {dist.port = #dist.port<parameter @b>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<4x2xf32> {dist.port = #dist.port<parameter @a>}, %b: tensor<4x2xf32> {dist.port = #dist.port<parameter @b>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
        tensor<4x2xf32> {dist.port = #dist.port<gradient @a>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @b>},
        tensor<f32> {dist.port = #dist.port<metric_sum "extra">}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a, %b, %l : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>
}
func.func private @optimizer.a(%p: tensor<4x2xf32> {dist.port = #dist.port<parameter>}, %g: tensor<4x2xf32> {dist.port = #dist.port<gradient>},
    %m: tensor<4x2xf32> {dist.port = #dist.port<moment "m">}, %v: tensor<2xf32> {dist.port = #dist.port<moment "v">})
    -> (tensor<4x2xf32> {dist.port = #dist.port<parameter>}, tensor<4x2xf32> {dist.port = #dist.port<moment "m">}, tensor<2xf32> {dist.port = #dist.port<moment "v">}) {
  return %p, %m, %v : tensor<4x2xf32>, tensor<4x2xf32>, tensor<2xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(1) schedule(<1f1b>)

// -----

// Only what has the parameter's element type is widened with it: an integer
// and a number of another float type keep theirs.
// CHECK-LABEL: func.func private @train.update
// CHECK-DAG: %[[I:.*]] = stablehlo.constant {{.*}}dense<3> : tensor<i32>
// CHECK-DAG: stablehlo.convert %[[I]] {{.*}}: (tensor<i32>) -> tensor<f64>
// CHECK-DAG: %[[H:.*]] = stablehlo.constant {{.*}}dense<5.000000e-01> : tensor<bf16>
// CHECK-DAG: stablehlo.convert %[[H]] {{.*}}: (tensor<bf16>) -> tensor<f64>
dist.state @a : tensor<2xf64> {role = parameter, source = #dist.draw<ones>}
func.func @loss(%a: tensor<2xf64> {dist.port = #dist.port<parameter @a>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l : tensor<f32>
}
func.func private @train.microbatch(%a: tensor<2xf64> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf64> {dist.port = #dist.port<gradient @a>}) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  return %l, %l, %a : tensor<f32>, tensor<f32>, tensor<2xf64>
}
func.func private @optimizer.a(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %i = stablehlo.constant dense<3> : tensor<i32>
  %j = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
  %h = stablehlo.constant dense<0.5> : tensor<bf16>
  %k = stablehlo.convert %h : (tensor<bf16>) -> tensor<f32>
  %n = stablehlo.multiply %j, %k : tensor<f32>
  %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.multiply %g, %b : tensor<1xf32>
  %1 = stablehlo.subtract %p, %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)

// -----

// Numbers that differ from element to element, in an optimizer of one shape.
// CHECK-LABEL: func.func private @train.update
// CHECK: stablehlo.constant {{.*}}dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
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
func.func private @optimizer.a(%p: tensor<2xf32> {dist.port = #dist.port<parameter>}, %g: tensor<2xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<2xf32> {dist.port = #dist.port<parameter>}) {
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.multiply %g, %c : tensor<2xf32>
  %1 = stablehlo.subtract %p, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
dist.training @train forward(@loss) optimizer(@optimizer.a) microbatches(2) schedule(<1f1b>)
