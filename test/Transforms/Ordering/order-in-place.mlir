// RUN: llmc-opt %s --split-input-file --llmc-phase-ordered | FileCheck %s

// A slot of a microbatch is written once: what a collective returns there is
// made apart from its operand. In the slots of a step, of a metric and of a
// state it works in place.
dist.mesh @mesh = <"data"=2>
dist.state @g : tensor<4xf32> {role = parameter}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, <@mesh, [{}]>, [0]>]
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}

// CHECK-LABEL: plan.program @t.c0.F
// CHECK: all_reduce {{.*}}inputs([#plan.operand<@t.c0.F.tmp.0, [4], f32>]) outputs([#plan.operand<@t.act0.a, [4], f32>])
func.func private @t.c0.F(%w: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}) -> (tensor<4xf32> {dist.port = #dist.port<act "a", chunk = 0>}) {
  %p = dist.launch @kernels::@k(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %a = dist.all_reduce %p over ["data"] sum : tensor<4xf32>
  return %a : tensor<4xf32>
}
// CHECK-LABEL: plan.program @t.c0.B
// CHECK: all_reduce {{.*}}inputs([#plan.operand<@t.step.grad.g, [4], f32>]) outputs([#plan.operand<@t.step.grad.g, [4], f32>])
func.func private @t.c0.B(%a: tensor<4xf32> {dist.port = #dist.port<act "a", chunk = 0>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %h = dist.all_reduce %g over ["data"] sum : tensor<4xf32>
  return %h : tensor<4xf32>
}
// CHECK-LABEL: plan.program @t.u0
// CHECK: all_reduce {{.*}}inputs([#plan.operand<@t.step.m, [4], f32>]) outputs([#plan.operand<@t.step.m, [4], f32>])
// CHECK: all_reduce {{.*}}inputs([#plan.operand<@state.w.local, [4], f32>]) outputs([#plan.operand<@state.w.local, [4], f32>])
func.func private @t.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "m">}, tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}) {
  %p = dist.launch @kernels::@k(%g) : (tensor<4xf32>) -> tensor<4xf32>
  %m = dist.all_reduce %p over ["data"] sum : tensor<4xf32>
  %q = dist.launch @kernels::@k(%g) : (tensor<4xf32>) -> tensor<4xf32>
  %w = dist.all_reduce %q over ["data"] sum : tensor<4xf32>
  return %m, %w : tensor<4xf32>, tensor<4xf32>
}
dist.timeline @t microbatches(2)
    programs([#dist.program<@t.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@t.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@t.u0, phase = update, at = [0]>])
    transfers([]) table(<["F0.0 B0.0 F0.1 B0.1 U"]>)

// -----

// A kernel overwrites the sum: the collective reads it before, and its result
// lies elsewhere.
dist.mesh @mesh = <"data"=2>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @scale(readwrite tensor<4xf32>) for "cpu" by @scale_cpu
  func.func private @scale_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @t.c0.B() -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %g = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}
// CHECK-LABEL: plan.program @t.u0
// CHECK: all_reduce {{.*}}inputs([#plan.operand<@t.step.grad.g, [4], f32>]) outputs([#plan.operand<@t.step.m, [4], f32>])
// CHECK: plan.kernel on @C @kernels::@scale operands([#plan.use<readwrite, <@t.step.grad.g, [4], f32>>])
// CHECK: plan.copy on @C to(<@t.step.n, [4], f32>) from(<@t.step.grad.g, [4], f32>)
func.func private @t.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "m">}, tensor<4xf32> {dist.port = #dist.port<metric "n">}) {
  %s = dist.launch @kernels::@scale(%g) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  %m = dist.all_reduce %g over ["data"] sum : tensor<4xf32>
  return %m, %s : tensor<4xf32>, tensor<4xf32>
}
dist.timeline @t microbatches(1)
    programs([#dist.program<@t.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@t.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)

// -----

// The sum is reduced twice at once: neither result may take its place.
dist.mesh @mesh = <"data"=2>
dist.state @g : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @zero(write tensor<4xf32>) for "cpu" by @zero_cpu
  func.func private @zero_cpu(memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @scale(readwrite tensor<4xf32>) for "cpu" by @scale_cpu
  func.func private @scale_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @t.c0.B() -> (tensor<4xf32> {dist.port = #dist.port<gradient @g>}) {
  %g = dist.launch @kernels::@zero() : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}
// CHECK-LABEL: plan.program @t.u0
// CHECK: all_reduce {{.*}}inputs([#plan.operand<@t.step.grad.g, [4], f32>, #plan.operand<@t.step.grad.g, [4], f32>]) outputs([#plan.operand<@t.step.m, [4], f32>, #plan.operand<@t.step.n, [4], f32>])
func.func private @t.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @g>}) -> (tensor<4xf32> {dist.port = #dist.port<metric "m">}, tensor<4xf32> {dist.port = #dist.port<metric "n">}) {
  %m, %s = dist.all_reduce %g, %g over ["data"] sum : tensor<4xf32>, tensor<4xf32>
  return %m, %s : tensor<4xf32>, tensor<4xf32>
}
dist.timeline @t microbatches(1)
    programs([#dist.program<@t.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@t.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)
