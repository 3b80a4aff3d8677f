// The model of docs/walkthrough.md after localize, on two stages, two data and
// two tensor ranks: an embedding E tied with the head, a block with W1 (three
// parts in one buffer, ZeRO-1) and W2. The update is momentum on W1 alone.
#F = #dist.phase<forward>
#B = #dist.phase<backward_input>
#W = #dist.phase<backward_weight>
#U = #dist.phase<update>
#b = #dist.layout<@mesh, [{"data"}], at = {"pipe" = [0]}>
#b1 = #dist.layout<@mesh, [{"data"}], at = {"pipe" = [1]}>
#E = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>
#w = #dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>
#z = #dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>
#w2 = #dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=2> pipeline "pipe"
dist.state @E : tensor<10x4xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.buffer @E.local of @E : tensor<5x4xf32> holds [#dist.box<@E, #E, [0, 0]>]
dist.state @W1 : tensor<4x12xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @W1.0 part of @W1 box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @W1.1 part of @W1 box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @W1.2 part of @W1 box([0, 8] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @W1.local of @W1 : tensor<4x6xf32> holds [#dist.box<@W1.0, #w, [0, 0]>, #dist.box<@W1.1, #w, [0, 2]>, #dist.box<@W1.2, #w, [0, 4]>]
dist.state @W1.m : tensor<4x12xf32> {role = optimizer, of = @W1, source = #dist.draw<zeros>}
dist.buffer @W1.m.local of @W1.m : tensor<2x6xf32> holds [#dist.box<@W1.m, #z, [0, 0]>]
dist.state @W2 : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.buffer @W2.local of @W2 : tensor<2x4xf32> holds [#dist.box<@W2, #w2, [0, 0]>]
dist.hyper @lr : tensor<f32> = <constant, base = 0.05>

func.func private @train.microbatch(
    %tok: tensor<4xi32> {dist.port = #dist.port<input "tokens", layout = #b>},
    %tgt: tensor<4xi32> {dist.port = #dist.port<input "targets", layout = #b1>},
    %E: tensor<5x4xf32> {dist.port = #dist.port<parameter @E>},
    %W1: tensor<4x6xf32> {dist.port = #dist.port<parameter @W1>},
    %W2: tensor<2x4xf32> {dist.port = #dist.port<parameter @W2>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
        tensor<5x4xf32> {dist.port = #dist.port<gradient @E>},
        tensor<4x6xf32> {dist.port = #dist.port<gradient @W1>},
        tensor<2x4xf32> {dist.port = #dist.port<gradient @W2>}) {
  // Embedding, block 0.
  %t = dist.coordinate ["tensor"] {dist.block = 0 : i64, dist.phase = #F} : tensor<i32>
  %five = stablehlo.constant {dist.block = 0 : i64, dist.phase = #F} dense<5> : tensor<i32>
  %off = stablehlo.multiply %t, %five {dist.block = 0 : i64, dist.phase = #F} : tensor<i32>
  %offs = stablehlo.broadcast_in_dim %off, dims = [] {dist.block = 0 : i64, dist.phase = #F} : (tensor<i32>) -> tensor<4xi32>
  %rel = stablehlo.subtract %tok, %offs {dist.block = 0 : i64, dist.phase = #F} : tensor<4xi32>
  %rows = stablehlo.reshape %rel {dist.block = 0 : i64, dist.phase = #F} : (tensor<4xi32>) -> tensor<4x1xi32>
  %x0p = "stablehlo.gather"(%E, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {dist.block = 0 : i64, dist.phase = #F} : (tensor<5x4xf32>, tensor<4x1xi32>) -> tensor<4x4xf32>
  // Block 1.
  %x0 = dist.all_reduce %x0p over ["tensor"] sum {dist.block = 1 : i64, dist.phase = #F} : tensor<4x4xf32>
  %abc = stablehlo.dot_general %x0, %W1, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #F} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = stablehlo.slice %abc [0:4, 0:2] {dist.block = 1 : i64, dist.phase = #F} : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %th = stablehlo.tanh %h {dist.block = 1 : i64, dist.phase = #F} : tensor<4x2xf32>
  %u = stablehlo.dot_general %th, %W2, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #F} : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %x1p = stablehlo.add %x0p, %u {dist.block = 1 : i64, dist.phase = #F} : tensor<4x4xf32>
  %x1s = dist.reduce_scatter %x1p dim 0 over ["tensor"] sum {dist.block = 1 : i64, dist.phase = #F} : tensor<4x4xf32> -> tensor<2x4xf32>
  %x1r = dist.transfer @t0 %x1s along "pipe" 0 -> 1 {dist.block = 1 : i64, dist.phase = #F} : tensor<2x4xf32>
  // Head, block 2.
  %x1 = dist.all_gather %x1r dim 0 over ["tensor"] {dist.block = 2 : i64, dist.phase = #F} : tensor<2x4xf32> -> tensor<4x4xf32>
  %lg = stablehlo.dot_general %x1, %E, contracting_dims = [1] x [1] {dist.block = 2 : i64, dist.phase = #F} : (tensor<4x4xf32>, tensor<5x4xf32>) -> tensor<4x5xf32>
  %zero = stablehlo.constant {dist.block = 2 : i64, dist.phase = #F} dense<0.0> : tensor<f32>
  %ls = stablehlo.reduce(%lg init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 2 : i64, dist.phase = #F} : (tensor<4x5xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.constant {dist.block = 2 : i64, dist.phase = #F} dense<4.0> : tensor<f32>
  %tc = stablehlo.convert %tgt {dist.block = 2 : i64, dist.phase = #B} : (tensor<4xi32>) -> tensor<4xf32>
  %tb = stablehlo.broadcast_in_dim %tc, dims = [0] {dist.block = 2 : i64, dist.phase = #B} : (tensor<4xf32>) -> tensor<4x5xf32>
  %dlg = stablehlo.subtract %lg, %tb {dist.block = 2 : i64, dist.phase = #B} : tensor<4x5xf32>
  %dx1p = stablehlo.dot_general %dlg, %E, contracting_dims = [1] x [0] {dist.block = 2 : i64, dist.phase = #B} : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  %dx1s = dist.reduce_scatter %dx1p dim 0 over ["tensor"] sum {dist.block = 2 : i64, dist.phase = #B} : tensor<4x4xf32> -> tensor<2x4xf32>
  %dx1r = dist.transfer @t1 %dx1s along "pipe" 1 -> 0 {dist.block = 2 : i64, dist.phase = #B} : tensor<2x4xf32>
  %gEh = stablehlo.dot_general %dlg, %x1, contracting_dims = [0] x [0] {dist.block = 2 : i64, dist.phase = #W} : (tensor<4x5xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
  // Backward of block 1.
  %dx1 = dist.all_gather %dx1r dim 0 over ["tensor"] {dist.block = 1 : i64, dist.phase = #B} : tensor<2x4xf32> -> tensor<4x4xf32>
  %dh = stablehlo.dot_general %dx1, %W2, contracting_dims = [1] x [1] {dist.block = 1 : i64, dist.phase = #B} : (tensor<4x4xf32>, tensor<2x4xf32>) -> tensor<4x2xf32>
  %gW2 = stablehlo.dot_general %th, %dx1, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #W} : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %hh = stablehlo.multiply %th, %dh {dist.block = 1 : i64, dist.phase = #B} : tensor<4x2xf32>
  %dabc = stablehlo.concatenate %hh, %hh, %dh, dim = 1 {dist.block = 1 : i64, dist.phase = #B} : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x6xf32>
  %gW1 = stablehlo.dot_general %x0, %dabc, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #W} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %sp = stablehlo.dot_general %dabc, %W1, contracting_dims = [1] x [1] {dist.block = 1 : i64, dist.phase = #B} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %s = dist.all_reduce %sp over ["tensor"] sum {dist.block = 1 : i64, dist.phase = #B} : tensor<4x4xf32>
  %dx0 = stablehlo.add %dx1, %s {dist.block = 1 : i64, dist.phase = #B} : tensor<4x4xf32>
  // Of the embedding: weight alone.
  %t2 = dist.coordinate ["tensor"] {dist.block = 0 : i64, dist.phase = #W} : tensor<i32>
  %off2 = stablehlo.multiply %t2, %five {dist.block = 0 : i64, dist.phase = #W} : tensor<i32>
  %offs2 = stablehlo.broadcast_in_dim %off2, dims = [] {dist.block = 0 : i64, dist.phase = #W} : (tensor<i32>) -> tensor<4xi32>
  %rel2 = stablehlo.subtract %tok, %offs2 {dist.block = 0 : i64, dist.phase = #W} : tensor<4xi32>
  %rows2 = stablehlo.reshape %rel2 {dist.block = 0 : i64, dist.phase = #W} : (tensor<4xi32>) -> tensor<4x1xi32>
  %zeros = stablehlo.constant {dist.block = 0 : i64, dist.phase = #W} dense<0.0> : tensor<5x4xf32>
  %gEe = "stablehlo.scatter"(%zeros, %rows2, %dx0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %sum = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {dist.block = 0 : i64, dist.phase = #W} : (tensor<5x4xf32>, tensor<4x1xi32>, tensor<4x4xf32>) -> tensor<5x4xf32>
  %gE = dist.join %gEh, %gEe over "pipe" {dist.block = 0 : i64, dist.phase = #W} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return %ls, %count, %gE, %gW1, %gW2 : tensor<f32>, tensor<f32>, tensor<5x4xf32>, tensor<4x6xf32>, tensor<2x4xf32>
}

func.func private @train.update(
    %E: tensor<5x4xf32> {dist.port = #dist.port<parameter @E>},
    %W1: tensor<4x6xf32> {dist.port = #dist.port<parameter @W1>},
    %W1m: tensor<2x6xf32> {dist.port = #dist.port<optimizer @W1.m>},
    %W2: tensor<2x4xf32> {dist.port = #dist.port<parameter @W2>},
    %gE: tensor<5x4xf32> {dist.port = #dist.port<gradient @E>},
    %gW1: tensor<4x6xf32> {dist.port = #dist.port<gradient @W1>},
    %gW2: tensor<2x4xf32> {dist.port = #dist.port<gradient @W2>},
    %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>},
    %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<5x4xf32> {dist.port = #dist.port<parameter @E>},
        tensor<4x6xf32> {dist.port = #dist.port<parameter @W1>},
        tensor<2x6xf32> {dist.port = #dist.port<optimizer @W1.m>},
        tensor<2x4xf32> {dist.port = #dist.port<parameter @W2>},
        tensor<f32> {dist.port = #dist.port<metric "loss">},
        tensor<f32> {dist.port = #dist.port<metric "lr">}) {
  %zero = stablehlo.constant {dist.phase = #U} dense<0.0> : tensor<f32>
  // Loss and count live at stage 1.
  %lsl = dist.join %ls over "pipe" {dist.phase = #U} : (tensor<f32>) -> tensor<f32>
  %lsa = dist.all_reduce @c0 %lsl over ["pipe", "data"] sum {dist.phase = #U} : tensor<f32>
  %cl = dist.join %count over "pipe" {dist.phase = #U} : (tensor<f32>) -> tensor<f32>
  %ca = dist.all_reduce @c1 %cl over ["pipe", "data"] sum {dist.phase = #U} : tensor<f32>
  %loss = stablehlo.divide %lsa, %ca {dist.phase = #U} : tensor<f32>
  // Gradients.
  %gEa = dist.all_reduce @c2 %gE over ["pipe", "data"] sum {dist.at = array<i64: 0, 1>, dist.phase = #U} : tensor<5x4xf32>
  %gW1s = dist.reduce_scatter %gW1 dim 0 over ["data"] sum {dist.at = array<i64: 0>, dist.phase = #U} : tensor<4x6xf32> -> tensor<2x6xf32>
  %gW2a = dist.all_reduce %gW2 over ["data"] sum {dist.at = array<i64: 0>, dist.phase = #U} : tensor<2x4xf32>
  // The global norm: E counts at stage 0, W1 and W2 live there.
  %eE = stablehlo.multiply %gEa, %gEa {dist.at = array<i64: 0, 1>, dist.phase = #U} : tensor<5x4xf32>
  %nE = stablehlo.reduce(%eE init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.at = array<i64: 0, 1>, dist.phase = #U} : (tensor<5x4xf32>, tensor<f32>) -> tensor<f32>
  %e1 = stablehlo.multiply %gW1s, %gW1s {dist.at = array<i64: 0>, dist.phase = #U} : tensor<2x6xf32>
  %n1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.at = array<i64: 0>, dist.phase = #U} : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
  %n1l = dist.join %n1 over "pipe" {dist.phase = #U} : (tensor<f32>) -> tensor<f32>
  %n = stablehlo.add %nE, %n1l {dist.at = array<i64: 0, 1>, dist.phase = #U} : tensor<f32>
  %n2 = dist.all_reduce @c3 %n over ["pipe", "data", "tensor"] sum {dist.phase = #U} : tensor<f32>
  %k = stablehlo.rsqrt %n2 {dist.phase = #U} : tensor<f32>
  %rate = stablehlo.multiply %k, %lr {dist.phase = #U} : tensor<f32>
  // New states.
  %rE = stablehlo.broadcast_in_dim %rate, dims = [] {dist.at = array<i64: 0, 1>, dist.phase = #U} : (tensor<f32>) -> tensor<5x4xf32>
  %sE = stablehlo.multiply %gEa, %rE {dist.at = array<i64: 0, 1>, dist.phase = #U} : tensor<5x4xf32>
  %E1 = stablehlo.subtract %E, %sE {dist.at = array<i64: 0, 1>, dist.phase = #U} : tensor<5x4xf32>
  %W1m1 = stablehlo.add %W1m, %gW1s {dist.at = array<i64: 0>, dist.phase = #U} : tensor<2x6xf32>
  %r1 = stablehlo.broadcast_in_dim %rate, dims = [] {dist.at = array<i64: 0>, dist.phase = #U} : (tensor<f32>) -> tensor<2x6xf32>
  %d1 = stablehlo.multiply %W1m1, %r1 {dist.at = array<i64: 0>, dist.phase = #U} : tensor<2x6xf32>
  %g1 = dist.all_gather %d1 dim 0 over ["data"] {dist.at = array<i64: 0>, dist.phase = #U} : tensor<2x6xf32> -> tensor<4x6xf32>
  %W11 = stablehlo.subtract %W1, %g1 {dist.at = array<i64: 0>, dist.phase = #U} : tensor<4x6xf32>
  %r2 = stablehlo.broadcast_in_dim %rate, dims = [] {dist.at = array<i64: 0>, dist.phase = #U} : (tensor<f32>) -> tensor<2x4xf32>
  %d2 = stablehlo.multiply %gW2a, %r2 {dist.at = array<i64: 0>, dist.phase = #U} : tensor<2x4xf32>
  %W21 = stablehlo.subtract %W2, %d2 {dist.at = array<i64: 0>, dist.phase = #U} : tensor<2x4xf32>
  return %E1, %W11, %W1m1, %W21, %loss, %lr : tensor<5x4xf32>, tensor<4x6xf32>, tensor<2x6xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) recompute(<all>) chunks([0, 0, 1])
