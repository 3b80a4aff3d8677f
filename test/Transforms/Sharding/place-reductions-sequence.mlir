// RUN: llmc-opt %s --llmc-place-reductions --llmc-materialize --llmc-expand-reshards --llmc-verify-materialized | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/microbatches(1)/microbatches(4)/' %s > %t.mlir
// RUN: llmc-opt %t.mlir --llmc-place-reductions --llmc-materialize --llmc-expand-reshards --llmc-verify-materialized | FileCheck %s --check-prefixes=BOTH,FOUR

// The block of place-reductions-block.mlir with the residual's tokens split over
// tensor as well: reductions stand at the same places and scatter, what weights
// contract is gathered, no weight and no head moves. Gradients of scales and
// shifts sum over split tokens: with four microbatches they are reduced over both
// axes at once, in the update.
// BOTH-LABEL: func.func @microbatch
// BOTH-NOT: all_to_all
// BOTH: dist.all_gather {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// BOTH: dist.reduce_scatter {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// BOTH: dist.all_gather {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// BOTH: dist.reduce_scatter {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// BOTH: dist.all_gather {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// BOTH: dist.reduce_scatter {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// BOTH: dist.all_gather {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// BOTH: dist.reduce_scatter {{.*}} over ["tensor"] {{.*}}tensor<8x256x384xf32
// FOUR-NOT: dist.all_{{.*}} over
// BOTH-LABEL: func.func @update
// FOUR-COUNT-14: dist.all_reduce {{.*}} over ["data"
// BOTH-NOT: dist.all_reduce
// BOTH-LABEL: dist.step
#x = #dist.layout<@mesh, [{"data"}, {}, {}]>
#r = #dist.layout<@mesh, [{"data"}, {}]>
#h = #dist.layout<@mesh, [{"data"}, {}, {"tensor"}]>
#col = #dist.layout<@mesh, [{}, {"tensor"}]>
#row = #dist.layout<@mesh, [{"tensor"}, {}]>
#v = #dist.layout<@mesh, [{}]>
#vt = #dist.layout<@mesh, [{"tensor"}]>
#s = #dist.layout<@mesh, []>
#full = #dist.layout<@mesh, [{}, {}]>
#q = #dist.layout<@mesh, [{"data"}, {"tensor"}, {}]>
#rq = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
dist.mesh @mesh = <"data"=2, "tensor"=2>
dist.state @Wq : tensor<384x384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @Wk : tensor<384x384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @Wv : tensor<384x384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @Wp : tensor<384x384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @W1 : tensor<384x1536xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @W2 : tensor<1536x384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @bp : tensor<384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @b1 : tensor<1536xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @b2 : tensor<384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @g1 : tensor<384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @e1 : tensor<384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @g2 : tensor<384xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @e2 : tensor<384xf32> {role = parameter, source = #dist.draw<ones>}
func.func @microbatch(%x0: tensor<8x256x384xf32> {dist.port = #dist.port<input "x", layout = #q>},
    %Wq: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wq, layout = #col>},
    %Wk: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wk, layout = #col>},
    %Wv: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wv, layout = #col>},
    %Wp: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wp, layout = #row>},
    %W1: tensor<384x1536xf32> {dist.port = #dist.port<parameter @W1, layout = #col>},
    %W2: tensor<1536x384xf32> {dist.port = #dist.port<parameter @W2, layout = #row>},
    %bp: tensor<384xf32> {dist.port = #dist.port<parameter @bp, layout = #v>},
    %b1: tensor<1536xf32> {dist.port = #dist.port<parameter @b1, layout = #vt>},
    %b2: tensor<384xf32> {dist.port = #dist.port<parameter @b2, layout = #v>},
    %g1: tensor<384xf32> {dist.port = #dist.port<parameter @g1, layout = #v>},
    %e1: tensor<384xf32> {dist.port = #dist.port<parameter @e1, layout = #v>},
    %g2: tensor<384xf32> {dist.port = #dist.port<parameter @g2, layout = #v>},
    %e2: tensor<384xf32> {dist.port = #dist.port<parameter @e2, layout = #v>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #s>},
        tensor<f32> {dist.port = #dist.port<count, layout = #s>},
        tensor<384x384xf32> {dist.port = #dist.port<gradient @Wq, layout = #col>},
        tensor<384x384xf32> {dist.port = #dist.port<gradient @Wk, layout = #col>},
        tensor<384x384xf32> {dist.port = #dist.port<gradient @Wv, layout = #col>},
        tensor<384x384xf32> {dist.port = #dist.port<gradient @Wp, layout = #row>},
        tensor<384x1536xf32> {dist.port = #dist.port<gradient @W1, layout = #col>},
        tensor<1536x384xf32> {dist.port = #dist.port<gradient @W2, layout = #row>},
        tensor<384xf32> {dist.port = #dist.port<gradient @bp, layout = #v>},
        tensor<1536xf32> {dist.port = #dist.port<gradient @b1, layout = #vt>},
        tensor<384xf32> {dist.port = #dist.port<gradient @b2, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<gradient @g1, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<gradient @e1, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<gradient @g2, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<gradient @e2, layout = #v>}) {
  %zero = stablehlo.constant {dist.layouts = [#s]} dense<0.0> : tensor<f32>
  %count = stablehlo.constant {dist.layouts = [#s]} dense<2048.0> : tensor<f32>
  %mean1 = stablehlo.reduce(%x0 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %meanb1 = stablehlo.broadcast_in_dim %mean1, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %xc1 = stablehlo.subtract %x0, %meanb1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %sq1 = stablehlo.multiply %xc1, %xc1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %var1 = stablehlo.reduce(%sq1 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %rstd1 = stablehlo.rsqrt %var1 {dist.layouts = [#rq]} : tensor<8x256xf32>
  %rb1 = stablehlo.broadcast_in_dim %rstd1, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %xh1 = stablehlo.multiply %xc1, %rb1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %gb1 = stablehlo.broadcast_in_dim %g1, dims = [2] {dist.layouts = [#q]} : (tensor<384xf32>) -> tensor<8x256x384xf32>
  %xg1 = stablehlo.multiply %xh1, %gb1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %eb1 = stablehlo.broadcast_in_dim %e1, dims = [2] {dist.layouts = [#q]} : (tensor<384xf32>) -> tensor<8x256x384xf32>
  %n1 = stablehlo.add %xg1, %eb1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %q = stablehlo.dot_general %n1, %Wq, contracting_dims = [2] x [0] {dist.layouts = [#h]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %k = stablehlo.dot_general %n1, %Wk, contracting_dims = [2] x [0] {dist.layouts = [#h]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %v = stablehlo.dot_general %n1, %Wv, contracting_dims = [2] x [0] {dist.layouts = [#h]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %qk = stablehlo.multiply %q, %k {dist.layouts = [#h]} : tensor<8x256x384xf32>
  %o = stablehlo.multiply %qk, %v {dist.layouts = [#h]} : tensor<8x256x384xf32>
  %a = stablehlo.dot_general %o, %Wp, contracting_dims = [2] x [0] {dist.layouts = [#q]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %bpb = stablehlo.broadcast_in_dim %bp, dims = [2] {dist.layouts = [#q]} : (tensor<384xf32>) -> tensor<8x256x384xf32>
  %ab = stablehlo.add %a, %bpb {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %x1 = stablehlo.add %x0, %ab {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %mean2 = stablehlo.reduce(%x1 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %meanb2 = stablehlo.broadcast_in_dim %mean2, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %xc2 = stablehlo.subtract %x1, %meanb2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %sq2 = stablehlo.multiply %xc2, %xc2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %var2 = stablehlo.reduce(%sq2 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %rstd2 = stablehlo.rsqrt %var2 {dist.layouts = [#rq]} : tensor<8x256xf32>
  %rb2 = stablehlo.broadcast_in_dim %rstd2, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %xh2 = stablehlo.multiply %xc2, %rb2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %gb2 = stablehlo.broadcast_in_dim %g2, dims = [2] {dist.layouts = [#q]} : (tensor<384xf32>) -> tensor<8x256x384xf32>
  %xg2 = stablehlo.multiply %xh2, %gb2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %eb2 = stablehlo.broadcast_in_dim %e2, dims = [2] {dist.layouts = [#q]} : (tensor<384xf32>) -> tensor<8x256x384xf32>
  %n2 = stablehlo.add %xg2, %eb2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %f0 = stablehlo.dot_general %n2, %W1, contracting_dims = [2] x [0] {dist.layouts = [#h]} : (tensor<8x256x384xf32>, tensor<384x1536xf32>) -> tensor<8x256x1536xf32>
  %b1b = stablehlo.broadcast_in_dim %b1, dims = [2] {dist.layouts = [#h]} : (tensor<1536xf32>) -> tensor<8x256x1536xf32>
  %f = stablehlo.add %f0, %b1b {dist.layouts = [#h]} : tensor<8x256x1536xf32>
  %u = stablehlo.tanh %f {dist.layouts = [#h]} : tensor<8x256x1536xf32>
  %m = stablehlo.dot_general %u, %W2, contracting_dims = [2] x [0] {dist.layouts = [#q]} : (tensor<8x256x1536xf32>, tensor<1536x384xf32>) -> tensor<8x256x384xf32>
  %b2b = stablehlo.broadcast_in_dim %b2, dims = [2] {dist.layouts = [#q]} : (tensor<384xf32>) -> tensor<8x256x384xf32>
  %mb = stablehlo.add %m, %b2b {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %x2 = stablehlo.add %x1, %mb {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %loss = stablehlo.multiply %x2, %x2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %ls = stablehlo.reduce(%loss init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] {dist.layouts = [#s]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<f32>
  %G2 = stablehlo.add %x2, %x2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %db2 = stablehlo.reduce(%G2 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#v]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<384xf32>
  %du = stablehlo.dot_general %G2, %W2, contracting_dims = [2] x [1] {dist.layouts = [#h]} : (tensor<8x256x384xf32>, tensor<1536x384xf32>) -> tensor<8x256x1536xf32>
  %df = stablehlo.multiply %du, %f {dist.layouts = [#h]} : tensor<8x256x1536xf32>
  %dW2 = stablehlo.dot_general %u, %G2, contracting_dims = [0, 1] x [0, 1] {dist.layouts = [#row]} : (tensor<8x256x1536xf32>, tensor<8x256x384xf32>) -> tensor<1536x384xf32>
  %dW1 = stablehlo.dot_general %n2, %df, contracting_dims = [0, 1] x [0, 1] {dist.layouts = [#col]} : (tensor<8x256x384xf32>, tensor<8x256x1536xf32>) -> tensor<384x1536xf32>
  %db1 = stablehlo.reduce(%df init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#vt]} : (tensor<8x256x1536xf32>, tensor<f32>) -> tensor<1536xf32>
  %dn2 = stablehlo.dot_general %df, %W1, contracting_dims = [2] x [1] {dist.layouts = [#q]} : (tensor<8x256x1536xf32>, tensor<384x1536xf32>) -> tensor<8x256x384xf32>
  %de2 = stablehlo.reduce(%dn2 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#v]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<384xf32>
  %dnxh2 = stablehlo.multiply %dn2, %xh2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dg2 = stablehlo.reduce(%dnxh2 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#v]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<384xf32>
  %dxh2 = stablehlo.multiply %dn2, %gb2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dxx2 = stablehlo.multiply %dxh2, %xh2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %m12 = stablehlo.reduce(%dxh2 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %m22 = stablehlo.reduce(%dxx2 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %m1b2 = stablehlo.broadcast_in_dim %m12, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %m2b2 = stablehlo.broadcast_in_dim %m22, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %mx2 = stablehlo.multiply %m2b2, %xh2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %d12 = stablehlo.subtract %dxh2, %m1b2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %d22 = stablehlo.subtract %d12, %mx2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dx2 = stablehlo.multiply %d22, %rb2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %G1 = stablehlo.add %G2, %dx2 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dbp = stablehlo.reduce(%G1 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#v]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<384xf32>
  %do = stablehlo.dot_general %G1, %Wp, contracting_dims = [2] x [1] {dist.layouts = [#h]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %dWp = stablehlo.dot_general %o, %G1, contracting_dims = [0, 1] x [0, 1] {dist.layouts = [#row]} : (tensor<8x256x384xf32>, tensor<8x256x384xf32>) -> tensor<384x384xf32>
  %dq = stablehlo.multiply %do, %q {dist.layouts = [#h]} : tensor<8x256x384xf32>
  %dWq = stablehlo.dot_general %n1, %dq, contracting_dims = [0, 1] x [0, 1] {dist.layouts = [#col]} : (tensor<8x256x384xf32>, tensor<8x256x384xf32>) -> tensor<384x384xf32>
  %dnq = stablehlo.dot_general %dq, %Wq, contracting_dims = [2] x [1] {dist.layouts = [#q]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %dk = stablehlo.multiply %do, %k {dist.layouts = [#h]} : tensor<8x256x384xf32>
  %dWk = stablehlo.dot_general %n1, %dk, contracting_dims = [0, 1] x [0, 1] {dist.layouts = [#col]} : (tensor<8x256x384xf32>, tensor<8x256x384xf32>) -> tensor<384x384xf32>
  %dnk = stablehlo.dot_general %dk, %Wk, contracting_dims = [2] x [1] {dist.layouts = [#q]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %dv = stablehlo.multiply %do, %v {dist.layouts = [#h]} : tensor<8x256x384xf32>
  %dWv = stablehlo.dot_general %n1, %dv, contracting_dims = [0, 1] x [0, 1] {dist.layouts = [#col]} : (tensor<8x256x384xf32>, tensor<8x256x384xf32>) -> tensor<384x384xf32>
  %dnv = stablehlo.dot_general %dv, %Wv, contracting_dims = [2] x [1] {dist.layouts = [#q]} : (tensor<8x256x384xf32>, tensor<384x384xf32>) -> tensor<8x256x384xf32>
  %dnqk = stablehlo.add %dnq, %dnk {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dn1 = stablehlo.add %dnqk, %dnv {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %de1 = stablehlo.reduce(%dn1 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#v]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<384xf32>
  %dnxh1 = stablehlo.multiply %dn1, %xh1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dg1 = stablehlo.reduce(%dnxh1 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.layouts = [#v]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<384xf32>
  %dxh1 = stablehlo.multiply %dn1, %gb1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dxx1 = stablehlo.multiply %dxh1, %xh1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %m11 = stablehlo.reduce(%dxh1 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %m21 = stablehlo.reduce(%dxx1 init: %zero) applies stablehlo.add across dimensions = [2] {dist.layouts = [#rq]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<8x256xf32>
  %m1b1 = stablehlo.broadcast_in_dim %m11, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %m2b1 = stablehlo.broadcast_in_dim %m21, dims = [0, 1] {dist.layouts = [#q]} : (tensor<8x256xf32>) -> tensor<8x256x384xf32>
  %mx1 = stablehlo.multiply %m2b1, %xh1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %d11 = stablehlo.subtract %dxh1, %m1b1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %d21 = stablehlo.subtract %d11, %mx1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %dx1 = stablehlo.multiply %d21, %rb1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %G0 = stablehlo.add %G1, %dx1 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %G0t = stablehlo.tanh %G0 {dist.layouts = [#q]} : tensor<8x256x384xf32>
  %aux = stablehlo.reduce(%G0t init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] {dist.layouts = [#s]} : (tensor<8x256x384xf32>, tensor<f32>) -> tensor<f32>
  %lsum = stablehlo.add %ls, %aux {dist.layouts = [#s]} : tensor<f32>
  return %lsum, %count, %dWq, %dWk, %dWv, %dWp, %dW1, %dW2, %dbp, %db1, %db2, %dg1, %de1, %dg2, %de2 : tensor<f32>, tensor<f32>, tensor<384x384xf32>, tensor<384x384xf32>, tensor<384x384xf32>, tensor<384x384xf32>, tensor<384x1536xf32>, tensor<1536x384xf32>, tensor<384xf32>, tensor<1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>
}
func.func @update(%Wq: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wq, layout = #col>},
    %Wk: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wk, layout = #col>},
    %Wv: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wv, layout = #col>},
    %Wp: tensor<384x384xf32> {dist.port = #dist.port<parameter @Wp, layout = #row>},
    %W1: tensor<384x1536xf32> {dist.port = #dist.port<parameter @W1, layout = #col>},
    %W2: tensor<1536x384xf32> {dist.port = #dist.port<parameter @W2, layout = #row>},
    %bp: tensor<384xf32> {dist.port = #dist.port<parameter @bp, layout = #v>},
    %b1: tensor<1536xf32> {dist.port = #dist.port<parameter @b1, layout = #vt>},
    %b2: tensor<384xf32> {dist.port = #dist.port<parameter @b2, layout = #v>},
    %g1: tensor<384xf32> {dist.port = #dist.port<parameter @g1, layout = #v>},
    %e1: tensor<384xf32> {dist.port = #dist.port<parameter @e1, layout = #v>},
    %g2: tensor<384xf32> {dist.port = #dist.port<parameter @g2, layout = #v>},
    %e2: tensor<384xf32> {dist.port = #dist.port<parameter @e2, layout = #v>},
    %g.Wq: tensor<384x384xf32> {dist.port = #dist.port<gradient @Wq, layout = #col>},
    %g.Wk: tensor<384x384xf32> {dist.port = #dist.port<gradient @Wk, layout = #col>},
    %g.Wv: tensor<384x384xf32> {dist.port = #dist.port<gradient @Wv, layout = #col>},
    %g.Wp: tensor<384x384xf32> {dist.port = #dist.port<gradient @Wp, layout = #row>},
    %g.W1: tensor<384x1536xf32> {dist.port = #dist.port<gradient @W1, layout = #col>},
    %g.W2: tensor<1536x384xf32> {dist.port = #dist.port<gradient @W2, layout = #row>},
    %g.bp: tensor<384xf32> {dist.port = #dist.port<gradient @bp, layout = #v>},
    %g.b1: tensor<1536xf32> {dist.port = #dist.port<gradient @b1, layout = #vt>},
    %g.b2: tensor<384xf32> {dist.port = #dist.port<gradient @b2, layout = #v>},
    %g.g1: tensor<384xf32> {dist.port = #dist.port<gradient @g1, layout = #v>},
    %g.e1: tensor<384xf32> {dist.port = #dist.port<gradient @e1, layout = #v>},
    %g.g2: tensor<384xf32> {dist.port = #dist.port<gradient @g2, layout = #v>},
    %g.e2: tensor<384xf32> {dist.port = #dist.port<gradient @e2, layout = #v>},
    %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #s>},
    %n: tensor<f32> {dist.port = #dist.port<count, layout = #s>})
    -> (tensor<384x384xf32> {dist.port = #dist.port<parameter @Wq, layout = #col>},
        tensor<384x384xf32> {dist.port = #dist.port<parameter @Wk, layout = #col>},
        tensor<384x384xf32> {dist.port = #dist.port<parameter @Wv, layout = #col>},
        tensor<384x384xf32> {dist.port = #dist.port<parameter @Wp, layout = #row>},
        tensor<384x1536xf32> {dist.port = #dist.port<parameter @W1, layout = #col>},
        tensor<1536x384xf32> {dist.port = #dist.port<parameter @W2, layout = #row>},
        tensor<384xf32> {dist.port = #dist.port<parameter @bp, layout = #v>},
        tensor<1536xf32> {dist.port = #dist.port<parameter @b1, layout = #vt>},
        tensor<384xf32> {dist.port = #dist.port<parameter @b2, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<parameter @g1, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<parameter @e1, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<parameter @g2, layout = #v>},
        tensor<384xf32> {dist.port = #dist.port<parameter @e2, layout = #v>},
        tensor<f32> {dist.port = #dist.port<metric "loss", layout = #s>}) {
  %n.Wq = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#col]} : (tensor<f32>) -> tensor<384x384xf32>
  %m.Wq = stablehlo.divide %g.Wq, %n.Wq {dist.layouts = [#col]} : tensor<384x384xf32>
  %t.Wq = stablehlo.tanh %m.Wq {dist.layouts = [#col]} : tensor<384x384xf32>
  %w.Wq = stablehlo.subtract %Wq, %t.Wq {dist.layouts = [#col]} : tensor<384x384xf32>
  %n.Wk = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#col]} : (tensor<f32>) -> tensor<384x384xf32>
  %m.Wk = stablehlo.divide %g.Wk, %n.Wk {dist.layouts = [#col]} : tensor<384x384xf32>
  %t.Wk = stablehlo.tanh %m.Wk {dist.layouts = [#col]} : tensor<384x384xf32>
  %w.Wk = stablehlo.subtract %Wk, %t.Wk {dist.layouts = [#col]} : tensor<384x384xf32>
  %n.Wv = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#col]} : (tensor<f32>) -> tensor<384x384xf32>
  %m.Wv = stablehlo.divide %g.Wv, %n.Wv {dist.layouts = [#col]} : tensor<384x384xf32>
  %t.Wv = stablehlo.tanh %m.Wv {dist.layouts = [#col]} : tensor<384x384xf32>
  %w.Wv = stablehlo.subtract %Wv, %t.Wv {dist.layouts = [#col]} : tensor<384x384xf32>
  %n.Wp = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#row]} : (tensor<f32>) -> tensor<384x384xf32>
  %m.Wp = stablehlo.divide %g.Wp, %n.Wp {dist.layouts = [#row]} : tensor<384x384xf32>
  %t.Wp = stablehlo.tanh %m.Wp {dist.layouts = [#row]} : tensor<384x384xf32>
  %w.Wp = stablehlo.subtract %Wp, %t.Wp {dist.layouts = [#row]} : tensor<384x384xf32>
  %n.W1 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#col]} : (tensor<f32>) -> tensor<384x1536xf32>
  %m.W1 = stablehlo.divide %g.W1, %n.W1 {dist.layouts = [#col]} : tensor<384x1536xf32>
  %t.W1 = stablehlo.tanh %m.W1 {dist.layouts = [#col]} : tensor<384x1536xf32>
  %w.W1 = stablehlo.subtract %W1, %t.W1 {dist.layouts = [#col]} : tensor<384x1536xf32>
  %n.W2 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#row]} : (tensor<f32>) -> tensor<1536x384xf32>
  %m.W2 = stablehlo.divide %g.W2, %n.W2 {dist.layouts = [#row]} : tensor<1536x384xf32>
  %t.W2 = stablehlo.tanh %m.W2 {dist.layouts = [#row]} : tensor<1536x384xf32>
  %w.W2 = stablehlo.subtract %W2, %t.W2 {dist.layouts = [#row]} : tensor<1536x384xf32>
  %n.bp = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#v]} : (tensor<f32>) -> tensor<384xf32>
  %m.bp = stablehlo.divide %g.bp, %n.bp {dist.layouts = [#v]} : tensor<384xf32>
  %t.bp = stablehlo.tanh %m.bp {dist.layouts = [#v]} : tensor<384xf32>
  %w.bp = stablehlo.subtract %bp, %t.bp {dist.layouts = [#v]} : tensor<384xf32>
  %n.b1 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#vt]} : (tensor<f32>) -> tensor<1536xf32>
  %m.b1 = stablehlo.divide %g.b1, %n.b1 {dist.layouts = [#vt]} : tensor<1536xf32>
  %t.b1 = stablehlo.tanh %m.b1 {dist.layouts = [#vt]} : tensor<1536xf32>
  %w.b1 = stablehlo.subtract %b1, %t.b1 {dist.layouts = [#vt]} : tensor<1536xf32>
  %n.b2 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#v]} : (tensor<f32>) -> tensor<384xf32>
  %m.b2 = stablehlo.divide %g.b2, %n.b2 {dist.layouts = [#v]} : tensor<384xf32>
  %t.b2 = stablehlo.tanh %m.b2 {dist.layouts = [#v]} : tensor<384xf32>
  %w.b2 = stablehlo.subtract %b2, %t.b2 {dist.layouts = [#v]} : tensor<384xf32>
  %n.g1 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#v]} : (tensor<f32>) -> tensor<384xf32>
  %m.g1 = stablehlo.divide %g.g1, %n.g1 {dist.layouts = [#v]} : tensor<384xf32>
  %t.g1 = stablehlo.tanh %m.g1 {dist.layouts = [#v]} : tensor<384xf32>
  %w.g1 = stablehlo.subtract %g1, %t.g1 {dist.layouts = [#v]} : tensor<384xf32>
  %n.e1 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#v]} : (tensor<f32>) -> tensor<384xf32>
  %m.e1 = stablehlo.divide %g.e1, %n.e1 {dist.layouts = [#v]} : tensor<384xf32>
  %t.e1 = stablehlo.tanh %m.e1 {dist.layouts = [#v]} : tensor<384xf32>
  %w.e1 = stablehlo.subtract %e1, %t.e1 {dist.layouts = [#v]} : tensor<384xf32>
  %n.g2 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#v]} : (tensor<f32>) -> tensor<384xf32>
  %m.g2 = stablehlo.divide %g.g2, %n.g2 {dist.layouts = [#v]} : tensor<384xf32>
  %t.g2 = stablehlo.tanh %m.g2 {dist.layouts = [#v]} : tensor<384xf32>
  %w.g2 = stablehlo.subtract %g2, %t.g2 {dist.layouts = [#v]} : tensor<384xf32>
  %n.e2 = stablehlo.broadcast_in_dim %n, dims = [] {dist.layouts = [#v]} : (tensor<f32>) -> tensor<384xf32>
  %m.e2 = stablehlo.divide %g.e2, %n.e2 {dist.layouts = [#v]} : tensor<384xf32>
  %t.e2 = stablehlo.tanh %m.e2 {dist.layouts = [#v]} : tensor<384xf32>
  %w.e2 = stablehlo.subtract %e2, %t.e2 {dist.layouts = [#v]} : tensor<384xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#s]} : tensor<f32>
  return %w.Wq, %w.Wk, %w.Wv, %w.Wp, %w.W1, %w.W2, %w.bp, %w.b1, %w.b2, %w.g1, %w.e1, %w.g2, %w.e2, %metric : tensor<384x384xf32>, tensor<384x384xf32>, tensor<384x384xf32>, tensor<384x384xf32>, tensor<384x1536xf32>, tensor<1536x384xf32>, tensor<384xf32>, tensor<1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) chunks([0])
