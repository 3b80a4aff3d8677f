// Four stages, one chunk each; forward values skip stages and wait for the
// backward.
// RUN: llmc-opt %s --llmc-cut-segments --llmc-verify-local --llmc-schedule --llmc-verify-scheduled --llmc-outline-programs --llmc-verify-memory | FileCheck %s

// A value goes from chunk 0 to chunk 2 past chunk 1 (@skip). What chunk 2 needs
// of chunk 0 in its backward alone is received by the forward (@late), and what
// chunk 0 needs of chunk 3's forward is sent by the backward (@down): all
// transfers upward go from forward to forward, all downward from backward to
// backward.
// CHECK: dist.timeline @train microbatches(4)
// CHECK-SAME: transfers([#dist.route<@t01 : @train.c0.F -> @train.c1.F>, #dist.route<@skip : @train.c0.F -> @train.c2.F>, #dist.route<@late : @train.c0.F -> @train.c2.F>, #dist.route<@t12 : @train.c1.F -> @train.c2.F>, #dist.route<@t23 : @train.c2.F -> @train.c3.F>, #dist.route<@down : @train.c3.B -> @train.c0.B>, #dist.route<@t32 : @train.c3.B -> @train.c2.B>, #dist.route<@t21 : @train.c2.B -> @train.c1.B>, #dist.route<@t10 : @train.c1.B -> @train.c0.B>])
// CHECK-SAME: table(<["F0.0 F0.1 F0.2 F0.3 . . . B0.0 . B0.1 . B0.2 . B0.3 U", ". F1.0 F1.1 F1.2 . . B1.0 F1.3 B1.1 . B1.2 . B1.3 . U", ". . F2.0 F2.1 . B2.0 F2.2 B2.1 F2.3 B2.2 . B2.3 . . U", ". . . F3.0 B3.0 F3.1 B3.1 F3.2 B3.2 F3.3 B3.3 . . . U"]>)

// CHECK-LABEL: func.func private @train.c0.F
// CHECK-SAME: {dist.port = #dist.port<send @t01>}, tensor<4xf32> {dist.port = #dist.port<send @skip>}, tensor<4xf32> {dist.port = #dist.port<send @late>})
// CHECK-LABEL: func.func private @train.c2.F
// CHECK-SAME: %[[L:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<recv @late>}
// CHECK-SAME: tensor<4xf32> {dist.port = #dist.port<act "[[$LATE:c2.a[0-9]+]]", chunk = 2>}, tensor<4xf32> {dist.port = #dist.port<send @t23>})
// CHECK: return {{.*}}%[[L]], %{{.*}} :
// CHECK-LABEL: func.func private @train.c3.F
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<act "[[$DOWN:c3.a[0-9]+]]", chunk = 3>}
// CHECK-LABEL: func.func private @train.c3.B
// CHECK-SAME: %[[D:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<act "[[$DOWN]]", chunk = 3>}
// CHECK-SAME: tensor<4xf32> {dist.port = #dist.port<send @down>}
// CHECK: return {{.*}}%[[D]]
// CHECK-LABEL: func.func private @train.c2.B
// CHECK-SAME: {dist.port = #dist.port<act "[[$LATE]]", chunk = 2>}
// CHECK-LABEL: func.func private @train.c0.B
// CHECK-SAME: {dist.port = #dist.port<recv @down>}

// The parameter of stages 0 and 3 is reduced over all four: 1 and 2 take part
// with zeros, and have no copy.
// The loss crosses as a sum that is zero at the other stages: these have none.
// CHECK-LABEL: func.func private @train.u0
// CHECK-NOT: loss_sum
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<f32>
// CHECK: dist.all_reduce @c0 %{{.*}} over ["pipe"]
// CHECK: dist.all_reduce @c1 %[[Z]] over ["pipe"]
// CHECK-LABEL: func.func private @train.u1
// CHECK-NOT: w.local
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<4xf32>
// CHECK: dist.all_reduce @c0 %[[Z]] over ["pipe"]
// CHECK-LABEL: func.func private @train.u2
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<4xf32>
// CHECK: dist.all_reduce @c0 %[[Z]] over ["pipe"]
// CHECK-LABEL: func.func private @train.u3
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<gradient @w>}
// CHECK-SAME: %[[LS:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<loss_sum>}
// CHECK-SAME: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}
// CHECK: dist.all_reduce @c0 %[[G]] over ["pipe"]
// CHECK: dist.all_reduce @c1 %[[LS]] over ["pipe"]

#F = #dist.phase<forward>
#B = #dist.phase<backward_input>
#W = #dist.phase<backward_weight>
#U = #dist.phase<update>
dist.mesh @mesh = <"pipe"=4> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}], at = {"pipe" = [0, 3]}>, [0]>]
func.func private @train.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %a = stablehlo.multiply %x, %w {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %a1 = dist.transfer @t01 %a along "pipe" 0 -> 1 {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %s = stablehlo.negate %a {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %s2 = dist.transfer @skip %s along "pipe" 0 -> 2 {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %l = stablehlo.abs %a {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %l2 = dist.transfer @late %l along "pipe" 0 -> 2 {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %b = stablehlo.tanh %a1 {dist.block = 1 : i64, dist.phase = #F} : tensor<4xf32>
  %b2 = dist.transfer @t12 %b along "pipe" 1 -> 2 {dist.block = 1 : i64, dist.phase = #F} : tensor<4xf32>
  %c = stablehlo.add %b2, %s2 {dist.block = 2 : i64, dist.phase = #F} : tensor<4xf32>
  %c3 = dist.transfer @t23 %c along "pipe" 2 -> 3 {dist.block = 2 : i64, dist.phase = #F} : tensor<4xf32>
  %d = stablehlo.multiply %c3, %w {dist.block = 3 : i64, dist.phase = #F} : tensor<4xf32>
  %d0 = dist.transfer @down %d along "pipe" 3 -> 0 {dist.block = 3 : i64, dist.phase = #F} : tensor<4xf32>
  %zero = stablehlo.constant {dist.block = 3 : i64, dist.phase = #F} dense<0.0> : tensor<f32>
  %ls = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 3 : i64, dist.phase = #F} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.constant {dist.block = 3 : i64, dist.phase = #F} dense<4.0> : tensor<f32>
  %gd = stablehlo.negate %w {dist.block = 3 : i64, dist.phase = #B} : tensor<4xf32>
  %gd2 = dist.transfer @t32 %gd along "pipe" 3 -> 2 {dist.block = 3 : i64, dist.phase = #B} : tensor<4xf32>
  %gw3 = stablehlo.multiply %gd, %c3 {dist.block = 3 : i64, dist.phase = #W} : tensor<4xf32>
  %gc = stablehlo.multiply %gd2, %l2 {dist.block = 2 : i64, dist.phase = #B} : tensor<4xf32>
  %gc1 = dist.transfer @t21 %gc along "pipe" 2 -> 1 {dist.block = 2 : i64, dist.phase = #B} : tensor<4xf32>
  %gb = stablehlo.negate %gc1 {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
  %gb0 = dist.transfer @t10 %gb along "pipe" 1 -> 0 {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
  %gw0 = stablehlo.multiply %gb0, %d0 {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %gw = dist.join %gw3, %gw0 over "pipe" {dist.block = 0 : i64, dist.phase = #W} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %lsj = dist.join %ls over "pipe" {dist.at = array<i64: 0, 1, 2, 3>, dist.block = 3 : i64, dist.phase = #F} : (tensor<f32>) -> tensor<f32>
  return %lsj, %count, %gw : tensor<f32>, tensor<f32>, tensor<4xf32>
}
func.func private @train.update(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %ga = dist.all_reduce @c0 %g over ["pipe"] sum {dist.at = array<i64: 0, 3>, dist.phase = #U} : tensor<4xf32>
  %new = stablehlo.subtract %w, %ga {dist.at = array<i64: 0, 3>, dist.phase = #U} : tensor<4xf32>
  %lsa = dist.all_reduce @c1 %ls over ["pipe"] sum {dist.phase = #U} : tensor<f32>
  %loss = stablehlo.divide %lsa, %count {dist.at = array<i64: 3>, dist.phase = #U} : tensor<f32>
  return %new, %loss : tensor<4xf32>, tensor<f32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(4) schedule(<1f1b>) chunks([0, 1, 2, 3])
