// RUN: llmc-opt %s --split-input-file --llmc-phase-ordered | FileCheck %s

// A transfer is sent from a slot of its own and received into one, on streams
// of the neighbour and direction; both ends are free on their own.

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}

// CHECK: plan.stream @S.next send priority(1)
// CHECK-NEXT: plan.stream @R.prev receive priority(1)
// CHECK-NEXT: plan.frame
// CHECK: plan.frame @f.bnd.t0.out.s0 bnd slots(2) slot(<mod(microbatch, 2)>) events(2) stages([0])
// CHECK-NEXT: plan.buffer @f.bnd.t0.out.s0.value in @f.bnd.t0.out.s0 bytes(16)
// CHECK: plan.frame @f.bnd.t0.in.s1 bnd slots(2) slot(<mod(microbatch, 2)>) events(2) stages([1])

// CHECK: plan.program @f.c0.F forward chunk(0) {
// CHECK: plan.wait on @C @f.bnd.t0.out.s0 event(0)
// CHECK-NEXT: plan.kernel on @C @kernels::@k operands([#plan.use<read, <@f.input0.s0.x, [4], f32>>, #plan.use<write, <@f.bnd.t0.out.s0.value, [4], f32>>])
// CHECK: plan.wait on @S.next @f.bnd.t0.out.s0 event(1)
// CHECK-NEXT: plan.send on @S.next <@t0, peer = <1>, operands = [<@f.bnd.t0.out.s0.value, [4], f32>]>
// CHECK-NEXT: plan.signal on @S.next @f.bnd.t0.out.s0 event(0)
// CHECK-NEXT: }
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  %y = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK: plan.program @f.c1.F forward chunk(1) {
// CHECK-NEXT: plan.wait on @R.prev @f.bnd.t0.in.s1 event(0)
// CHECK-NEXT: plan.receive on @R.prev <@t0, peer = <0>, operands = [<@f.bnd.t0.in.s1.value, [4], f32>]>
// CHECK-NEXT: plan.signal on @R.prev @f.bnd.t0.in.s1 event(1)
// CHECK-NEXT: plan.wait on @C @f.bnd.t0.in.s1 event(1)
// CHECK-NEXT: plan.wait on @C @f.output1.s1 event(0)
// CHECK-NEXT: plan.kernel on @C @kernels::@k operands([#plan.use<read, <@f.bnd.t0.in.s1.value, [4], f32>>, #plan.use<write, <@f.output1.s1.z, [4], f32>>])
// CHECK-NEXT: plan.signal on @C @f.bnd.t0.in.s1 event(0)
func.func private @f.c1.F(%y: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %z = dist.launch @kernels::@k(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK: plan.table @f.table programs([@f.c0.F, @f.c1.F]) rows(<["0.0 .", "0.1 1.0", "0.2 1.1", ". 1.2"]>)
dist.timeline @f microbatches(3) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>])
    transfers([#dist.route<@t0: @f.c0.F -> @f.c1.F>]) table(<["F0.0 F0.1 F0.2 .", ". F1.0 F1.1 F1.2"]>)

// -----

// Two chunks on each stage: stage 0 sends t2 of microbatch 0 before t0 of
// microbatch 2, stage 1 takes them the other way around, so that one stream for
// both would be a deadlock.

dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}

// CHECK: plan.stream @S.next.t0 send priority(1)
// CHECK-NEXT: plan.stream @R.prev.t0 receive priority(1)
// CHECK-NEXT: plan.stream @S.next.t2 send priority(1)
// CHECK-NEXT: plan.stream @R.prev.t2 receive priority(1)
// CHECK-NEXT: plan.stream @S.prev send priority(1)
// CHECK-NEXT: plan.stream @R.next receive priority(1)
// CHECK: plan.program @g.c2.F
// CHECK: plan.send on @S.next.t2 <@t2, peer = <1>
func.func private @g.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  %y = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<send @t1>}) {
  %y = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g.c2.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t1>}) -> (tensor<4xf32> {dist.port = #dist.port<send @t2>}) {
  %y = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g.c3.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t2>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %y = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.timeline @g microbatches(3)
    programs([#dist.program<@g.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@g.c1.F, chunk = 1, phase = forward, at = [1]>,
              #dist.program<@g.c2.F, chunk = 2, phase = forward, at = [0]>, #dist.program<@g.c3.F, chunk = 3, phase = forward, at = [1]>])
    transfers([#dist.route<@t0: @g.c0.F -> @g.c1.F>, #dist.route<@t1: @g.c1.F -> @g.c2.F>, #dist.route<@t2: @g.c2.F -> @g.c3.F>])
    table(<["F0.0 F0.1 F2.0 F0.2 F2.1 . F2.2 .", ". F1.0 F1.1 . F1.2 F3.0 F3.1 F3.2"]>)
