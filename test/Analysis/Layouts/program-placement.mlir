// RUN: llmc-opt %s --split-input-file --llmc-place-reductions | FileCheck %s

// What has no layout is left as it is, on its way in, between and out; an op
// without a sharding rule reads a sum that is reduced.
#split = #dist.layout<@mesh, [{"data"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
// CHECK-DAG: #[[F:.*]] = #dist.layout<@mesh, []>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [], partial = [sum{"data"}]>
// CHECK: func.func @some(%arg0: tensor<f32> {dist.port = #dist.port<input "y">}
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<output "z">}, tensor<f32> {dist.port = #dist.port<output "y", layout = #[[F]]>})
func.func @some(%y: tensor<f32> {dist.port = #dist.port<input "y">}, %x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #split>})
    -> (tensor<f32> {dist.port = #dist.port<output "z">}, tensor<f32> {dist.port = #dist.port<output "y", layout = #scalar>}) {
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.add %arg0, %arg0 : tensor<f32>
  %z = stablehlo.add %y, %y : tensor<f32>
  // CHECK-NEXT: stablehlo.constant {dist.layouts = [#[[F]]]}
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK-NEXT: stablehlo.reduce{{.*}} {dist.layouts = [#[[P]]]}
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: dist.launch {{.*}} {dist.layouts = [#[[F]]]}
  %1 = dist.launch @kernels::@k_1(%0) {dist.layouts = [#scalar]} : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: stablehlo.negate {{.*}} {dist.layouts = [#[[F]]]}
  %2 = stablehlo.negate %1 {dist.layouts = [#scalar]} : tensor<f32>
  return %z, %2 : tensor<f32>, tensor<f32>
}
dist.entry @forward function(@some) chunks([0])
dist.entry @again function(@some) chunks([0])

// -----

// The row of a part is that of the whole: a gradient that is stored split is
// not accumulated whole.
#x = #dist.layout<@mesh, [{"data"}, {}]>
#w = #dist.layout<@mesh, [{}, {}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
// CHECK-DAG: #[[S:.*]] = #dist.layout<@mesh, [], partial = [sum{"data"}]>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>
// CHECK-DAG: #[[W:.*]] = #dist.layout<@mesh, [{}, {}]>
dist.state @V : tensor<8x6xf32> {role = parameter, row = #dist.row<rest = #w, use = #w, gradient = #x>, source = #dist.draw<ones>}
dist.state @W part of @V box([0, 0] [4, 6]) : tensor<4x6xf32> {role = parameter}
dist.state @U : tensor<4x6xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK: func.func @microbatch
// CHECK-SAME: #dist.port<loss_sum, layout = #[[S]]>
// CHECK-SAME: #dist.port<gradient @W, layout = #[[W]]>
// CHECK-SAME: #dist.port<gradient @U, layout = #[[P]]>
func.func @microbatch(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %dy: tensor<8x6xf32> {dist.port = #dist.port<input "dy", layout = #x>}, %W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, %U: tensor<4x6xf32> {dist.port = #dist.port<parameter @U, layout = #w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @U, layout = #w>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %dU = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %loss, %count, %dW, %dU : tensor<f32>, tensor<f32>, tensor<4x6xf32>, tensor<4x6xf32>
}
// CHECK: func.func @update
// CHECK-SAME: #dist.port<gradient @W, layout = #[[W]]>
// CHECK-SAME: #dist.port<gradient @U, layout = #[[P]]>
func.func @update(%W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, %U: tensor<4x6xf32> {dist.port = #dist.port<parameter @U, layout = #w>}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}, %h: tensor<4x6xf32> {dist.port = #dist.port<gradient @U, layout = #w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, tensor<4x6xf32> {dist.port = #dist.port<parameter @U, layout = #w>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#w]} : tensor<4x6xf32>
  %t = stablehlo.tanh %h {dist.layouts = [#w]} : tensor<4x6xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#w]} : tensor<4x6xf32>
  %newer = stablehlo.subtract %U, %t {dist.layouts = [#w]} : tensor<4x6xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %newer, %metric : tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])

// -----

// Steps may share their microbatch: the sum goes to both updates as one of
// them needs it, counted as often as it is made in the longer one.
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>
#x = #dist.layout<@mesh, [{"data"}, {}]>
#w = #dist.layout<@mesh, [{}, {}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
dist.state @W : tensor<4x6xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK: func.func @microbatch
// CHECK-SAME: #dist.port<gradient @W, layout = #[[P]]>
func.func @microbatch(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %dy: tensor<8x6xf32> {dist.port = #dist.port<input "dy", layout = #x>}, %W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<4x6xf32>
}
// CHECK: func.func @update
// CHECK-SAME: #dist.port<gradient @W, layout = #[[P]]>
func.func @update(%W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#w]} : tensor<4x6xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#w]} : tensor<4x6xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<4x6xf32>, tensor<f32>
}
// CHECK: func.func @other
// CHECK-SAME: #dist.port<gradient @W, layout = #[[P]]>
func.func @other(%W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#w]} : tensor<4x6xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#w]} : tensor<4x6xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<4x6xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])
dist.step @tune microbatch(@microbatch) update(@other) microbatches(1) schedule(<1f1b>) chunks([0])

// -----

// A product over the stages is reduced before it is multiplied by another one:
// with no pipeline, after.
#split = #dist.layout<@mesh, [{"pipe"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-DAG: #[[F:.*]] = #dist.layout<@mesh, []>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [], partial = [product{"pipe"}]>
// CHECK: func.func @product
func.func @product(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #split>}, %y: tensor<4xf32> {dist.port = #dist.port<input "y", layout = #split>}) -> (tensor<f32> {dist.port = #dist.port<output "y", layout = #scalar>}) {
  %one = stablehlo.constant {dist.layouts = [#scalar]} dense<1.0> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}} {dist.layouts = [#[[P]]]}
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.reduce{{.*}} {dist.layouts = [#[[P]]]}
  %1 = stablehlo.reduce(%y init: %one) applies stablehlo.multiply across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.multiply{{.*}} {dist.layouts = [#[[F]]]}
  %2 = stablehlo.multiply %0, %1 {dist.layouts = [#scalar]} : tensor<f32>
  return %2 : tensor<f32>
}
dist.entry @forward function(@product) chunks([0])

// -----

#split = #dist.layout<@mesh, [{"pipe"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"pipe"=2>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [], partial = [product{"pipe"}]>
// CHECK: func.func @product_of_data
func.func @product_of_data(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #split>}, %y: tensor<4xf32> {dist.port = #dist.port<input "y", layout = #split>}) -> (tensor<f32> {dist.port = #dist.port<output "y", layout = #scalar>}) {
  %one = stablehlo.constant {dist.layouts = [#scalar]} dense<1.0> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}} {dist.layouts = [#[[P]]]}
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.reduce{{.*}} {dist.layouts = [#[[P]]]}
  %1 = stablehlo.reduce(%y init: %one) applies stablehlo.multiply across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.multiply{{.*}} {dist.layouts = [#[[P]]]}
  %2 = stablehlo.multiply %0, %1 {dist.layouts = [#scalar]} : tensor<f32>
  return %2 : tensor<f32>
}
dist.entry @forward function(@product_of_data) chunks([0])

// -----

// So may steps of two microbatches share their update.
// CHECK-DAG: #[[S:.*]] = #dist.layout<@mesh, [], partial = [sum{"data"}]>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>
#x = #dist.layout<@mesh, [{"data"}, {}]>
#w = #dist.layout<@mesh, [{}, {}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
dist.state @W : tensor<4x6xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK: func.func @microbatch
// CHECK-SAME: #dist.port<loss_sum, layout = #[[S]]>
// CHECK-SAME: #dist.port<gradient @W, layout = #[[P]]>
func.func @microbatch(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %dy: tensor<8x6xf32> {dist.port = #dist.port<input "dy", layout = #x>}, %W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<4x6xf32>
}
// CHECK: func.func @update
// CHECK-SAME: #dist.port<gradient @W, layout = #[[P]]>
// CHECK-SAME: #dist.port<loss_sum, layout = #[[S]]>
func.func @update(%W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %s = stablehlo.tanh %g {dist.layouts = [#w]} : tensor<4x6xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#w]} : tensor<4x6xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<4x6xf32>, tensor<f32>
}
// CHECK: func.func @second
// CHECK-SAME: #dist.port<loss_sum, layout = #[[S]]>
// CHECK-SAME: #dist.port<gradient @W, layout = #[[P]]>
func.func @second(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %dy: tensor<8x6xf32> {dist.port = #dist.port<input "dy", layout = #x>}, %W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %dW = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<4x6xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])
dist.step @tune microbatch(@second) update(@update) microbatches(4) schedule(<1f1b>) chunks([0])
