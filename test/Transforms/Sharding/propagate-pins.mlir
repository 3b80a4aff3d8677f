// RUN: llmc-opt %s --llmc-propagate-layouts --llmc-verify-layouts --mlir-print-local-scope | FileCheck %s

// A small model with a tied embedding @E (split by vocabulary), a fused
// projection in three parts, of which the first has ZeRO-1's row, on two stages:
//   x0 = E[tok]; h = tanh(x0 Wa) (x0 Wb) + x0 Wc; x1 = x0 + h W2   at 0
//   logits = x1 E'; cross-entropy                                  at 1
// Axes spread as by Megatron; batches are split by data; the gradient of @E is
// a join of stage 0 and 1. The update of @Wa follows its optimizer state; a
// scalar pins no tensor.

// CHECK-LABEL: func.func private @train.microbatch(
// CHECK-SAME: {dist.port = #dist.port<input "tok", layout = <@mesh, [{"data"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<input "tgt", layout = <@mesh, [{"data"}], at = {"pipe" = [1]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @E, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wa, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wb, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wc, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @W2, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<loss_sum, layout = <@mesh, [], at = {"pipe" = [1]}>>}
// CHECK-SAME: {dist.port = #dist.port<count, layout = <@mesh, [], at = {"pipe" = [1]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @E, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @Wa, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @Wb, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @Wc, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @W2, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>>}
// CHECK: stablehlo.gather{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.tanh{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [1]}>]
// CHECK: nn.softmax_cross_entropy{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}], at = {"pipe" = [1]}>, #dist.layout<@mesh, [{"data"}], at = {"pipe" = [1]}>]
// CHECK: stablehlo.constant{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [1]}>]
// CHECK: stablehlo.reduce{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [1]}>]
// CHECK: stablehlo.constant{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [1]}>]
// CHECK: stablehlo.constant{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}], at = {"pipe" = [1]}>]
// CHECK: nn.softmax_cross_entropy_grad{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [1]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [1]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [1]}>]
// CHECK: stablehlo.transpose{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [1]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.constant{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.subtract{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.dot_general{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.constant{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.constant{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.clamp{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.constant{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}} {dist.block{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK-LABEL: func.func private @train.update(
// CHECK-SAME: {dist.port = #dist.port<parameter @E, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @E.v, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wa, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @Wa.v, layout = <@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wb, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @Wb.v, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wc, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @Wc.v, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @W2, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @W2.v, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @E, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @Wa, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @Wb, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @Wc, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<gradient @W2, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<loss_sum, layout = <@mesh, [], at = {"pipe" = [1]}>>}
// CHECK-SAME: {dist.port = #dist.port<count, layout = <@mesh, [], at = {"pipe" = [1]}>>}
// CHECK-SAME: {dist.port = #dist.port<hyper @lr, layout = <@mesh, [], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @E, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @E.v, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wa, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @Wa.v, layout = <@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wb, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @Wb.v, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @Wc, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @Wc.v, layout = <@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<parameter @W2, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<optimizer @W2.v, layout = <@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>>}
// CHECK-SAME: {dist.port = #dist.port<metric "loss", layout = <@mesh, [], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<metric "grad_norm", layout = <@mesh, [], at = {"pipe" = [0, 1]}>>}
// CHECK-SAME: {dist.port = #dist.port<metric "lr", layout = <@mesh, [], at = {"pipe" = [0, 1]}>>}
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.divide{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.divide{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.divide{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.divide{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.divide{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.constant{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.reduce{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.reduce{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.reduce{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.reduce{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.reduce{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.sqrt{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.constant{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.divide{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.minimum{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [0]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.constant{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.subtract{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.constant{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.constant{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.constant{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.broadcast_in_dim{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0, 1]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.subtract{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"data"}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.subtract{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.subtract{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{}, {"tensor"}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.add{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.multiply{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.subtract{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [{"tensor"}, {}], at = {"pipe" = [0]}>]
// CHECK: stablehlo.divide{{.*}}dist.layouts = {{\[}}#dist.layout<@mesh, [], at = {"pipe" = [1]}>]

#zero1 = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
#layout = #dist.layout<@mesh, [{"tensor"}, {}]>
#layout1 = #dist.layout<@mesh, [{}, {"tensor"}]>
dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=2> pipeline "pipe"
dist.hyper @lr : tensor<f32> = <constant, base = 1.000000e-01>
dist.state @E : tensor<10x4xf32> {role = parameter, row = #dist.row<rest = #layout>, source = #dist.draw<normal, 2.000000e-02>}
dist.state @E.v : tensor<10x4xf32> {role = optimizer, of = @E, row = #dist.row<rest = #layout>, source = #dist.draw<zeros>}
dist.state @Wa : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #layout1>, source = #dist.draw<normal, 2.000000e-02>}
dist.state @Wa.v : tensor<4x4xf32> {role = optimizer, of = @Wa, row = #dist.row<rest = #zero1>, source = #dist.draw<zeros>}
dist.state @Wb : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #layout1>, source = #dist.draw<normal, 2.000000e-02>}
dist.state @Wb.v : tensor<4x4xf32> {role = optimizer, of = @Wb, row = #dist.row<rest = #layout1>, source = #dist.draw<zeros>}
dist.state @Wc : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #layout1>, source = #dist.draw<normal, 2.000000e-02>}
dist.state @Wc.v : tensor<4x4xf32> {role = optimizer, of = @Wc, row = #dist.row<rest = #layout1>, source = #dist.draw<zeros>}
dist.state @W2 : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #layout>, source = #dist.draw<normal, 2.000000e-02>}
dist.state @W2.v : tensor<4x4xf32> {role = optimizer, of = @W2, row = #dist.row<rest = #layout>, source = #dist.draw<zeros>}
func.func private @train.microbatch(%arg0: tensor<8xi32> {dist.port = #dist.port<input "tok", layout = <@mesh, [{"data"}]>>}, %arg1: tensor<8xi32> {dist.port = #dist.port<input "tgt", layout = <@mesh, [{"data"}]>>}, %arg2: tensor<10x4xf32> {dist.port = #dist.port<parameter @E>}, %arg3: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wa>}, %arg4: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wb>}, %arg5: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wc>}, %arg6: tensor<4x4xf32> {dist.port = #dist.port<parameter @W2>}) -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<10x4xf32> {dist.port = #dist.port<gradient @E>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @Wa>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @Wb>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @Wc>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @W2>}) {
  %0 = "stablehlo.gather"(%arg2, %arg0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<10x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  %1 = stablehlo.dot_general %0, %arg3, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.dot_general %0, %arg4, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.dot_general %0, %arg5, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.tanh %1 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<8x4xf32>
  %5 = stablehlo.multiply %4, %2 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<8x4xf32>
  %6 = stablehlo.add %5, %3 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<8x4xf32>
  %7 = stablehlo.dot_general %6, %arg6, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %8 = stablehlo.add %0, %7 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<8x4xf32>
  %9 = stablehlo.dot_general %8, %arg2, contracting_dims = [1] x [1] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x4xf32>, tensor<10x4xf32>) -> tensor<8x10xf32>
  %loss, %logsumexp = nn.softmax_cross_entropy %9, %arg1 {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
  %cst = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<0.000000e+00> : tensor<f32>
  %10 = stablehlo.reduce(%loss init: %cst) applies stablehlo.add across dimensions = [0] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %cst_0 = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<8.000000e+00> : tensor<f32>
  %cst_1 = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} dense<1.000000e+00> : tensor<f32>
  %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<f32>) -> tensor<8xf32>
  %12 = nn.softmax_cross_entropy_grad %9, %arg1, %logsumexp, %11 {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
  %13 = stablehlo.dot_general %12, %arg2, contracting_dims = [1] x [0] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<8x10xf32>, tensor<10x4xf32>) -> tensor<8x4xf32>
  %14 = stablehlo.dot_general %8, %12, contracting_dims = [0] x [0] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<8x4xf32>, tensor<8x10xf32>) -> tensor<4x10xf32>
  %15 = stablehlo.transpose %14, dims = [1, 0] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<4x10xf32>) -> tensor<10x4xf32>
  %16 = stablehlo.dot_general %13, %arg6, contracting_dims = [1] x [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %17 = stablehlo.dot_general %6, %13, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %18 = stablehlo.multiply %16, %2 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %19 = stablehlo.multiply %16, %4 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %cst_2 = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} dense<1.000000e+00> : tensor<8x4xf32>
  %20 = stablehlo.multiply %4, %4 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %21 = stablehlo.subtract %cst_2, %20 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %22 = stablehlo.multiply %18, %21 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %23 = stablehlo.dot_general %16, %arg5, contracting_dims = [1] x [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %24 = stablehlo.dot_general %0, %16, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %25 = stablehlo.add %13, %23 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %26 = stablehlo.dot_general %19, %arg4, contracting_dims = [1] x [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %27 = stablehlo.dot_general %0, %19, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %28 = stablehlo.add %25, %26 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %29 = stablehlo.dot_general %22, %arg3, contracting_dims = [1] x [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %30 = stablehlo.dot_general %0, %22, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %31 = stablehlo.add %28, %29 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8x4xf32>
  %c = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} dense<0> : tensor<i32>
  %c_3 = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} dense<9> : tensor<i32>
  %32 = stablehlo.broadcast_in_dim %c_3, dims = [] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<i32>) -> tensor<8xi32>
  %33 = stablehlo.clamp %c, %arg0, %32 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<i32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %cst_4 = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} dense<0.000000e+00> : tensor<10x4xf32>
  %34 = "stablehlo.scatter"(%cst_4, %33, %31) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
    %36 = stablehlo.add %arg7, %arg8 : tensor<f32>
    stablehlo.return %36 : tensor<f32>
  }) {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<10x4xf32>, tensor<8xi32>, tensor<8x4xf32>) -> tensor<10x4xf32>
  %35 = stablehlo.add %15, %34 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<10x4xf32>
  return %10, %cst_0, %35, %30, %27, %24, %17 : tensor<f32>, tensor<f32>, tensor<10x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @train.update(%arg0: tensor<10x4xf32> {dist.port = #dist.port<parameter @E>}, %arg1: tensor<10x4xf32> {dist.port = #dist.port<optimizer @E.v>}, %arg2: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wa>}, %arg3: tensor<4x4xf32> {dist.port = #dist.port<optimizer @Wa.v>}, %arg4: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wb>}, %arg5: tensor<4x4xf32> {dist.port = #dist.port<optimizer @Wb.v>}, %arg6: tensor<4x4xf32> {dist.port = #dist.port<parameter @Wc>}, %arg7: tensor<4x4xf32> {dist.port = #dist.port<optimizer @Wc.v>}, %arg8: tensor<4x4xf32> {dist.port = #dist.port<parameter @W2>}, %arg9: tensor<4x4xf32> {dist.port = #dist.port<optimizer @W2.v>}, %arg10: tensor<10x4xf32> {dist.port = #dist.port<gradient @E>}, %arg11: tensor<4x4xf32> {dist.port = #dist.port<gradient @Wa>}, %arg12: tensor<4x4xf32> {dist.port = #dist.port<gradient @Wb>}, %arg13: tensor<4x4xf32> {dist.port = #dist.port<gradient @Wc>}, %arg14: tensor<4x4xf32> {dist.port = #dist.port<gradient @W2>}, %arg15: tensor<f32> {dist.port = #dist.port<loss_sum>}, %arg16: tensor<f32> {dist.port = #dist.port<count>}, %arg17: tensor<f32> {dist.port = #dist.port<hyper @lr>}) -> (tensor<10x4xf32> {dist.port = #dist.port<parameter @E>}, tensor<10x4xf32> {dist.port = #dist.port<optimizer @E.v>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @Wa>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @Wa.v>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @Wb>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @Wb.v>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @Wc>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @Wc.v>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @W2>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @W2.v>}, tensor<f32> {dist.port = #dist.port<metric "loss">}, tensor<f32> {dist.port = #dist.port<metric "grad_norm">}, tensor<f32> {dist.port = #dist.port<metric "lr">}) {
  %0 = stablehlo.broadcast_in_dim %arg16, dims = [] {dist.phase = #dist.phase<update>} : (tensor<f32>) -> tensor<10x4xf32>
  %1 = stablehlo.divide %arg10, %0 {dist.phase = #dist.phase<update>} : tensor<10x4xf32>
  %2 = stablehlo.broadcast_in_dim %arg16, dims = [] {dist.phase = #dist.phase<update>} : (tensor<f32>) -> tensor<4x4xf32>
  %3 = stablehlo.divide %arg11, %2 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %4 = stablehlo.divide %arg12, %2 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %5 = stablehlo.divide %arg13, %2 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %6 = stablehlo.divide %arg14, %2 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %7 = stablehlo.multiply %1, %1 {dist.phase = #dist.phase<update>} : tensor<10x4xf32>
  %cst = stablehlo.constant {dist.phase = #dist.phase<update>} dense<0.000000e+00> : tensor<f32>
  %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<10x4xf32>, tensor<f32>) -> tensor<f32>
  %9 = stablehlo.multiply %3, %3 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %11 = stablehlo.add %8, %10 {dist.phase = #dist.phase<update>} : tensor<f32>
  %12 = stablehlo.multiply %4, %4 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %13 = stablehlo.reduce(%12 init: %cst) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %14 = stablehlo.add %11, %13 {dist.phase = #dist.phase<update>} : tensor<f32>
  %15 = stablehlo.multiply %5, %5 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %16 = stablehlo.reduce(%15 init: %cst) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %17 = stablehlo.add %14, %16 {dist.phase = #dist.phase<update>} : tensor<f32>
  %18 = stablehlo.multiply %6, %6 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %19 = stablehlo.reduce(%18 init: %cst) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %20 = stablehlo.add %17, %19 {dist.phase = #dist.phase<update>} : tensor<f32>
  %21 = stablehlo.sqrt %20 {dist.phase = #dist.phase<update>} : tensor<f32>
  %cst_0 = stablehlo.constant {dist.phase = #dist.phase<update>} dense<1.000000e+00> : tensor<f32>
  %22 = stablehlo.divide %cst_0, %21 {dist.phase = #dist.phase<update>} : tensor<f32>
  %23 = stablehlo.minimum %cst_0, %22 {dist.phase = #dist.phase<update>} : tensor<f32>
  %24 = stablehlo.broadcast_in_dim %23, dims = [] {dist.phase = #dist.phase<update>} : (tensor<f32>) -> tensor<10x4xf32>
  %25 = stablehlo.multiply %1, %24 {dist.phase = #dist.phase<update>} : tensor<10x4xf32>
  %26 = stablehlo.broadcast_in_dim %23, dims = [] {dist.phase = #dist.phase<update>} : (tensor<f32>) -> tensor<4x4xf32>
  %27 = stablehlo.multiply %3, %26 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %28 = stablehlo.multiply %4, %26 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %29 = stablehlo.multiply %5, %26 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %30 = stablehlo.multiply %6, %26 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %cst_1 = stablehlo.constant {dist.phase = #dist.phase<update>} dense<0.899999976> : tensor<10x4xf32>
  %31 = stablehlo.broadcast_in_dim %arg17, dims = [] {dist.phase = #dist.phase<update>} : (tensor<f32>) -> tensor<10x4xf32>
  %32 = stablehlo.multiply %cst_1, %arg1 {dist.phase = #dist.phase<update>} : tensor<10x4xf32>
  %33 = stablehlo.add %32, %25 {dist.phase = #dist.phase<update>} : tensor<10x4xf32>
  %34 = stablehlo.multiply %31, %33 {dist.phase = #dist.phase<update>} : tensor<10x4xf32>
  %35 = stablehlo.subtract %arg0, %34 {dist.phase = #dist.phase<update>} : tensor<10x4xf32>
  %cst_2 = stablehlo.constant {dist.phase = #dist.phase<update>} dense<0.899999976> : tensor<4x4xf32>
  %36 = stablehlo.broadcast_in_dim %arg17, dims = [] {dist.phase = #dist.phase<update>} : (tensor<f32>) -> tensor<4x4xf32>
  %37 = stablehlo.multiply %cst_2, %arg3 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %38 = stablehlo.add %37, %27 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %39 = stablehlo.multiply %36, %38 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %40 = stablehlo.subtract %arg2, %39 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %41 = stablehlo.multiply %cst_2, %arg5 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %42 = stablehlo.add %41, %28 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %43 = stablehlo.multiply %36, %42 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %44 = stablehlo.subtract %arg4, %43 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %45 = stablehlo.multiply %cst_2, %arg7 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %46 = stablehlo.add %45, %29 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %47 = stablehlo.multiply %36, %46 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %48 = stablehlo.subtract %arg6, %47 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %49 = stablehlo.multiply %cst_2, %arg9 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %50 = stablehlo.add %49, %30 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %51 = stablehlo.multiply %36, %50 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %52 = stablehlo.subtract %arg8, %51 {dist.phase = #dist.phase<update>} : tensor<4x4xf32>
  %53 = stablehlo.divide %arg15, %arg16 {dist.phase = #dist.phase<update>} : tensor<f32>
  return %35, %33, %40, %38, %44, %42, %48, %46, %52, %50, %53, %21, %arg17 : tensor<10x4xf32>, tensor<10x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) chunks([0, 0, 1])
