// The model of the walkthrough on two stages, from localize on.
// RUN: llmc-opt %S/Inputs/walkthrough-local.mlir --llmc-cut-segments --llmc-verify-local | FileCheck %s --check-prefix=LOCAL
// RUN: llmc-opt %S/Inputs/walkthrough-local.mlir --llmc-cut-segments --llmc-verify-local --llmc-schedule --llmc-verify-scheduled --llmc-recompute --llmc-trim-activations --llmc-outline-programs --llmc-verify-memory | FileCheck %s

// Each transfer after the segment that makes its operand, the tied gradient's
// join after both, the coordinate in each segment that uses it.
// LOCAL-LABEL: func.func private @train.microbatch
// LOCAL: %[[F0:.*]]:3 = dist.segment chunk(0) phase(forward)
// LOCAL: dist.coordinate
// LOCAL: %[[T0:.*]] = dist.transfer @t0 %[[F0]]#2 along "pipe" 0 -> 1
// LOCAL: %[[F1:.*]]:4 = dist.segment chunk(1) phase(forward)
// LOCAL-NEXT: dist.all_gather %[[T0]]
// LOCAL: %[[B1:.*]]:2 = dist.segment chunk(1) phase(backward_input)
// LOCAL: %[[T1:.*]] = dist.transfer @t1 %[[B1]]#1 along "pipe" 1 -> 0
// LOCAL: %[[W1:.*]] = dist.segment chunk(1) phase(backward_weight)
// LOCAL: %[[B0:.*]]:3 = dist.segment chunk(0) phase(backward_input)
// LOCAL-NEXT: dist.all_gather %[[T1]]
// LOCAL: %[[W0:.*]]:3 = dist.segment chunk(0) phase(backward_weight)
// LOCAL: dist.coordinate
// LOCAL: %[[GE:.*]] = dist.join %[[W1]], %[[W0]]#2 over "pipe"
// LOCAL-NEXT: return %[[F1]]#2, %[[F1]]#3, %[[GE]], %[[W0]]#1, %[[W0]]#0
// LOCAL-LABEL: func.func private @train.update
// LOCAL: dist.join
// LOCAL: dist.join
// LOCAL-NEXT: %[[A:.*]]:3 = dist.segment at(0, 1) phase(update)
// LOCAL: dist.all_reduce @c0
// LOCAL: dist.all_reduce @c1
// LOCAL: dist.all_reduce @c2
// LOCAL: %[[S:.*]]:3 = dist.segment at(0) phase(update)
// LOCAL: %[[N:.*]] = dist.join %[[S]]#1 over "pipe"
// LOCAL-NEXT: dist.segment at(0, 1) phase(update)
// LOCAL-NEXT: stablehlo.add %[[A]]#2, %[[N]]
// LOCAL: dist.all_reduce @c3
// LOCAL: dist.segment at(0) phase(update)
// LOCAL-NOT: dist.segment

// CHECK: dist.timeline @train microbatches(2)
// CHECK-SAME: #dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c1.F, chunk = 1, phase = forward, at = [1]>, #dist.program<@train.c1.B, chunk = 1, phase = backward, at = [1]>, #dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>, #dist.program<@train.u1, phase = update, at = [1]>
// CHECK-SAME: transfers([#dist.route<@t0 : @train.c0.F -> @train.c1.F>, #dist.route<@t1 : @train.c1.B -> @train.c0.B>])
// CHECK-SAME: table(<["F0.0 F0.1 . B0.0 . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"]>)
// CHECK-LABEL: func.func private @train.c0.F
// CHECK-SAME: #dist.port<input "tokens", layout = <@mesh, [{"data"}], at = {"pipe" = [0]}>>
// CHECK-SAME: tensor<2x4xf32> {dist.port = #dist.port<send @t0>})
// The head receives and keeps what it received; its sums stand at stage 1.
// CHECK-LABEL: func.func private @train.c1.F(
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<2x4xf32> {dist.port = #dist.port<recv @t0>}
// CHECK-SAME: #dist.port<input "targets"
// CHECK-SAME: tensor<f32> {dist.port = #dist.port<loss_sum>}
// CHECK-SAME: -> ({{.*}}tensor<2x4xf32> {dist.port = #dist.port<act "c1.a1", chunk = 1>}
// CHECK: return {{.*}}%[[R]],
// CHECK-LABEL: func.func private @train.c1.B
// CHECK-SAME: {dist.port = #dist.port<act "c1.a1", chunk = 1>}
// CHECK-SAME: %[[ACC:[a-z0-9]+]]: tensor<5x4xf32> {dist.port = #dist.port<gradient @E>}
// CHECK-SAME: -> (tensor<5x4xf32> {dist.port = #dist.port<gradient @E>}, tensor<2x4xf32> {dist.port = #dist.port<send @t1>})
// CHECK: dist.fence
// CHECK: dist.all_gather
// CHECK: stablehlo.add %[[ACC]]
// CHECK-LABEL: func.func private @train.c0.B
// CHECK-SAME: %[[D:[a-z0-9]+]]: tensor<2x4xf32> {dist.port = #dist.port<recv @t1>}
// CHECK: dist.fence
// CHECK: dist.all_reduce
// CHECK: dist.all_gather %[[D]]
// The tied gradient's other half.
// CHECK: %[[G:.*]] = "stablehlo.scatter"
// CHECK: stablehlo.add %{{.*}}, %[[G]]
// One order of collectives; stage 0 adds nothing to the loss, stage 1 nothing
// to the norm of W1.
// CHECK-LABEL: func.func private @train.u0
// CHECK-NOT: loss_sum
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.0
// CHECK: dist.all_reduce @c0 %[[Z]]
// CHECK: dist.all_reduce @c1
// CHECK: dist.all_reduce @c2
// CHECK: dist.all_reduce @c3
// CHECK-LABEL: func.func private @train.u1
// CHECK-SAME: %[[LS:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<loss_sum>}
// CHECK-NOT: W1
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<metric "loss">}, tensor<5x4xf32> {dist.port = #dist.port<buffer @E.local>}, tensor<f32> {dist.port = #dist.port<metric "lr">})
// CHECK: dist.all_reduce @c0 %[[LS]]
// CHECK: dist.all_reduce @c1
// CHECK: dist.all_reduce @c2
// CHECK: %[[N:.*]] = stablehlo.constant dense<0.0
// CHECK: stablehlo.add %{{.*}}, %[[N]]
// CHECK: dist.all_reduce @c3
