// RUN: llmc-opt %s --llmc-place-reductions | FileCheck %s --check-prefixes=BOTH,ONE
// RUN: sed 's/microbatches(1)/microbatches(4)/' %s > %t.four.mlir
// RUN: llmc-opt %t.four.mlir --llmc-place-reductions | FileCheck %s --check-prefixes=BOTH,FOUR
// RUN: sed 's/use = #w>/use = #w, gradient = #zero2>/' %t.four.mlir > %t.row.mlir
// RUN: llmc-opt %t.row.mlir --llmc-place-reductions | FileCheck %s --check-prefixes=BOTH,ROW

// A weight's gradient over data, the loss and the count. One microbatch: sums
// are reduced where they are made (a tie). Four: in the update, once. A row that
// splits the gradient by the axis: before it is accumulated, loss and count not.
// BOTH-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"data"}]>
// BOTH-DAG: #[[S:.*]] = #dist.layout<@mesh, [], partial = [sum{"data"}]>
// BOTH-DAG: #[[W:.*]] = #dist.layout<@mesh, [{}, {}]>
// BOTH-DAG: #[[F:.*]] = #dist.layout<@mesh, []>
#x = #dist.layout<@mesh, [{"data"}, {}]>
#w = #dist.layout<@mesh, [{}, {}]>
#zero2 = #dist.layout<@mesh, [{"data"}, {}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
dist.state @W : tensor<4x6xf32> {role = parameter, row = #dist.row<rest = #w, use = #w>, source = #dist.draw<ones>}
// BOTH: func.func @microbatch
// ONE-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #[[F]]>}, tensor<f32> {dist.port = #dist.port<count, layout = #[[F]]>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #[[W]]>})
// FOUR-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #[[S]]>}, tensor<f32> {dist.port = #dist.port<count, layout = #[[F]]>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #[[P]]>})
// ROW-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #[[S]]>}, tensor<f32> {dist.port = #dist.port<count, layout = #[[F]]>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #[[W]]>})
func.func @microbatch(%x: tensor<8x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %dy: tensor<8x6xf32> {dist.port = #dist.port<input "dy", layout = #x>}, %W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, tensor<f32> {dist.port = #dist.port<count, layout = #scalar>}, tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#scalar]} dense<8.0> : tensor<f32>
  // BOTH: stablehlo.reduce{{.*}}dist.layouts = [#[[S]]]
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#scalar]} : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  // BOTH: stablehlo.dot_general{{.*}}dist.layouts = [#[[P]]]
  %dW = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %loss, %count, %dW : tensor<f32>, tensor<f32>, tensor<4x6xf32>
}
// BOTH: func.func @update
// ONE-SAME: %{{.*}}: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #[[W]]>}
// FOUR-SAME: %{{.*}}: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #[[P]]>}
// ROW-SAME: %{{.*}}: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #[[W]]>}
func.func @update(%W: tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, %g: tensor<4x6xf32> {dist.port = #dist.port<gradient @W, layout = #w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #scalar>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #scalar>})
    -> (tensor<4x6xf32> {dist.port = #dist.port<parameter @W, layout = #w>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #scalar>}) {
  %b = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#w]} : (tensor<f32>) -> tensor<4x6xf32>
  // BOTH: stablehlo.divide{{.*}}dist.layouts = [#[[W]]]
  %m = stablehlo.divide %g, %b {dist.layouts = [#w]} : tensor<4x6xf32>
  %s = stablehlo.tanh %m {dist.layouts = [#w]} : tensor<4x6xf32>
  %new = stablehlo.subtract %W, %s {dist.layouts = [#w]} : tensor<4x6xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#scalar]} : tensor<f32>
  return %new, %metric : tensor<4x6xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) chunks([0])
