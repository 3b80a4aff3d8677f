// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-add-waits | FileCheck %s

// What the copy stream writes is read after it. A slot is written again once
// the compute stream has left it, which its event 0 says.

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @C compute
plan.stream @K copy
// CHECK: plan.frame @in input slots(2) slot(<mod(microbatch, 2)>) events(2)
plan.frame @in input slots(2) slot(<mod(microbatch, 2)>)
plan.buffer @in.x in @in bytes(16)
// CHECK: plan.frame @step step{{$}}
plan.frame @step step
plan.buffer @step.a in @step bytes(16)
// CHECK-LABEL: plan.program @f.c0.F forward chunk(0) {
// CHECK-NEXT: plan.wait on @K @in event(0)
// CHECK-NEXT: plan.copy on @K to(<@in.x
// CHECK-NEXT: plan.signal on @K @in event(1)
// CHECK-NEXT: plan.wait on @C @in event(1)
// CHECK-NEXT: plan.copy on @C to(<@step.a
// CHECK-NEXT: plan.signal on @C @in event(0)
// CHECK-NEXT: }
plan.program @f.c0.F forward chunk(0) {
  plan.copy on @K to(<@in.x, [4], f32>) host input name("x")
  plan.copy on @C to(<@step.a, [4], f32>) from(<@in.x, [4], f32>)
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0", "0.1", "0.2"]>)
plan.entry @f forward microbatches(3) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([#plan.input<"x", tensor<4xf32>>]) hypers([]) metrics([]) fetches([])

// -----

// Prologue, table and epilogue are one walk: the epilogue waits for the
// prologue, and each entry has waits of its own.

dist.mesh @mesh = <"data"=1>
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
plan.device threads(1)
plan.stream @C compute
plan.stream @K copy
plan.frame @hyper hyper
plan.buffer @hyper.lr in @hyper bytes(4)
plan.frame @step step
plan.buffer @step.a in @step bytes(4)
// CHECK-LABEL: plan.program @before other {
// CHECK-NEXT: plan.copy on @K to(<@hyper.lr
// CHECK-NEXT: plan.signal on @K @hyper event(1)
// CHECK-NEXT: }
plan.program @before other {
  plan.copy on @K to(<@hyper.lr, [], f32>) host hyper name("lr")
}
// CHECK-LABEL: plan.program @f.c0.F forward chunk(0) {
// CHECK-NEXT: plan.fill
// CHECK-NEXT: }
plan.program @f.c0.F forward chunk(0) {
  plan.fill on @C <@step.a, [], f32>
}
// CHECK-LABEL: plan.program @after update {
// CHECK-NEXT: plan.wait on @C @hyper event(1)
// CHECK-NEXT: plan.copy on @C
// CHECK-NEXT: }
plan.program @after update {
  plan.copy on @C to(<@step.a, [], f32>) from(<@hyper.lr, [], f32>)
}
// CHECK-LABEL: plan.program @g.c0.F forward chunk(0) {
// CHECK-NEXT: plan.copy on @C
// CHECK-NEXT: plan.signal on @C @step event(1)
// CHECK-NEXT: plan.wait on @K @step event(1)
// CHECK-NEXT: plan.copy on @K
// CHECK-NEXT: }
plan.program @g.c0.F forward chunk(0) {
  plan.copy on @C to(<@step.a, [], f32>) from(<@hyper.lr, [], f32>)
  plan.copy on @K from(<@step.a, [], f32>) host metric name("a")
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0"]>)
plan.entry @f train microbatches(1) chunks(1) prologue([@before]) table(@f.table) epilogue([@after]) inputs([]) hypers([@lr]) metrics([]) fetches([])
plan.table @g.table programs([@g.c0.F]) rows(<["0.0"]>)
plan.entry @g evaluate microbatches(1) chunks(1) prologue([unit]) table(@g.table) epilogue([unit]) inputs([]) hypers([]) metrics([#plan.metric<"a", f32>]) fetches([])

// -----

// Another stream touches memory of the call alone: the compute stream opens it
// before and closes it afterwards.

dist.mesh @mesh = <"data"=2>
plan.device threads(1)
plan.stream @C compute
plan.stream @X collective
// CHECK: plan.frame @tmp tmp events(3)
plan.frame @tmp tmp
plan.buffer @tmp.a in @tmp bytes(16)
// CHECK-LABEL: plan.program @f.c0.F forward chunk(0) {
// CHECK-NEXT: plan.signal on @C @tmp event(1)
// CHECK-NEXT: plan.wait on @X @tmp event(1)
// CHECK-NEXT: plan.collective on @X
// CHECK-NEXT: plan.signal on @X @tmp event(2)
// CHECK-NEXT: plan.wait on @C @tmp event(2)
// CHECK-NEXT: }
plan.program @f.c0.F forward chunk(0) {
  plan.collective on @X @c0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@tmp.a, [4], f32>]) outputs([#plan.operand<@tmp.a, [4], f32>])
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0"]>)
plan.entry @f forward microbatches(1) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// What needs nothing of the call, such as the gather of a weight, begins where it
// stands: its memory may be that of what ended before.

dist.mesh @mesh = <"data"=2>
plan.device threads(1)
plan.stream @C compute
plan.stream @X collective
plan.frame @state state
plan.buffer @state.w in @state bytes(8)
plan.frame @tmp tmp
plan.buffer @tmp.a in @tmp bytes(16)
plan.buffer @tmp.w in @tmp bytes(16)
// CHECK-LABEL: plan.program @f.c0.F forward chunk(0) {
// CHECK-NEXT: plan.fill on @C <@tmp.a
// CHECK-NEXT: plan.signal on @C @tmp event(1)
// CHECK-NEXT: plan.wait on @X @tmp event(1)
// CHECK-NEXT: plan.collective on @X @c0
// CHECK-NEXT: plan.signal on @X @tmp event(2)
// CHECK-NEXT: plan.fill on @C <@tmp.a
// CHECK-NEXT: plan.wait on @C @tmp event(2)
// CHECK-NEXT: plan.copy on @C
plan.program @f.c0.F forward chunk(0) {
  plan.fill on @C <@tmp.a, [4], f32>
  plan.collective on @X @c0 all_gather axes(["data"]) inputs([#plan.operand<@state.w, [2], f32>]) outputs([#plan.operand<@tmp.w, [4], f32>])
  plan.fill on @C <@tmp.a, [4], f32>
  plan.copy on @C to(<@tmp.a, [4], f32>) from(<@tmp.w, [4], f32>)
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0"]>)
plan.entry @f forward microbatches(1) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// Waits are those of one entry.

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @C compute
plan.frame @step step
plan.buffer @step.a in @step bytes(16)
plan.program @both forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
}
plan.table @table programs([@both]) rows(<["0.0"]>)
plan.entry @f forward microbatches(1) chunks(1) prologue([unit]) table(@table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])
// expected-error@+1 {{expected programs of its own, got @both of @f}}
plan.entry @g forward microbatches(1) chunks(1) prologue([unit]) table(@table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// Waits are found once.

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @C compute
plan.frame @step step events(2)
plan.buffer @step.a in @step bytes(16)
plan.program @f.c0.F forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
  // expected-error@+1 {{expected no signals and waits before they are found}}
  plan.signal on @C @step event(1)
}
plan.table @table programs([@f.c0.F]) rows(<["0.0"]>)
plan.entry @f forward microbatches(1) chunks(1) prologue([unit]) table(@table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// Two streams leave a slot, the compute stream is none of them: it is free after
// the first, which waits for the other.

dist.mesh @mesh = <"data"=2>
plan.device threads(1)
plan.stream @C compute
plan.stream @K copy
plan.stream @X collective
// CHECK: plan.frame @out act events(3)
plan.frame @out act
plan.buffer @out.z in @out bytes(16)
plan.frame @step step
plan.buffer @step.a in @step bytes(16)
// CHECK-LABEL: plan.program @f.c0.F forward chunk(0) {
// CHECK-NEXT: plan.wait on @C @out event(0)
// CHECK-NEXT: plan.fill on @C
// CHECK-NEXT: plan.signal on @C @out event(1)
// CHECK-NEXT: plan.wait on @K @out event(1)
// CHECK-NEXT: plan.copy on @K
// CHECK-NEXT: plan.wait on @X @out event(1)
// CHECK-NEXT: plan.collective on @X
// CHECK-NEXT: plan.signal on @X @out event(2)
// CHECK-NEXT: plan.wait on @K @out event(2)
// CHECK-NEXT: plan.signal on @K @out event(0)
// CHECK-NEXT: }
plan.program @f.c0.F forward chunk(0) {
  plan.fill on @C <@out.z, [4], f32>
  plan.copy on @K from(<@out.z, [4], f32>) host fetch name("z")
  plan.collective on @X @c0 all_reduce reduction sum axes(["data"]) inputs([#plan.operand<@out.z, [4], f32>]) outputs([#plan.operand<@step.a, [4], f32>])
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0", "0.1", "0.2"]>)
plan.entry @f forward microbatches(3) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([#plan.fetch<"z", tensor<4xf32>, each_microbatch = true>])

// -----

// The second program of the second entry is that of the first.

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @C compute
plan.frame @step step
plan.buffer @step.a in @step bytes(16)
plan.program @one forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
}
plan.program @both update {
  plan.fill on @C <@step.a, [4], f32>
}
plan.program @other forward chunk(0) {
  plan.fill on @C <@step.a, [4], f32>
}
plan.table @f.table programs([@one]) rows(<["0.0"]>)
plan.table @g.table programs([@other]) rows(<["0.0"]>)
plan.entry @f train microbatches(1) chunks(1) prologue([unit]) table(@f.table) epilogue([@both]) inputs([]) hypers([]) metrics([]) fetches([])
// expected-error@+1 {{expected programs of its own, got @both of @f}}
plan.entry @g train microbatches(1) chunks(1) prologue([unit]) table(@g.table) epilogue([@both]) inputs([]) hypers([]) metrics([]) fetches([])
