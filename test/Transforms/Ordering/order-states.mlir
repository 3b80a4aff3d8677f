// RUN: llmc-opt %s --llmc-phase-ordered | FileCheck %s

// Parts of a state that lie in one local buffer: boxes become parts of the
// whole state, with offsets in bytes and the buffer's strides.

dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.local of @w : tensor<4x8xf32> holds [#dist.box<@w.0, <@mesh, [{}, {}]>, [0, 0]>, #dist.box<@w.1, <@mesh, [{}, {}]>, [0, 4]>]
dist.state @n : tensor<i32> {role = carried, source = #dist.draw<zeros>}
dist.buffer @n.local of @n : tensor<i32> holds [#dist.box<@n, <@mesh, []>, []>]

module @kernels {
  dist.kernel @k_sum(read tensor<32xf32>, read tensor<1xi32>, write tensor<1xf32>) for "cpu" by @k_sum_cpu
  func.func private @k_sum_cpu(memref<32xf32>, memref<1xi32>, memref<1xf32>, index, index, memref<0xi8>)
}

// CHECK: plan.frame @state state
// CHECK-NEXT: plan.buffer @state.w.local in @state bytes(128)
// CHECK-NEXT: plan.part of @w origin([0, 0]) shape([4, 4]) layout(#{{.*}}) place(<@state.w.local, [4, 4], f32, strides = [8, 1]>)
// CHECK-NEXT: plan.part of @w origin([0, 4]) shape([4, 4]) layout(#{{.*}}) place(<@state.w.local, [4, 4], f32, offset = 16, strides = [8, 1]>)
// CHECK-NEXT: plan.buffer @state.n.local in @state bytes(4)
// CHECK-NEXT: plan.part of @n origin([]) shape([]) layout(#{{.*}}) place(<@state.n.local, [], i32>)

// A metric of an entry is copied after the program that makes it.
// CHECK: plan.program @evaluate.c0.F forward chunk(0) {
// CHECK-NEXT: plan.kernel on @C @kernels::@k_sum
// CHECK-NEXT: plan.signal on @C @evaluate.step event(1)
// CHECK-NEXT: plan.wait on @K @evaluate.step event(1)
// CHECK-NEXT: plan.copy on @K from(<@evaluate.step.loss, [], f32>) host metric name("loss")
// CHECK: plan.entry @evaluate evaluate microbatches(1) chunks(1) prologue([unit]) table(@evaluate.table) epilogue([unit])

func.func private @evaluate.c0.F(%w: tensor<4x8xf32> {dist.port = #dist.port<buffer @w.local>}, %n: tensor<i32> {dist.port = #dist.port<buffer @n.local>})
    -> (tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %s = dist.launch @kernels::@k_sum(%w, %n) : (tensor<4x8xf32>, tensor<i32>) -> tensor<f32>
  return %s : tensor<f32>
}
dist.timeline @evaluate microbatches(1)
    programs([#dist.program<@evaluate.c0.F, chunk = 0, phase = forward, at = [0]>])
    transfers([]) table(<["F0.0"]>)
