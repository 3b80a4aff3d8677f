// RUN: llmc-opt %s --llmc-materialize | FileCheck %s
// RUN: llmc-opt %s --llmc-materialize --llmc-expand-reshards --llmc-verify-materialized | FileCheck %s --check-prefix=EXPANDED

// A two-stage model on 2 x 2 x 2 devices with tied embedding, its loss as plain
// ops; layouts as propagation and placement decide them. `t` partial over
// tensor, `d` over data.
#r0 = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>
#r1 = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [1]}>
#r0t = #dist.layout<@mesh, [{"data"}, {}], partial = [sum{"tensor"}], at = {"pipe" = [0]}>
#r1t = #dist.layout<@mesh, [{"data"}, {}], partial = [sum{"tensor"}], at = {"pipe" = [1]}>
#c0 = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>
#c1 = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [1]}>
#b01 = #dist.layout<@mesh, [{"data"}], at = {"pipe" = [0, 1]}>
#b0 = #dist.layout<@mesh, [{"data"}], at = {"pipe" = [0]}>
#E = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>
#gE0 = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"data"}], at = {"pipe" = [0]}>
#gE1 = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"data"}], at = {"pipe" = [1]}>
#z0 = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>
#gE = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"pipe", "data"}], at = {"pipe" = [0, 1]}>
#w = #dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>
#gw = #dist.layout<@mesh, [{}, {"tensor"}], partial = [sum{"data"}], at = {"pipe" = [0]}>
#w2 = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>
#gw2 = #dist.layout<@mesh, [{"tensor"}, {}], partial = [sum{"data"}], at = {"pipe" = [0]}>
#zw = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>
#s1 = #dist.layout<@mesh, [], at = {"pipe" = [1]}>
#s = #dist.layout<@mesh, [], at = {"pipe" = [0, 1]}>
#s0 = #dist.layout<@mesh, [], at = {"pipe" = [0]}>
#s1dt = #dist.layout<@mesh, [], partial = [sum{"data", "tensor"}], at = {"pipe" = [1]}>
#ls = #dist.layout<@mesh, [], partial = [sum{"data", "pipe", "tensor"}], at = {"pipe" = [0, 1]}>
#nt = #dist.layout<@mesh, [], partial = [sum{"tensor"}], at = {"pipe" = [0, 1]}>
#n0dt = #dist.layout<@mesh, [], partial = [sum{"data", "tensor"}], at = {"pipe" = [0]}>
#n0t = #dist.layout<@mesh, [], partial = [sum{"tensor"}], at = {"pipe" = [0]}>
#n = #dist.layout<@mesh, [], partial = [sum{"data", "pipe", "tensor"}], at = {"pipe" = [0, 1]}>
#F = #dist.phase<forward>
#B = #dist.phase<backward_input>
#W = #dist.phase<backward_weight>
#U = #dist.phase<update>

dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=2> pipeline "pipe"
dist.state @E : tensor<10x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @W1 : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @W1.m : tensor<4x4xf32> {role = optimizer, of = @W1, source = #dist.draw<zeros>}
dist.state @W2 : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}

// CHECK-LABEL: func.func @microbatch
// CHECK-SAME: %[[TOK:[^:]*]]: tensor<8xi32, {{[^>]*}}> {dist.port = #dist.port<input "tok"
// CHECK-SAME: %[[E:[^:]*]]: tensor<10x4xf32, #{{[^>]*}}> {dist.port = #dist.port<parameter @E
// EXPANDED-LABEL: func.func @microbatch
func.func @microbatch(%tok: tensor<8xi32> {dist.port = #dist.port<input "tok", layout = #b0>},
    %E: tensor<10x4xf32> {dist.port = #dist.port<parameter @E, layout = #E>},
    %W1: tensor<4x4xf32> {dist.port = #dist.port<parameter @W1, layout = #w>},
    %W2: tensor<4x4xf32> {dist.port = #dist.port<parameter @W2, layout = #w2>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #ls>}, tensor<f32> {dist.port = #dist.port<count, layout = #s1>},
        tensor<10x4xf32> {dist.port = #dist.port<gradient @E, layout = #gE>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @W1, layout = #gw>},
        tensor<4x4xf32> {dist.port = #dist.port<gradient @W2, layout = #gw2>}) {
  // The gather over split rows is partial; the dots want it whole, the add does not.
  // CHECK: %[[X0P:.*]] = "stablehlo.gather"
  // CHECK-NEXT: %[[X0:.*]] = dist.reshard %[[X0P]] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
  // EXPANDED: %[[X0P:.*]] = "stablehlo.gather"
  // EXPANDED-NEXT: %[[X0:.*]] = dist.all_reduce %[[X0P]] over ["tensor"] sum {dist.block = 0
  %x0 = "stablehlo.gather"(%E, %tok) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {dist.layouts = [#r0t], dist.block = 0 : i64, dist.phase = #F} : (tensor<10x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  // CHECK-NEXT: stablehlo.dot_general %[[X0]],
  %a = stablehlo.dot_general %x0, %W1, contracting_dims = [1] x [0] {dist.layouts = [#c0], dist.block = 1 : i64, dist.phase = #F} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %h = stablehlo.tanh %a {dist.layouts = [#c0], dist.block = 1 : i64, dist.phase = #F} : tensor<8x4xf32>
  // CHECK: stablehlo.tanh
  // CHECK-NEXT: %[[U:.*]] = stablehlo.dot_general
  // EXPANDED: stablehlo.tanh
  // EXPANDED-NEXT: %[[U:.*]] = stablehlo.dot_general
  %u = stablehlo.dot_general %h, %W2, contracting_dims = [1] x [0] {dist.layouts = [#r0t], dist.block = 1 : i64, dist.phase = #F} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[X1P:.*]] = stablehlo.add %[[X0P]], %[[U]]
  // CHECK-NEXT: %[[X1:.*]] = dist.reshard %[[X1P]] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>}
  // EXPANDED: %[[X1P:.*]] = stablehlo.add %[[X0P]], %[[U]]
  // EXPANDED-NEXT: %[[S:.*]] = dist.reduce_scatter %[[X1P]] dim 0 over ["tensor"] sum {dist.block = 1
  // EXPANDED-NEXT: %[[T:.*]] = dist.transfer @t0 %[[S]] along "pipe" 0 -> 1 {dist.block = 1
  // EXPANDED-NEXT: %[[X1:.*]] = dist.all_gather %[[T]] dim 0 over ["tensor"] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>}
  %x1 = stablehlo.add %x0, %u {dist.layouts = [#r0t], dist.block = 1 : i64, dist.phase = #F} : tensor<8x4xf32>
  // CHECK-NEXT: %[[LG:.*]] = stablehlo.dot_general %[[X1]], %[[E]]
  %lg = stablehlo.dot_general %x1, %E, contracting_dims = [1] x [1] {dist.layouts = [#c1], dist.block = 2 : i64, dist.phase = #F} : (tensor<8x4xf32>, tensor<10x4xf32>) -> tensor<8x10xf32>
  %sq = stablehlo.multiply %lg, %lg {dist.layouts = [#c1], dist.block = 2 : i64, dist.phase = #F} : tensor<8x10xf32>
  %zero = stablehlo.constant {dist.layouts = [#s1], dist.block = 2 : i64, dist.phase = #F} dense<0.0> : tensor<f32>
  // CHECK: %[[LS:.*]] = stablehlo.reduce
  // CHECK: dist.join %[[LS]] over "pipe"
  %ls = stablehlo.reduce(%sq init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#s1dt], dist.block = 2 : i64, dist.phase = #F} : (tensor<8x10xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#s1], dist.block = 2 : i64, dist.phase = #F} dense<8.0> : tensor<f32>
  // CHECK: %[[DX1P:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[DX1:.*]] = dist.reshard %[[DX1P]] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>}
  // EXPANDED: dist.reduce_scatter %{{.*}} dim 0 over ["tensor"] sum {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>}
  // EXPANDED-NEXT: dist.transfer @t1 %{{.*}} along "pipe" 1 -> 0
  // EXPANDED-NEXT: dist.all_gather %{{.*}} dim 0 over ["tensor"] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
  %dx1 = stablehlo.dot_general %lg, %E, contracting_dims = [1] x [0] {dist.layouts = [#r1t], dist.block = 2 : i64, dist.phase = #B} : (tensor<8x10xf32>, tensor<10x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[GEH:.*]] = stablehlo.dot_general %[[LG]], %[[X1]]
  %gEh = stablehlo.dot_general %lg, %x1, contracting_dims = [0] x [0] {dist.layouts = [#gE1], dist.block = 2 : i64, dist.phase = #W} : (tensor<8x10xf32>, tensor<8x4xf32>) -> tensor<10x4xf32>
  %dh = stablehlo.dot_general %dx1, %W2, contracting_dims = [1] x [1] {dist.layouts = [#c0], dist.block = 1 : i64, dist.phase = #B} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %gW2 = stablehlo.dot_general %h, %dx1, contracting_dims = [0] x [0] {dist.layouts = [#gw2], dist.block = 1 : i64, dist.phase = #W} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %gW1 = stablehlo.dot_general %x0, %dh, contracting_dims = [0] x [0] {dist.layouts = [#gw], dist.block = 1 : i64, dist.phase = #W} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // One all-reduce after the sum of two partial dots.
  %sa = stablehlo.dot_general %dh, %W1, contracting_dims = [1] x [1] {dist.layouts = [#r0t], dist.block = 1 : i64, dist.phase = #B} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %sb = stablehlo.dot_general %h, %W1, contracting_dims = [1] x [1] {dist.layouts = [#r0t], dist.block = 1 : i64, dist.phase = #B} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // EXPANDED: stablehlo.dot_general
  // EXPANDED: %[[SS:.*]] = stablehlo.add
  // EXPANDED-NEXT: dist.all_reduce %[[SS]] over ["tensor"] sum
  %ss = stablehlo.add %sa, %sb {dist.layouts = [#r0t], dist.block = 1 : i64, dist.phase = #B} : tensor<8x4xf32>
  %dx0 = stablehlo.add %dx1, %ss {dist.layouts = [#r0], dist.block = 0 : i64, dist.phase = #B} : tensor<8x4xf32>
  // One device of "data" alone contributes the scatter's operand.
  // CHECK: dist.keep %{{.*}} where "data" = 0
  %zeros = stablehlo.constant {dist.layouts = [#z0], dist.block = 0 : i64, dist.phase = #W} dense<0.0> : tensor<10x4xf32>
  // CHECK: %[[GEE:.*]] = "stablehlo.scatter"
  %gEe = "stablehlo.scatter"(%zeros, %tok, %dx0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) {dist.layouts = [#gE0], dist.block = 0 : i64, dist.phase = #W} : (tensor<10x4xf32>, tensor<8xi32>, tensor<8x4xf32>) -> tensor<10x4xf32>
  // CHECK: dist.join %[[GEH]], %[[GEE]] over "pipe"
  %gE = stablehlo.add %gEh, %gEe {dist.layouts = [#gE], dist.block = 0 : i64, dist.phase = #W} : tensor<10x4xf32>
  return %ls, %count, %gE, %gW1, %gW2 : tensor<f32>, tensor<f32>, tensor<10x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// EXPANDED-LABEL: func.func @update
func.func @update(%E: tensor<10x4xf32> {dist.port = #dist.port<parameter @E, layout = #E>},
    %W1: tensor<4x4xf32> {dist.port = #dist.port<parameter @W1, layout = #w>},
    %m: tensor<4x4xf32> {dist.port = #dist.port<optimizer @W1.m, layout = #zw>},
    %W2: tensor<4x4xf32> {dist.port = #dist.port<parameter @W2, layout = #w2>},
    %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #ls>}, %count: tensor<f32> {dist.port = #dist.port<count, layout = #s1>},
    %gE: tensor<10x4xf32> {dist.port = #dist.port<gradient @E, layout = #gE>}, %gW1: tensor<4x4xf32> {dist.port = #dist.port<gradient @W1, layout = #gw>},
    %gW2: tensor<4x4xf32> {dist.port = #dist.port<gradient @W2, layout = #gw2>})
    -> (tensor<10x4xf32> {dist.port = #dist.port<parameter @E, layout = #E>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @W1, layout = #w>},
        tensor<4x4xf32> {dist.port = #dist.port<optimizer @W1.m, layout = #zw>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @W2, layout = #w2>},
        tensor<f32> {dist.port = #dist.port<metric "loss", layout = #s>}) {
  // ZeRO-1: gradients of W1 are scattered, the parameter is sliced, the new
  // value gathered; those of E and W2 are reduced once.
  // EXPANDED-DAG: dist.broadcast @c{{.}} %{{.*}} from [1] over ["pipe"] {dist.phase = #dist.phase<update>} : tensor<f32
  // EXPANDED-DAG: dist.all_reduce @c{{.}} %{{.*}} over ["pipe", "data"] sum {dist.phase = #dist.phase<update>} : tensor<10x4xf32
  // EXPANDED-DAG: dist.reduce_scatter %{{.*}} dim 0 over ["data"] sum {dist.phase = #dist.phase<update>} : tensor<4x4xf32
  // EXPANDED-DAG: dist.all_reduce %{{.*}} over ["data"] sum {dist.phase = #dist.phase<update>} : tensor<4x4xf32
  // EXPANDED-DAG: %[[LOSS:.*]] = dist.all_reduce @c{{.}} %{{.*}} over ["pipe", "data", "tensor"] sum {dist.phase = #dist.phase<update>} : tensor<f32
  %qE = stablehlo.multiply %gE, %gE {dist.layouts = [#E], dist.phase = #U} : tensor<10x4xf32>
  %q1 = stablehlo.multiply %gW1, %gW1 {dist.layouts = [#zw], dist.phase = #U} : tensor<4x4xf32>
  %q2 = stablehlo.multiply %gW2, %gW2 {dist.layouts = [#w2], dist.phase = #U} : tensor<4x4xf32>
  %zero = stablehlo.constant {dist.layouts = [#s], dist.phase = #U} dense<0.0> : tensor<f32>
  %nE = stablehlo.reduce(%qE init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#nt], dist.phase = #U} : (tensor<10x4xf32>, tensor<f32>) -> tensor<f32>
  %n1 = stablehlo.reduce(%q1 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#n0dt], dist.phase = #U} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %n2 = stablehlo.reduce(%q2 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#n0t], dist.phase = #U} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  // The norm of W2 is kept where "data" is 0, that of E where "pipe" is, too.
  %n12 = stablehlo.add %n1, %n2 {dist.layouts = [#n0dt], dist.phase = #U} : tensor<f32>
  %n = stablehlo.add %nE, %n12 {dist.layouts = [#n], dist.phase = #U} : tensor<f32>
  %k = stablehlo.rsqrt %n {dist.layouts = [#s], dist.phase = #U} : tensor<f32>
  %kE = stablehlo.broadcast_in_dim %k, dims = [] {dist.layouts = [#E], dist.phase = #U} : (tensor<f32>) -> tensor<10x4xf32>
  %k1 = stablehlo.broadcast_in_dim %k, dims = [] {dist.layouts = [#zw], dist.phase = #U} : (tensor<f32>) -> tensor<4x4xf32>
  %k2 = stablehlo.broadcast_in_dim %k, dims = [] {dist.layouts = [#w2], dist.phase = #U} : (tensor<f32>) -> tensor<4x4xf32>
  %cE = stablehlo.multiply %gE, %kE {dist.layouts = [#E], dist.phase = #U} : tensor<10x4xf32>
  %c1 = stablehlo.multiply %gW1, %k1 {dist.layouts = [#zw], dist.phase = #U} : tensor<4x4xf32>
  %c2 = stablehlo.multiply %gW2, %k2 {dist.layouts = [#w2], dist.phase = #U} : tensor<4x4xf32>
  %newE = stablehlo.subtract %E, %cE {dist.layouts = [#E], dist.phase = #U} : tensor<10x4xf32>
  %newM = stablehlo.add %m, %c1 {dist.layouts = [#zw], dist.phase = #U} : tensor<4x4xf32>
  %newW1 = stablehlo.subtract %W1, %newM {dist.layouts = [#zw], dist.phase = #U} : tensor<4x4xf32>
  // EXPANDED: %[[NEW:.*]] = stablehlo.subtract %{{.*}} : tensor<4x4xf32
  // EXPANDED-NEXT: %[[W1:.*]] = dist.all_gather %[[NEW]] dim 0 over ["data"] {dist.phase = #dist.phase<update>}
  %newW2 = stablehlo.subtract %W2, %c2 {dist.layouts = [#w2], dist.phase = #U} : tensor<4x4xf32>
  %loss = stablehlo.divide %ls, %count {dist.layouts = [#s], dist.phase = #U} : tensor<f32>
  // EXPANDED: return %{{.*}}, %[[W1]],
  return %newE, %newW1, %newM, %newW2, %loss : tensor<10x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(2) schedule(<1f1b>) chunks([0, 0, 1])
