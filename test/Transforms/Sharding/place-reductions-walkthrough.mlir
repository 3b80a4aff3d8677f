// RUN: llmc-opt %s --llmc-place-reductions | FileCheck %s
// RUN: sed 's/microbatches(2)/microbatches(1)/' %s > %t.mlir
// RUN: llmc-opt %t.mlir --llmc-place-reductions | FileCheck %s --check-prefix=ONE
// RUN: llmc-opt %t.mlir --llmc-place-reductions --llmc-materialize --llmc-expand-reshards | FileCheck %s --check-prefix=MOVES

// A model of two stages on 2 x 2 x 2 devices: an embedding tied to the head, a
// gated product of contractions, a residual, rows of ZeRO-1 for its weights, and
// the global norm of all gradients. With one microbatch gradients are reduced
// where they are made; what two stages add up still crosses to the update.
// ONE: #[[J:.*]] = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"data", "pipe"}], at = {"pipe" = [0, 1]}>
// ONE: #[[W:.*]] = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>
// ONE: func.func @microbatch
// ONE-SAME: #dist.port<gradient @E, layout = #[[J]]>
// ONE-SAME: #dist.port<gradient @W2, layout = #[[W]]>
// MOVES-LABEL: func.func @microbatch
// MOVES-NOT: over ["pipe"
// MOVES-LABEL: func.func @update
// MOVES: dist.all_reduce @c{{.*}} over ["pipe", "data"]
// CHECK-DAG: #[[L0:.*]] = #dist.layout<@mesh, [{"data"}, {}], partial = [sum{"tensor"}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L1:.*]] = #dist.layout<@mesh, [{"data"}], partial = [sum{"tensor"}], at = {"pipe" = [1]}>
// CHECK-DAG: #[[L2:.*]] = #dist.layout<@mesh, [{"data"}], at = {"pipe" = [1]}>
// CHECK-DAG: #[[L3:.*]] = #dist.layout<@mesh, [], partial = [sum{"data"}], at = {"pipe" = [1]}>
// CHECK-DAG: #[[L4:.*]] = #dist.layout<@mesh, [{"data"}, {}], partial = [sum{"tensor"}], at = {"pipe" = [1]}>
// CHECK-DAG: #[[L5:.*]] = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"data"}], at = {"pipe" = [1]}>
// CHECK-DAG: #[[L6:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L7:.*]] = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"data"}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L8:.*]] = #dist.layout<@mesh, [{}, {"tensor"}], partial = [sum{"data"}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L9:.*]] = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L10:.*]] = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"data", "pipe"}], at = {"pipe" = [0, 1]}>
// CHECK-DAG: #[[L11:.*]] = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>
// CHECK-DAG: #[[L12:.*]] = #dist.layout<@mesh, [], partial = [sum{"tensor"}], at = {"pipe" = [0, 1]}>
// CHECK-DAG: #[[L13:.*]] = #dist.layout<@mesh, [], partial = [sum{"data", "tensor"}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L14:.*]] = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L15:.*]] = #dist.layout<@mesh, [], partial = [sum{"tensor"}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[L16:.*]] = #dist.layout<@mesh, [], partial = [sum{"data", "pipe", "tensor"}], at = {"pipe" = [0, 1]}>
// CHECK-DAG: #[[L17:.*]] = #dist.layout<@mesh, [], at = {"pipe" = [0, 1]}>
#b0 = #dist.layout<@mesh, [{"data"}], at = {"pipe" = [0]}>
#b1 = #dist.layout<@mesh, [{"data"}], at = {"pipe" = [1]}>
#x = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>
#x_1 = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [1]}>
#h = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>
#h_1 = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [1]}>
#E = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>
#E0 = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>
#E1 = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [1]}>
#w = #dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>
#w2 = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>
#s0 = #dist.layout<@mesh, [], at = {"pipe" = [0]}>
#s1 = #dist.layout<@mesh, [], at = {"pipe" = [1]}>
#s = #dist.layout<@mesh, [], at = {"pipe" = [0, 1]}>
#z = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=2> pipeline "pipe"
dist.state @E : tensor<10x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @Wa : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @Wb : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @W2 : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK: func.func @microbatch
// CHECK-SAME: #dist.port<gradient @E, layout = #[[L10]]>
// CHECK-SAME: #dist.port<gradient @Wa, layout = #[[L8]]>
func.func @microbatch(%tok: tensor<8xi32> {dist.port = #dist.port<input "tok", layout = #b0>}, %E: tensor<10x4xf32> {dist.port = #dist.port<parameter @E, layout = #E>}, %Wa: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wa, layout = #w>}, %Wb: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wb, layout = #w>}, %W2: tensor<4x4xf32> {dist.port = #dist.port<parameter @W2, layout = #w2>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #s1>}, tensor<f32> {dist.port = #dist.port<count, layout = #s>}, tensor<10x4xf32> {dist.port = #dist.port<gradient @E, layout = #E>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @Wa, layout = #w>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @Wb, layout = #w>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @W2, layout = #w2>}) {
  %z0 = stablehlo.constant {dist.layouts = [#s0]} dense<0.0> : tensor<f32>
  %z1 = stablehlo.constant {dist.layouts = [#s1]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#s]} dense<8.0> : tensor<f32>
  %zeros = stablehlo.constant {dist.layouts = [#E0]} dense<0.0> : tensor<10x4xf32>
  // The embedding rows that a device does not hold count as zero.
  // CHECK: stablehlo.gather{{.*}}dist.layouts = [#[[L0]]]
  %x0 = "stablehlo.gather"(%E, %tok) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {dist.layouts = [#x]} : (tensor<10x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  %a = stablehlo.dot_general %x0, %Wa, contracting_dims = [1] x [0] {dist.layouts = [#h]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b = stablehlo.dot_general %x0, %Wb, contracting_dims = [1] x [0] {dist.layouts = [#h]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = stablehlo.tanh %a {dist.layouts = [#h]} : tensor<8x4xf32>
  %h = stablehlo.multiply %t, %b {dist.layouts = [#h]} : tensor<8x4xf32>
  // The residual stays partial until it is sent.
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L0]]]
  %u = stablehlo.dot_general %h, %W2, contracting_dims = [1] x [0] {dist.layouts = [#x]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[L0]]]
  %x1 = stablehlo.add %x0, %u {dist.layouts = [#x]} : tensor<8x4xf32>
  %lg = stablehlo.dot_general %x1, %E, contracting_dims = [1] x [1] {dist.layouts = [#h_1]} : (tensor<8x4xf32>, tensor<10x4xf32>) -> tensor<8x10xf32>
  %p = stablehlo.exponential %lg {dist.layouts = [#h_1]} : tensor<8x10xf32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[L1]]]
  %l = stablehlo.reduce(%p init: %z1) applies stablehlo.add across dimensions = [1] {dist.layouts = [#b1]} : (tensor<8x10xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: stablehlo.log{{.*}}dist.layouts = [#[[L2]]]
  %ll = stablehlo.log %l {dist.layouts = [#b1]} : tensor<8xf32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[L3]]]
  %ls = stablehlo.reduce(%ll init: %z1) applies stablehlo.add across dimensions = [0] {dist.layouts = [#s1]} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L4]]]
  %dx1 = stablehlo.dot_general %p, %E, contracting_dims = [1] x [0] {dist.layouts = [#x_1]} : (tensor<8x10xf32>, tensor<10x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L5]]]
  %gEh = stablehlo.dot_general %p, %x1, contracting_dims = [0] x [0] {dist.layouts = [#E1]} : (tensor<8x10xf32>, tensor<8x4xf32>) -> tensor<10x4xf32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L6]]]
  %dh = stablehlo.dot_general %dx1, %W2, contracting_dims = [1] x [1] {dist.layouts = [#h]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L7]]]
  %gW2 = stablehlo.dot_general %h, %dx1, contracting_dims = [0] x [0] {dist.layouts = [#w2]} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %da = stablehlo.multiply %dh, %b {dist.layouts = [#h]} : tensor<8x4xf32>
  %db = stablehlo.multiply %dh, %t {dist.layouts = [#h]} : tensor<8x4xf32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L8]]]
  %ga = stablehlo.dot_general %x0, %da, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L8]]]
  %gb = stablehlo.dot_general %x0, %db, contracting_dims = [0] x [0] {dist.layouts = [#w]} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // Reduced once, after the sum of the input gradients.
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L0]]]
  %sa = stablehlo.dot_general %da, %Wa, contracting_dims = [1] x [1] {dist.layouts = [#x]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[L0]]]
  %sb = stablehlo.dot_general %db, %Wb, contracting_dims = [1] x [1] {dist.layouts = [#x]} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[L0]]]
  %s = stablehlo.add %sa, %sb {dist.layouts = [#x]} : tensor<8x4xf32>
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[L9]]]
  %dx0 = stablehlo.add %dx1, %s {dist.layouts = [#x]} : tensor<8x4xf32>
  // CHECK: stablehlo.scatter
  %gEe = "stablehlo.scatter"(%zeros, %tok, %dx0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %sum = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  // CHECK: }) {dist.layouts = [#[[L7]]]}
  }) {dist.layouts = [#E0]} : (tensor<10x4xf32>, tensor<8xi32>, tensor<8x4xf32>) -> tensor<10x4xf32>
  // Both summands live at their stages.
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[L10]]]
  %gE = stablehlo.add %gEh, %gEe {dist.layouts = [#E]} : tensor<10x4xf32>
  return %ls, %count, %gE, %ga, %gb, %gW2 : tensor<f32>, tensor<f32>, tensor<10x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK: func.func @update
// CHECK-SAME: #dist.port<gradient @E, layout = #[[L10]]>
// CHECK-SAME: #dist.port<gradient @Wa, layout = #[[L8]]>
// CHECK-SAME: #dist.port<loss_sum, layout = #[[L3]]>
func.func @update(%E: tensor<10x4xf32> {dist.port = #dist.port<parameter @E, layout = #E>}, %Wa: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wa, layout = #w>}, %Wb: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wb, layout = #w>}, %W2: tensor<4x4xf32> {dist.port = #dist.port<parameter @W2, layout = #w2>}, %gE: tensor<10x4xf32> {dist.port = #dist.port<gradient @E, layout = #E>}, %ga: tensor<4x4xf32> {dist.port = #dist.port<gradient @Wa, layout = #w>}, %gb: tensor<4x4xf32> {dist.port = #dist.port<gradient @Wb, layout = #w>}, %gW2: tensor<4x4xf32> {dist.port = #dist.port<gradient @W2, layout = #w2>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #s1>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #s>})
    -> (tensor<10x4xf32> {dist.port = #dist.port<parameter @E, layout = #E>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @Wa, layout = #w>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @Wb, layout = #w>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @W2, layout = #w2>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #s>}) {
  %zero = stablehlo.constant {dist.layouts = [#s]} dense<0.0> : tensor<f32>
  // CHECK: stablehlo.multiply{{.*}}dist.layouts = [#[[L11]]]
  %qgE = stablehlo.multiply %gE, %gE {dist.layouts = [#E]} : tensor<10x4xf32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[L12]]]
  %ngE = stablehlo.reduce(%qgE init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#s]} : (tensor<10x4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.multiply{{.*}}dist.layouts = [#[[L6]]]
  %qga = stablehlo.multiply %ga, %ga {dist.layouts = [#z]} : tensor<4x4xf32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[L13]]]
  %nga = stablehlo.reduce(%qga init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#s0]} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.multiply{{.*}}dist.layouts = [#[[L6]]]
  %qgb = stablehlo.multiply %gb, %gb {dist.layouts = [#z]} : tensor<4x4xf32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[L13]]]
  %ngb = stablehlo.reduce(%qgb init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#s0]} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.multiply{{.*}}dist.layouts = [#[[L14]]]
  %qgW2 = stablehlo.multiply %gW2, %gW2 {dist.layouts = [#w2]} : tensor<4x4xf32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[L15]]]
  %ngW2 = stablehlo.reduce(%qgW2 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#s0]} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  // The global norm: what is replicated is kept on one coordinate, what lives
  // at stage 0 is joined to it, and all of it is reduced once.
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[L13]]]
  %n1 = stablehlo.add %nga, %ngb {dist.layouts = [#s0]} : tensor<f32>
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[L13]]]
  %n2 = stablehlo.add %n1, %ngW2 {dist.layouts = [#s0]} : tensor<f32>
  // CHECK: stablehlo.add{{.*}}dist.layouts = [#[[L16]]]
  %n3 = stablehlo.add %ngE, %n2 {dist.layouts = [#s]} : tensor<f32>
  // CHECK: stablehlo.sqrt{{.*}}dist.layouts = [#[[L17]]]
  %k = stablehlo.sqrt %n3 {dist.layouts = [#s]} : tensor<f32>
  %kE = stablehlo.broadcast_in_dim %k, dims = [] {dist.layouts = [#E]} : (tensor<f32>) -> tensor<10x4xf32>
  %dE = stablehlo.divide %gE, %kE {dist.layouts = [#E]} : tensor<10x4xf32>
  %newE = stablehlo.subtract %E, %dE {dist.layouts = [#E]} : tensor<10x4xf32>
  %kWa = stablehlo.broadcast_in_dim %k, dims = [] {dist.layouts = [#z]} : (tensor<f32>) -> tensor<4x4xf32>
  %dWa = stablehlo.divide %ga, %kWa {dist.layouts = [#z]} : tensor<4x4xf32>
  %newWa = stablehlo.subtract %Wa, %dWa {dist.layouts = [#z]} : tensor<4x4xf32>
  %kWb = stablehlo.broadcast_in_dim %k, dims = [] {dist.layouts = [#z]} : (tensor<f32>) -> tensor<4x4xf32>
  %dWb = stablehlo.divide %gb, %kWb {dist.layouts = [#z]} : tensor<4x4xf32>
  %newWb = stablehlo.subtract %Wb, %dWb {dist.layouts = [#z]} : tensor<4x4xf32>
  %kW2 = stablehlo.broadcast_in_dim %k, dims = [] {dist.layouts = [#w2]} : (tensor<f32>) -> tensor<4x4xf32>
  %dW2 = stablehlo.divide %gW2, %kW2 {dist.layouts = [#w2]} : tensor<4x4xf32>
  %newW2 = stablehlo.subtract %W2, %dW2 {dist.layouts = [#w2]} : tensor<4x4xf32>
  %loss = stablehlo.divide %ls, %n {dist.layouts = [#s1]} : tensor<f32>
  return %newE, %newWa, %newWb, %newW2, %loss : tensor<10x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(2) schedule(<1f1b>) chunks([0, 0, 1])
