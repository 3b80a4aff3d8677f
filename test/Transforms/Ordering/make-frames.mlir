// RUN: llmc-opt %s --split-input-file --llmc-make-frames="threads=2 seed=7 fetch=grad.w" | FileCheck %s

// A state lies in a frame of its own, and each slot of the programs in the frame
// of its kind: two microbatches are in flight, so `act` has two slots; data has
// one more than the microbatch that is computed. The timeline stays.

// CHECK-LABEL: dist.mesh @mesh = <"data"=1>
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
// CHECK: plan.device threads(2) seed(7)
// CHECK-NEXT: plan.frame @state state{{$}}
// CHECK-NEXT: plan.buffer @state.w.local in @state bytes(16)
// CHECK-NEXT: plan.part of @w origin([0]) shape([4]) layout({{.*}}) place(<@state.w.local, [4], f32>)
// CHECK-NEXT: plan.frame @train.input0 input slots(2) slot(<mod(microbatch, 2)>)
// CHECK-NEXT: plan.buffer @train.input0.x in @train.input0 bytes(16)
// CHECK-NEXT: plan.frame @train.act0 act slots(2) slot(<mod(microbatch, 2)>) chunk(0)
// CHECK-NEXT: plan.buffer @train.act0.a0 in @train.act0 bytes(16)
// CHECK-NEXT: plan.frame @train.step step{{$}}
// CHECK-NEXT: plan.buffer @train.step.grad.w in @train.step bytes(16)
// CHECK-NEXT: plan.frame @train.hyper hyper{{$}}
// CHECK-NEXT: plan.buffer @train.hyper.lr in @train.hyper bytes(4)
// Scratch of 100 bytes, rounded up, for each of two threads.
// CHECK-NEXT: plan.frame @train.scratch scratch{{$}}
// CHECK-NEXT: plan.buffer @train.scratch.all in @train.scratch bytes(256)
// CHECK-NEXT: plan.slot of @train port(#dist.port<input "x">) place(<@train.input0.x, [4], f32>)
// CHECK-NEXT: plan.slot of @train port(#dist.port<buffer @w.local>) place(<@state.w.local, [4], f32>)
// CHECK-NEXT: plan.slot of @train port(#dist.port<act "a0", chunk = 0>) place(<@train.act0.a0, [4], f32>)
// CHECK-NEXT: plan.slot of @train port(#dist.port<gradient @w>) place(<@train.step.grad.w, [4], f32>) fetched
// CHECK-NEXT: plan.slot of @train port(#dist.port<hyper @lr>) place(<@train.hyper.lr, [], f32>)
// CHECK-NEXT: plan.slot of @train place(<@train.scratch.all, [256], i8>)
// CHECK-NEXT: dist.timeline @train
dist.timeline @train microbatches(3)
    programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["F0.0 F0.1 B0.0 F0.2 B0.1 B0.2 U"]>)

// -----

// What is fetched is the sum that the update has reduced: it returns that in a
// slot of its own.

dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<4xf32> {role = parameter}
module @kernels {
  dist.kernel @fill(write tensor<4xf32>) for "cpu" by @fill_cpu
  func.func private @fill_cpu(memref<4xf32>, index, index, memref<0xi8>)
}
func.func private @train.c0.B() -> (tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %g = dist.launch @kernels::@fill() : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}
// CHECK: func.func private @train.u0({{.*}}) -> (tensor<4xf32> {dist.port = #dist.port<metric "m">}, tensor<4xf32> {dist.port = #dist.port<gradient @w, reduced, layout = {{.*}}>})
// CHECK-NEXT: %[[SUM:.*]] = dist.all_reduce
// CHECK-NEXT: return %[[SUM]], %[[SUM]]
func.func private @train.u0(%g: tensor<4xf32> {dist.port = #dist.port<gradient @w, layout = <@mesh, [{}], partial = [sum{"data"}]>>})
    -> (tensor<4xf32> {dist.port = #dist.port<metric "m">}) {
  %s = dist.all_reduce %g over ["data"] sum : tensor<4xf32>
  return %s : tensor<4xf32>
}
// CHECK: plan.slot of @train port(#dist.port<gradient @w>) place(<@train.step.grad.w, [4], f32>){{$}}
// CHECK: plan.slot of @train port(#dist.port<gradient @w, reduced>) place(<@train.step.fetched.grad.w, [4], f32>) fetched
dist.timeline @train microbatches(1)
    programs([#dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>])
    transfers([]) table(<["B0.0 U"]>)

// -----

// A frame is there on the stages whose programs use it; what is sent and what is
// received lie in frames of their own.

// CHECK-LABEL: dist.mesh @mesh = <"pipe"=2>
// CHECK: plan.frame @f.input0.s0 input stages([0])
// CHECK: plan.frame @f.bnd.t0.out.s0 bnd stages([0])
// CHECK-NEXT: plan.buffer @f.bnd.t0.out.s0.value in @f.bnd.t0.out.s0 bytes(16)
// CHECK: plan.frame @f.bnd.t0.in.s1 bnd stages([1])
// CHECK: plan.frame @f.output1.s1 act stages([1])
// CHECK: plan.slot of @f port(#dist.port<send @t0>) place(<@f.bnd.t0.out.s0.value, [4], f32>)
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @f.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<send @t0>}) {
  return %x : tensor<4xf32>
}
func.func private @f.c1.F(%x: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  return %x : tensor<4xf32>
}
dist.timeline @f microbatches(1) programs([#dist.program<@f.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@f.c1.F, chunk = 1, phase = forward, at = [1]>]) transfers([#dist.route<@t0: @f.c0.F -> @f.c1.F>]) table(<["F0.0 .", ". F1.0"]>)
