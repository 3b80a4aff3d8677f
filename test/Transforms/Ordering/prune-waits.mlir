// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-prune-waits | FileCheck %s

// With places at hand a wait stays only where bytes that it keeps apart meet:
// here the call's memory is never used again, so that nothing has to wait
// for its end, and the signal before goes with the wait.

dist.mesh @mesh = <"data"=2>
module @kernels {
  dist.kernel @k(write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
plan.device threads(1) arenas([128])
plan.stream @C compute
plan.stream @X collective
plan.frame @tmp tmp events(4) offset(0) size(64)
plan.buffer @tmp.a in @tmp bytes(16) offset(0)
plan.frame @out act events(1) chunk(0) offset(64) size(64)
plan.buffer @out.b in @out bytes(16) offset(0)
// CHECK-LABEL: plan.program @f.c0.F forward chunk(0) {
// CHECK-NEXT: plan.kernel on @C
// CHECK-NEXT: plan.signal on @C @tmp event(2)
// CHECK-NEXT: plan.wait on @X @tmp event(2)
// CHECK-NEXT: plan.collective on @X
// CHECK-NEXT: }
plan.program @f.c0.F forward chunk(0) {
  plan.signal on @C @tmp event(1)
  plan.kernel on @C @kernels::@k operands([#plan.use<write, <@tmp.a, [4], f32>>]) scalars([])
  plan.signal on @C @tmp event(2)
  plan.wait on @X @tmp event(2)
  plan.collective on @X @c0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@tmp.a, [4], f32>]) outputs([#plan.operand<@out.b, [4], f32>])
  plan.signal on @X @tmp event(3)
  plan.wait on @C @tmp event(3)
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0"]>)
plan.entry @f forward microbatches(1) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// With a second microbatch the memory is used again.

dist.mesh @mesh = <"data"=2>
module @kernels {
  dist.kernel @k(write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
plan.device threads(1) arenas([128])
plan.stream @C compute
plan.stream @X collective
plan.frame @tmp tmp events(4) offset(0) size(64)
plan.buffer @tmp.a in @tmp bytes(16) offset(0)
plan.frame @out act events(1) chunk(0) offset(64) size(64)
plan.buffer @out.b in @out bytes(16) offset(0)
// CHECK-LABEL: plan.program @g.c0.F forward chunk(0) {
// CHECK-NEXT: plan.kernel on @C
// CHECK-NEXT: plan.signal on @C @tmp event(2)
// CHECK-NEXT: plan.wait on @X @tmp event(2)
// CHECK-NEXT: plan.collective on @X
// CHECK-NEXT: plan.signal on @X @tmp event(3)
// CHECK-NEXT: plan.wait on @C @tmp event(3)
// CHECK-NEXT: }
plan.program @g.c0.F forward chunk(0) {
  plan.kernel on @C @kernels::@k operands([#plan.use<write, <@tmp.a, [4], f32>>]) scalars([])
  plan.signal on @C @tmp event(2)
  plan.wait on @X @tmp event(2)
  plan.collective on @X @c0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@tmp.a, [4], f32>]) outputs([#plan.operand<@out.b, [4], f32>])
  plan.signal on @X @tmp event(3)
  plan.wait on @C @tmp event(3)
}
plan.table @g.table programs([@g.c0.F]) rows(<["0.0", "0.1"]>)
plan.entry @g forward microbatches(2) chunks(1) prologue([unit]) table(@g.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// A wait that is needed and not there is an error of the phase before.

dist.mesh @mesh = <"data"=2>
module @kernels {
  dist.kernel @k(write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
plan.device threads(1) arenas([128])
plan.stream @C compute
plan.stream @X collective
plan.frame @tmp tmp events(4) offset(0) size(64)
plan.buffer @tmp.a in @tmp bytes(16) offset(0)
plan.program @h.c0.F forward chunk(0) {
  plan.kernel on @C @kernels::@k operands([#plan.use<write, <@tmp.a, [4], f32>>]) scalars([])
  plan.collective on @X @c0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@tmp.a, [4], f32>]) outputs([#plan.operand<@tmp.a, [4], f32>])
}
plan.table @h.table programs([@h.c0.F]) rows(<["0.0"]>)
// expected-error@+1 {{has accesses that nothing orders: instruction 1 of program 0 is not ordered after instruction 0 of program 0}}
plan.entry @h forward microbatches(1) chunks(1) prologue([unit]) table(@h.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// Two buffers that share bytes are one for waits.

dist.mesh @mesh = <"data"=1>
plan.device threads(1) arenas([64])
plan.stream @C compute
plan.stream @K copy
plan.frame @step step events(3) offset(0) size(64)
plan.buffer @step.a in @step bytes(16) offset(0)
plan.buffer @step.b in @step bytes(16) offset(0)
// CHECK-LABEL: plan.program @i.c0.F forward chunk(0) {
// CHECK-NEXT: plan.fill on @C <@step.a
// CHECK-NEXT: plan.signal on @C @step event(1)
// CHECK-NEXT: plan.wait on @K @step event(1)
// CHECK-NEXT: plan.copy on @K to(<@step.b
// CHECK-NEXT: }
plan.program @i.c0.F forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
  plan.signal on @C @step event(1)
  plan.wait on @K @step event(1)
  plan.copy on @K to(<@step.b, [4], f32>) host input name("x")
}
plan.table @i.table programs([@i.c0.F]) rows(<["0.0"]>)
plan.entry @i forward microbatches(1) chunks(1) prologue([unit]) table(@i.table) epilogue([unit]) inputs([#plan.input<"x", tensor<4xf32>>]) hypers([]) metrics([]) fetches([])

// -----

// A program of two entries would have to suit both: its waits stay.

dist.mesh @mesh = <"data"=1>
plan.device threads(1) arenas([64])
plan.stream @C compute
plan.frame @step step events(2) offset(0) size(64)
plan.buffer @step.a in @step bytes(16) offset(0)
// CHECK-LABEL: plan.program @both forward chunk(0) {
// CHECK-NEXT: plan.fill
// CHECK-NEXT: plan.signal on @C @step event(1)
// CHECK-NEXT: }
plan.program @both forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
  plan.signal on @C @step event(1)
}
plan.table @k.table programs([@both]) rows(<["0.0"]>)
plan.entry @k forward microbatches(1) chunks(1) prologue([unit]) table(@k.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])
plan.table @l.table programs([@both]) rows(<["0.0"]>)
plan.entry @l forward microbatches(1) chunks(1) prologue([unit]) table(@l.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @C compute
// expected-error@+1 {{expected a place before waits are pruned, got none}}
plan.frame @step step
plan.buffer @step.a in @step bytes(16)
plan.program @m.c0.F forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
}
plan.table @m.table programs([@m.c0.F]) rows(<["0.0"]>)
plan.entry @m forward microbatches(1) chunks(1) prologue([unit]) table(@m.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// Nothing signals the event: the wait orders nothing and is left out, as is a
// signal for which nothing waits.

dist.mesh @mesh = <"data"=1>
plan.device threads(1) arenas([64])
plan.stream @C compute
plan.stream @K copy
plan.frame @step step events(4) offset(0) size(64)
plan.buffer @step.a in @step bytes(16) offset(0)
// CHECK-LABEL: plan.program @n.c0.F forward chunk(0) {
// CHECK-NEXT: plan.fill on @C <@step.a
// CHECK-NEXT: plan.signal on @C @step event(1)
// CHECK-NEXT: plan.wait on @K @step event(1)
// CHECK-NEXT: plan.copy on @K from(<@step.a
// CHECK-NEXT: }
plan.program @n.c0.F forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
  plan.signal on @C @step event(2)
  plan.signal on @C @step event(1)
  plan.wait on @K @step event(1)
  plan.wait on @K @step event(0)
  plan.copy on @K from(<@step.a, [4], f32>) host fetch name("z")
}
plan.table @n.table programs([@n.c0.F]) rows(<["0.0"]>)
plan.entry @n forward microbatches(1) chunks(1) prologue([unit]) table(@n.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"z", tensor<4xf32>>])
