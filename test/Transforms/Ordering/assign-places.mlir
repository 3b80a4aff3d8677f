// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-assign-places | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-assign-places --remarks-filter=places --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: Remark="stage 0: 384 bytes; state 128, tmp 256"

// Three buffers of one call, each read by the next kernel only: the third lies
// on the first. States and temporaries lie apart; the arena is their sum.
dist.mesh @mesh = <"data"=1>
// CHECK: plan.device threads(1) arenas([384])
plan.device threads(1)
plan.stream @C compute
// CHECK: plan.frame @state state offset([[STATE:[0-9]+]]) size(128)
plan.frame @state state
// CHECK: plan.frame @tmp tmp offset({{[0-9]+}}) size(256)
plan.frame @tmp tmp
// CHECK: plan.buffer @x in @state bytes(128) offset(0)
plan.buffer @x in @state bytes(128)
// CHECK: plan.buffer @a in @tmp bytes(128) offset([[A:[0-9]+]])
plan.buffer @a in @tmp bytes(128)
// CHECK: plan.buffer @b in @tmp bytes(128) offset({{[0-9]+}})
plan.buffer @b in @tmp bytes(128)
// CHECK: plan.buffer @c in @tmp bytes(128) offset([[A]])
plan.buffer @c in @tmp bytes(128)
plan.program @f.c0.F forward chunk(0) {
  plan.copy on @C to(<@a, [32], f32>) from(<@x, [32], f32>)
  plan.copy on @C to(<@b, [32], f32>) from(<@a, [32], f32>)
  plan.copy on @C to(<@c, [32], f32>) from(<@b, [32], f32>)
  plan.copy on @C to(<@x, [32], f32>) from(<@c, [32], f32>)
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0"]>)
plan.entry @f forward microbatches(1) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// Entries never run at the same time: their temporaries share the arena.
dist.mesh @mesh = <"data"=1>
// CHECK: plan.device threads(1) arenas([192])
plan.device threads(1)
plan.stream @C compute
// CHECK: plan.frame @tmp0 tmp offset([[T:[0-9]+]]) size(64)
plan.frame @tmp0 tmp
// CHECK: plan.frame @tmp1 tmp offset([[T]]) size(128)
plan.frame @tmp1 tmp
// CHECK: plan.frame @state state
plan.frame @state state
plan.buffer @a in @tmp0 bytes(64)
plan.buffer @b in @tmp1 bytes(128)
plan.buffer @x in @state bytes(64)
plan.program @f.c0.F forward chunk(0) {
  plan.fill on @C <@a, [16], f32> pattern(0)
  plan.copy on @C to(<@x, [16], f32>) from(<@a, [16], f32>)
}
plan.program @g.c0.F forward chunk(0) {
  plan.fill on @C <@b, [32], f32> pattern(0)
  plan.copy on @C to(<@x, [16], f32>) from(<@b, [16], f32>)
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0"]>)
plan.table @g.table programs([@g.c0.F]) rows(<["0.0"]>)
plan.entry @f forward microbatches(1) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])
plan.entry @g forward microbatches(1) chunks(1) prologue([unit]) table(@g.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])

// -----

// Without frames nothing needs a place, nor a device.
dist.mesh @mesh = <"data"=1>
plan.stream @C compute

// -----

// Two programs have the frame: its buffers lie side by side, whatever lives in
// one of them. What has no bytes has a place all the same, and no remark.
// REMARK-NOT: Remark="none:
// REMARK: Remark="stage 0: 128 bytes; tmp 128"
dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.stream @C compute
// CHECK: plan.frame @tmp0 tmp offset(0) size(128)
plan.frame @tmp0 tmp
// CHECK: plan.frame @none tmp offset(0) size(0)
plan.frame @none tmp
// CHECK: plan.buffer @a in @tmp0 bytes(64) offset(0)
plan.buffer @a in @tmp0 bytes(64)
// CHECK: plan.buffer @b in @tmp0 bytes(64) offset(64)
plan.buffer @b in @tmp0 bytes(64)
plan.buffer @e in @none bytes(0)
plan.program @f.c0.F forward chunk(0) {
  plan.fill on @C <@a, [16], f32>
  plan.fill on @C <@b, [16], f32>
  plan.fill on @C <@e, [0], f32>
}
plan.program @f.c0.B backward chunk(0) {
  plan.fill on @C <@a, [16], f32>
}
plan.table @f.table programs([@f.c0.F, @f.c0.B]) rows(<["0.0", "1.0"]>)
plan.entry @f train microbatches(1) chunks(1) prologue([unit]) table(@f.table) epilogue([unit]) inputs([]) hypers([]) metrics([]) fetches([])
