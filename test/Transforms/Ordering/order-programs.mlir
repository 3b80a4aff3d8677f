// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-order-programs | FileCheck %s

// Instructions name the buffers in which the slots lie, whatever these are
// called; what is in no slot lies in the call's own frame. Nothing orders the
// streams yet.

dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}]>, [0]>]
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
module @kernels {
  dist.kernel @k(read tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @add(read tensor<4xf32>, readwrite tensor<4xf32>) for "cpu" by @add_cpu
  func.func private @add_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @step(readwrite tensor<4xf32>, read tensor<4xf32>, read tensor<1xf32>) for "cpu" by @step_cpu
  func.func private @step_cpu(memref<4xf32>, memref<4xf32>, memref<1xf32>, index, index, memref<0xi8>)
}
plan.device threads(2)
plan.frame @state state
plan.buffer @state.w in @state bytes(16)
plan.frame @in input slots(2) slot(<mod(microbatch, 2)>)
plan.buffer @in.x in @in bytes(16)
plan.frame @act act slots(2) slot(<mod(microbatch, 2)>) chunk(0)
plan.buffer @act.a in @act bytes(16)
plan.frame @step step
plan.buffer @step.g in @step bytes(16)
plan.frame @hyper hyper
plan.buffer @hyper.lr in @hyper bytes(4)
plan.frame @scratch scratch
plan.buffer @scratch.all in @scratch bytes(256)
// CHECK: plan.device threads(2)
// CHECK-NEXT: plan.stream @C compute
// CHECK-NEXT: plan.stream @K copy
// CHECK-NOT: plan.slot
// CHECK: plan.program @train.prologue other {
// CHECK-NEXT: plan.copy on @K to(<@hyper.lr, [], f32>) host hyper name("lr")
// CHECK-NEXT: plan.fill on @C <@step.g, [4], f32>
// CHECK-NEXT: }
// CHECK-NEXT: plan.frame @train.c0.F.tmp tmp{{$}}
// CHECK-NEXT: plan.buffer @train.c0.F.tmp.0 in @train.c0.F.tmp bytes(16)
// CHECK-NEXT: plan.program @train.c0.F forward chunk(0) {
// CHECK-NEXT: plan.copy on @K to(<@in.x, [4], f32>) host input name("x")
// CHECK-NEXT: plan.kernel on @C @kernels::@k operands([#plan.use<read, <@in.x, [4], f32>>, #plan.use<read, <@state.w, [4], f32>>, #plan.use<write, <@train.c0.F.tmp.0, [4], f32>>]) scalars([]) scratch(<@scratch.all, [256], i8>)
// CHECK-NEXT: plan.kernel on @C @kernels::@k operands([#plan.use<read, <@train.c0.F.tmp.0, [4], f32>>, #plan.use<read, <@state.w, [4], f32>>, #plan.use<write, <@act.a, [4], f32>>]) scalars([])
// CHECK-NEXT: }
// CHECK-NEXT: plan.program @train.c0.B backward chunk(0) {
// CHECK-NEXT: plan.kernel on @C @kernels::@add operands([#plan.use<read, <@act.a, [4], f32>>, #plan.use<readwrite, <@step.g, [4], f32>>]) scalars([])
// CHECK-NEXT: }
// CHECK-NEXT: plan.program @train.u0 update {
// CHECK-NEXT: plan.kernel on @C @kernels::@step operands([#plan.use<readwrite, <@state.w, [4], f32>>, #plan.use<read, <@step.g, [4], f32>>, #plan.use<read, <@hyper.lr, [], f32>>]) scalars([])
// CHECK-NEXT: plan.copy on @K from(<@step.g, [4], f32>) host fetch name("grad.w")
// CHECK-NEXT: }
// CHECK-NEXT: plan.table @train.table programs([@train.c0.F, @train.c0.B]) rows(<["0.0", "0.1", "1.0", "0.2", "1.1", "1.2"]>)
// CHECK-NEXT: plan.entry @train train microbatches(3) chunks(1) prologue([@train.prologue]) table(@train.table) epilogue([@train.u0]) inputs([#plan.input<"x", tensor<4xf32>>]) hypers([@lr]) metrics([]) fetches([#plan.fetch<"grad.w", tensor<4xf32>>])
// CHECK-NOT: dist.timeline
func.func private @train.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>})
    -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) {
  %y = dist.launch @kernels::@k(%x, %w) {scratch = 100 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = dist.launch @kernels::@k(%y, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @train.c0.B(%a: tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %s = dist.launch @kernels::@add(%a, %g) {tied = [[0, 1]]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
func.func private @train.u0(%w: tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<4xf32> {dist.port = #dist.port<buffer @w.local>}) {
  %n = dist.launch @kernels::@step(%w, %g, %lr) {tied = [[0, 0]]} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}
plan.slot of @train port(#dist.port<input "x">) place(<@in.x, [4], f32>)
plan.slot of @train port(#dist.port<buffer @w.local>) place(<@state.w, [4], f32>)
plan.slot of @train port(#dist.port<act "a0", chunk = 0>) place(<@act.a, [4], f32>)
plan.slot of @train port(#dist.port<gradient @w>) place(<@step.g, [4], f32>) fetched
plan.slot of @train port(#dist.port<hyper @lr>) place(<@hyper.lr, [], f32>)
plan.slot of @train place(<@scratch.all, [256], i8>)
dist.timeline @train microbatches(3)
    programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["F0.0 F0.1 B0.0 F0.2 B0.1 B0.2 U"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.frame @in input
plan.buffer @in.x in @in bytes(16)
plan.frame @out act
plan.buffer @out.z in @out bytes(16)
plan.slot of @f port(#dist.port<input "x">) place(<@in.x, [4], f32>)
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{expected a plan.slot for slot #dist.port<output "z">, got none}}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.frame @in input
plan.buffer @in.x in @in bytes(16)
plan.frame @out act
plan.buffer @out.z in @out bytes(16)
plan.slot of @f port(#dist.port<input "x">) place(<@in.x, [4], f32>)
plan.slot of @f port(#dist.port<output "z">) place(<@out.z, [4], f32>)
// expected-error@+1 {{expected one place of slot #dist.port<input "x">}}
plan.slot of @f port(#dist.port<input "x">) place(<@in.x, [4], f32>)
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.frame @in input
plan.buffer @in.x in @in bytes(16)
plan.frame @out act
plan.buffer @out.z in @out bytes(16)
plan.slot of @f port(#dist.port<input "x">) place(<@in.x, [4], f32>)
// expected-error@+1 {{expected slot #dist.port<output "z"> as 'tensor<4xf32>', got 'tensor<2x2xf32>'}}
plan.slot of @f port(#dist.port<output "z">) place(<@out.z, [2, 2], f32>)
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.frame @in input
plan.buffer @in.x in @in bytes(16)
plan.frame @out act
plan.buffer @out.z in @out bytes(16)
plan.slot of @f port(#dist.port<input "x">) place(<@in.x, [4], f32>)
plan.slot of @f port(#dist.port<output "z">) place(<@out.z, [4], f32>)
// expected-error@+1 {{expected a slot of @f, got #dist.port<output "y">}}
plan.slot of @f port(#dist.port<output "y">) place(<@out.z, [4], f32>)
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.frame @in input
plan.buffer @in.x in @in bytes(16)
plan.frame @out act
plan.buffer @out.z in @out bytes(16)
plan.slot of @f port(#dist.port<input "x">) place(<@in.x, [4], f32>)
plan.slot of @f port(#dist.port<output "z">) place(<@out.z, [4], f32>)
plan.slot of @f place(<@out.z, [16], i8>)
// expected-error@+1 {{expected one place of scratch}}
plan.slot of @f place(<@out.z, [16], i8>)
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.frame @in input
plan.buffer @in.x in @in bytes(16)
plan.frame @out act
plan.buffer @out.z in @out bytes(16)
plan.slot of @f port(#dist.port<input "x">) place(<@in.x, [4], f32>)
plan.slot of @f port(#dist.port<output "z">) place(<@out.z, [4], f32>)
module @kernels {
  dist.kernel @k(read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_cpu
  func.func private @k_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  // expected-error@+1 {{expected a plan.slot for scratch of 100 bytes, got none}}
  %z = dist.launch @kernels::@k(%x) {scratch = 100 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
plan.frame @in input
plan.buffer @in.x in @in bytes(16)
// expected-error@+1 {{expected a slot of @f, got "any"}}
plan.slot of @f port("any") place(<@in.x, [4], f32>)
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)

// -----

dist.mesh @mesh = <"data"=1>
plan.device threads(1)
// expected-error@+1 {{expected a tensor of static shape, got 'tensor<?xf32>'}}
func.func private @f.c0.F(%x: tensor<?xf32> {dist.port = #dist.port<input "x">}) -> (tensor<?xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<?xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>]) transfers([]) table(<["F0.0"]>)
