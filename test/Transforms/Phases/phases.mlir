// RUN: llmc-opt %s --llmc-phase-training -o %t.training && FileCheck %s --check-prefix=TRAINING --input-file=%t.training
// RUN: llmc-opt %t.training --llmc-phase-layouts -o %t.layouts && FileCheck %s --check-prefix=LAYOUTS --input-file=%t.layouts
// RUN: llmc-opt %t.layouts --llmc-phase-materialized -o %t.materialized && FileCheck %s --check-prefix=MATERIALIZED --input-file=%t.materialized
// RUN: llmc-opt %t.materialized --llmc-phase-local -o %t.local && FileCheck %s --check-prefix=LOCAL --input-file=%t.local
// RUN: llmc-opt %t.local --llmc-phase-scheduled -o %t.scheduled && FileCheck %s --check-prefix=SCHEDULED --input-file=%t.scheduled
// RUN: llmc-opt %t.scheduled --llmc-phase-memory -o %t.memory && FileCheck %s --check-prefix=MEMORY --input-file=%t.memory
// RUN: llmc-opt %t.memory --llmc-phase-kernels -o %t.kernels && FileCheck %s --check-prefix=KERNELS --input-file=%t.kernels
// RUN: llmc-opt %t.kernels --llmc-phase-ordered -o %t.ordered && FileCheck %s --check-prefix=ORDERED --input-file=%t.ordered
// RUN: llmc-opt %t.ordered --llmc-phase-plan -o %t.plan && FileCheck %s --check-prefix=PLAN --input-file=%t.plan
// RUN: llmc-opt %s --llmc-phase-training --llmc-phase-layouts --llmc-phase-materialized --llmc-phase-local --llmc-phase-scheduled --llmc-phase-memory --llmc-phase-kernels --llmc-phase-ordered --llmc-phase-plan | diff - %t.plan

// Each phase runs on what the phase before it printed, and all in one go come
// to the same plan.

// TRAINING-NOT: dist.training
// TRAINING: func.func private @train.microbatch
// TRAINING: func.func private @train.update
// TRAINING: dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<gpipe>)

// LAYOUTS: dist.layouts = [
// LAYOUTS: dist.step @train {{.*}} chunks([0])

// MATERIALIZED: tensor<4xf32, #
// MATERIALIZED-NOT: dist.layouts
// MATERIALIZED-NOT: dist.reshard

// LOCAL: dist.buffer @w.local of @w : tensor<4xf32>
// LOCAL: dist.segment chunk(0) phase(forward) -> {{.*}}tensor<f32>
// LOCAL-NOT: xf32, #

// SCHEDULED: dist.step @train {{.*}} table(<["F0.0 F0.1 B0.0 B0.1 U"]>)

// MEMORY-NOT: dist.segment
// MEMORY: dist.timeline @train microbatches(2)
// MEMORY: func.func private @train.c0.F
// MEMORY: func.func private @train.c0.B
// MEMORY: func.func private @train.u0
// MEMORY-NOT: dist.step

// KERNELS-LABEL: func.func private @train.c0.F
// KERNELS-NOT: stablehlo.
// KERNELS: dist.launch @

// ORDERED-NOT: dist.timeline
// ORDERED: plan.

// PLAN-NOT: dist.timeline
// PLAN: plan.
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.hyper @lr : tensor<f32> = <warmup_constant, base = 0.1>
func.func @loss(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x", data = <"data">>}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<2x4xf32>
  %2 = stablehlo.tanh %1 : tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.constant dense<8.0> : tensor<f32>
  %4 = stablehlo.divide %3, %count : tensor<f32>
  return %4 : tensor<f32>
}
func.func private @sgd(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %0 = stablehlo.multiply %rate, %g : tensor<1xf32>
  %1 = stablehlo.subtract %p, %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@sgd) microbatches(2) schedule(<gpipe>)
