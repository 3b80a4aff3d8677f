// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-assign-places | FileCheck %s

// Once buffers have places, a wait stays only where bytes that it keeps apart
// meet: here the call's memory is never used again, so that nothing has to wait
// for its end, and the signal before goes with the wait.

dist.mesh @mesh = <"data"=2>
module @kernels {
  dist.kernel @k(write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
plan.device threads(1)
plan.stream @C compute
plan.stream @X collective
plan.frame @tmp tmp events(4)
plan.buffer @tmp.a in @tmp bytes(16)
plan.frame @out act events(1) chunk(0)
plan.buffer @out.b in @out bytes(16)
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
plan.device threads(1)
plan.stream @C compute
plan.stream @X collective
plan.frame @tmp tmp events(4)
plan.buffer @tmp.a in @tmp bytes(16)
plan.frame @out act events(1) chunk(0)
plan.buffer @out.b in @out bytes(16)
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
plan.device threads(1)
plan.stream @C compute
plan.stream @X collective
plan.frame @tmp tmp events(4)
plan.buffer @tmp.a in @tmp bytes(16)
plan.program @h.c0.F forward chunk(0) {
  plan.kernel on @C @kernels::@k operands([#plan.use<write, <@tmp.a, [4], f32>>]) scalars([])
  plan.collective on @X @c0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@tmp.a, [4], f32>]) outputs([#plan.operand<@tmp.a, [4], f32>])
}
plan.table @h.table programs([@h.c0.F]) rows(<["0.0"]>)
// expected-error@+1 {{has accesses that nothing orders: instruction 1 of program 0 is not ordered after instruction 0 of program 0}}
plan.entry @h forward microbatches(1) chunks(1) prologue([unit]) table(@h.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])
